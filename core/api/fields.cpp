#include "core/api/fields.h"

#include <cmath>

namespace halogen::api {
namespace {

// Numbers as a person would write them: 2 and not 2.000000.
std::string show(double value) {
  const Json json = std::floor(value) == value && std::abs(value) < 1e15
                        ? Json(static_cast<int64_t>(value))
                        : Json(value);
  return json.dump();
}

std::string describe(const NumberRange& range) {
  return range.above_least ? "above " + show(range.least) + " and at most " + show(range.most)
                           : "between " + show(range.least) + " and " + show(range.most);
}

}  // namespace

std::string type_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::object:
      return "an object";
    default:
      return "a number";
  }
}

const Json* Fields::find(const char* name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void Fields::refuse(const std::string& param, const std::string& message, const char* code) {
  if (!error_) error_ = ApiError{400, message, param, code};
}

void Fields::wrong_type(const char* name, const char* wanted) {
  refuse(name, std::string("'") + name + "' must be " + wanted + ", not " + type_of(*find(name)),
         "invalid_type");
}

void Fields::boolean(const char* name, bool& target) {
  const Json* field = find(name);
  if (!field) return;
  if (!field->is_boolean()) return wrong_type(name, "a boolean");
  target = field->get<bool>();
}

void Fields::integer(const char* name, int64_t minimum, int64_t maximum, int64_t& target) {
  const Json* field = find(name);
  if (!field) return;
  const auto out_of_range = [&] {
    refuse(name, std::string("'") + name + "' is " + shown(*field) + "; it must be between " +
                     std::to_string(minimum) + " and " + std::to_string(maximum));
  };
  if (field->is_number_integer()) {
    if (field->is_number_unsigned() && field->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
      return out_of_range();
    const auto value = field->get<int64_t>();
    if (value < minimum || value > maximum) return out_of_range();
    target = value;
    return;
  }
  // Clients in languages with one kind of number may send 5.0 for 5.
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const double value = field->is_number() ? field->get<double>() : std::nan("");
  if (std::floor(value) != value) return wrong_type(name, "an integer");
  if (!(std::abs(value) <= kExact) || value < static_cast<double>(minimum) ||
      value > static_cast<double>(maximum)) {
    return out_of_range();
  }
  target = static_cast<int64_t>(value);
}

void Fields::number(const char* name, const NumberRange& range, double& target) {
  const Json* field = find(name);
  if (!field) return;
  if (!field->is_number()) return wrong_type(name, "a number");
  const auto value = field->get<double>();
  if (!(value >= range.least && value <= range.most) ||
      (range.above_least && value == range.least)) {
    return refuse(name, std::string("'") + name + "' is " + shown(*field) + "; it must be " +
                            describe(range));
  }
  target = value;
}

void Fields::text(const char* name, std::string& target) {
  const Json* field = find(name);
  if (!field) return;
  if (!field->is_string()) return wrong_type(name, "a string");
  target = field->get<std::string>();
}

void Fields::token_ids(const std::string& param, const Json& list, uint32_t vocabulary_size,
                       std::vector<int32_t>& target) {
  if (!list.is_array()) {
    return refuse(param, "'" + param + "' must be a list of token ids, not " + type_of(list),
                  "invalid_type");
  }
  for (size_t i = 0; i < list.size(); i++) {
    const Json& id = list[i];
    if (!id.is_number_integer() || id < 0 || id >= vocabulary_size) {
      const std::string at = param + "[" + std::to_string(i) + "]";
      return refuse(at, "'" + at + "' is " + shown(id) + "; token ids are integers below " +
                            std::to_string(vocabulary_size));
    }
    target.push_back(id.get<int32_t>());
  }
}

void Fields::unsupported(const char* name, const Json& harmless, const char* why) {
  const Json* field = find(name);
  if (!field || *field == harmless) return;
  refuse(name, std::string("'") + name + "' is not supported: " + why, "unsupported_parameter");
}

}  // namespace halogen::api
