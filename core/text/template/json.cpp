// Conversion between nlohmann's JSON and template values, and Python's json.dumps.
#include "core/text/template/json.h"

#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "core/text/template/format.h"
#include "core/text/template/operators.h"
#include "core/text/template/unicode.h"

namespace halogen::jinja {

namespace {

class JsonWriter {
 public:
  JsonWriter(Heap& heap, const JsonStyle& style)
      : heap_(heap), style_(style), out_(heap.budget()) {}

  void write(const Value& value);
  std::string take() { return out_.take(); }

 private:
  void write_list(const std::vector<Value>& items);
  void write_dict(const DictObject& dict);
  void write_string(std::string_view text);
  void write_escape(char32_t c);
  std::string key_text(const Value& key);

  void open(char bracket) {
    out_.append(1, bracket);
    ++level_;
  }
  void separate(bool first) {
    if (!first) out_.append(style_.item_separator);
    break_line();
  }
  void close(char bracket) {
    --level_;
    break_line();
    out_.append(1, bracket);
  }
  void break_line() {
    if (!style_.indent) return;
    out_.append("\n");
    for (int i = 0; i < level_; ++i) out_.append(*style_.indent);
  }

  Heap& heap_;
  const JsonStyle& style_;
  TextBuilder out_;
  int level_ = 0;
};

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return real_text(value);
}

void JsonWriter::write_escape(char32_t c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (c >= 0x10000) {
    write_escape(0xD800 + ((c - 0x10000) >> 10));
    write_escape(0xDC00 + ((c - 0x10000) & 0x3FF));
    return;
  }
  out_.append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) out_.append(1, kDigits[(c >> shift) & 0xF]);
}

void JsonWriter::write_string(std::string_view text) {
  out_.append("\"");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = code_point_size(text, at);
    const char32_t c = code_point(text, at);
    constexpr std::string_view kSpecial = "\"\\\n\r\t\f\b";
    constexpr std::string_view kNames = "\"\\nrtfb";
    const std::size_t special =
        c < 0x80 ? kSpecial.find(static_cast<char>(c)) : std::string_view::npos;
    if (special != std::string_view::npos) {
      out_.append("\\").append(1, kNames[special]);
    } else if (c < 0x20 || (style_.ascii && c > 0x7F)) {
      write_escape(c);
    } else {
      out_.append(text.substr(at, size));
    }
    at += size;
  }
  out_.append("\"");
}

std::string JsonWriter::key_text(const Value& key) {
  switch (key.kind()) {
    case Kind::string:
      return std::string(key.as_text());
    case Kind::none:
      return "null";
    case Kind::boolean:
      return key.as_integer() != 0 ? "true" : "false";
    case Kind::integer:
      return std::to_string(key.as_integer());
    case Kind::real:
      return number_text(key.as_real());
    default:
      raise("a JSON object's key cannot be of type '" + std::string(key.type_name()) + "'");
  }
}

void JsonWriter::write_list(const std::vector<Value>& items) {
  if (items.empty()) {
    out_.append("[]");
    return;
  }
  open('[');
  for (std::size_t i = 0; i < items.size(); ++i) {
    separate(i == 0);
    write(items[i]);
  }
  close(']');
}

void JsonWriter::write_dict(const DictObject& dict) {
  if (dict.entries.empty()) {
    out_.append("{}");
    return;
  }
  std::vector<const DictObject::Entry*> entries;
  for (const auto& entry : dict.entries) entries.push_back(&entry);
  if (style_.sort_keys) {
    const auto before = [this](const auto* a, const auto* b) {
      return compare(heap_, ComparisonOperator::less, a->key, b->key);
    };
    const std::multiset<const DictObject::Entry*, decltype(before)> sorted(entries.begin(),
                                                                           entries.end(), before);
    entries.assign(sorted.begin(), sorted.end());
  }
  open('{');
  for (std::size_t i = 0; i < entries.size(); ++i) {
    separate(i == 0);
    write_string(key_text(entries[i]->key));
    out_.append(style_.key_separator);
    write(entries[i]->value);
  }
  close('}');
}

void JsonWriter::write(const Value& value) {
  const DepthGuard guard(heap_.budget());
  heap_.budget().step();
  switch (value.kind()) {
    case Kind::none:
      out_.append("null");
      break;
    case Kind::boolean:
      out_.append(value.as_integer() != 0 ? "true" : "false");
      break;
    case Kind::integer:
      out_.append(std::to_string(value.as_integer()));
      break;
    case Kind::real:
      out_.append(number_text(value.as_real()));
      break;
    case Kind::string:
      write_string(value.as_text());
      break;
    case Kind::list:
    case Kind::tuple:
      write_list(value.as_sequence().items);
      break;
    case Kind::dict:
      write_dict(value.as_dict());
      break;
    default:
      raise("a value of type '" + std::string(value.type_name()) + "' cannot be written as JSON");
  }
}

}  // namespace

Value from_json(Heap& heap, const nlohmann::ordered_json& json) {
  const DepthGuard guard(heap.budget());
  switch (json.type()) {
    case nlohmann::ordered_json::value_t::boolean:
      return Value::boolean(json.get<bool>());
    case nlohmann::ordered_json::value_t::number_integer:
      return Value::integer(json.get<std::int64_t>());
    case nlohmann::ordered_json::value_t::number_unsigned: {
      const auto number = json.get<std::uint64_t>();
      return number > INT64_MAX ? Value::real(static_cast<double>(number))
                                : Value::integer(static_cast<std::int64_t>(number));
    }
    case nlohmann::ordered_json::value_t::number_float:
      return Value::real(json.get<double>());
    case nlohmann::ordered_json::value_t::string:
      return heap.string(json.get_ref<const std::string&>());
    case nlohmann::ordered_json::value_t::array: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const auto& item : json) items.push_back(from_json(heap, item));
      return heap.list(std::move(items));
    }
    case nlohmann::ordered_json::value_t::object: {
      auto* dict = heap.make<DictObject>();
      heap.budget().allocate(json.size() * sizeof(DictObject::Entry));
      for (const auto& [key, value] : json.items()) {
        dict->set(heap.string(key), from_json(heap, value));
      }
      return heap.dict(dict);
    }
    default:
      return Value::none();
  }
}

std::string to_json(Heap& heap, const Value& value, const JsonStyle& style) {
  JsonWriter writer(heap, style);
  writer.write(value);
  return writer.take();
}

}  // namespace halogen::jinja
