#include "core/api/json.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "core/text/utf8.h"

namespace halogen::api {
namespace {

constexpr size_t kDeepest = 64;
constexpr size_t kMostKeys = 65'536;  // of one object; a logit_bias of a large vocabulary has fewer

// The library's sentence without its number: "[json.exception.parse_error.101] parse error at line
// 1, …".
std::string without_number(const std::string& message) {
  const size_t end = message.find("] ");
  return end == std::string::npos ? message : message.substr(end + 2);
}

// Builds the value from the library's events. Its own builder looks through the whole object for
// every key, which for the keys that fit a body would keep the loop busy for hours; and it nests as
// deep as the text does.
class Builder final : public Json::json_sax_t {
 public:
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& /*text*/) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) override { return refuse("the request has binary data"); }

  bool start_object(size_t /*size*/) override { return open(Json::object()); }
  bool key(std::string& name) override {
    key_ = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(size_t /*size*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool parse_error(size_t /*position*/, const std::string& /*token*/,
                   const Json::exception& error) override {
    return refuse("the request's body is not JSON: " + without_number(error.what()));
  }

  Json take() { return std::move(root_); }
  const std::string& problem() const { return problem_; }

 private:
  // An object or array whose end has not come. What is in it stays where it is until then.
  struct Open {
    Json* value;
    std::unordered_map<std::string, size_t> places;  // of an object's keys
  };

  bool refuse(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  bool add(Json value) { return place(std::move(value)) != nullptr; }

  bool open(Json container) {
    if (open_.size() == kDeepest) {
      return refuse("the request's JSON is nested more than " + std::to_string(kDeepest) + " deep");
    }
    Json* placed = place(std::move(container));
    if (placed != nullptr) open_.push_back({placed, {}});
    return placed != nullptr;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  // Puts the value where it belongs; null, with the problem kept, where it has no room.
  Json* place(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    Open& around = open_.back();
    if (around.value->is_array()) {
      around.value->push_back(std::move(value));
      return &around.value->back();
    }
    auto& object = around.value->get_ref<Json::object_t&>();
    const auto [at, added] = around.places.emplace(key_, object.size());
    if (!added) {  // the last of a name counts
      Json& earlier = (object.begin() + static_cast<ptrdiff_t>(at->second))->second;
      return &(earlier = std::move(value));
    }
    if (object.size() == kMostKeys) {
      refuse("an object of the request has more than " + std::to_string(kMostKeys) + " keys");
      return nullptr;
    }
    object.emplace_back(key_, std::move(value));
    return &object.back().second;
  }

  Json root_;
  std::vector<Open> open_;
  std::string key_;  // of the value that comes next
  std::string problem_;
};

}  // namespace

Result<Json> parse_json(std::string_view text) {
  Builder builder;
  if (!Json::sax_parse(text, &builder)) return fail(HALOGEN_E_INVALID, builder.problem());
  return builder.take();
}

std::string shown_text(std::string_view text) {
  constexpr size_t kMost = 100;
  if (text.size() <= kMost) return std::string(text);
  const std::string_view start = text.substr(0, kMost);
  return std::string(start.substr(0, text::complete_prefix(start))) + "…";
}

std::string shown(const Json& json) {
  return shown_text(to_text(json));
}

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace halogen::api
