#include "core/config/setting.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace halogen {
namespace {

std::string range_text(const Setting& setting, std::string (*format)(double)) {
  const bool open_end = setting.most == std::numeric_limits<double>::max();
  const std::string least = format(setting.least);
  if (setting.above_least) {
    return open_end ? " above " + least : " above " + least + ", at most " + format(setting.most);
  }
  return open_end ? " of at least " + least : " from " + least + " to " + format(setting.most);
}

std::string whole_text(double value) {
  return std::to_string(static_cast<std::int64_t>(value));
}
std::string number_text(double value) {
  return format_raw(value);
}
std::string size_text(double value) {
  return format_size(ByteSize::bytes(static_cast<std::uint64_t>(value)));
}
std::string duration_text(double value) {
  return format_duration(std::chrono::milliseconds(static_cast<std::int64_t>(value)));
}

std::string words(const std::vector<Choice>& choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size(); i++) {
    if (i > 0) text += i + 1 == choices.size() ? " or " : ", ";
    text += choices[i].word;
  }
  return text;
}

Error expected(const Setting& setting, std::string_view shown) {
  return fail(HALOGEN_E_INVALID, std::string(shown) + ": expected " + expectation(setting));
}

Error unavailable(std::string_view shown, std::string_view feature) {
  return fail(HALOGEN_E_UNSUPPORTED, std::string(shown) +
                                         " is not available in this version (it comes with " +
                                         std::string(feature) + ")");
}

// The last gate of both ways in: the range, and whether the feature exists yet. `shown` is the
// value as the operator wrote it.
Result<Value> accept(const Setting& setting, std::string_view shown, Value value) {
  bool inside = true;
  const auto check = [&](double amount) {
    inside = amount >= setting.least && amount <= setting.most &&
             !(setting.above_least && amount == setting.least);
  };
  if (const auto* whole = std::get_if<std::int64_t>(&value);
      whole != nullptr && setting.type() == Type::integer) {
    check(static_cast<double>(*whole));
    if (setting.power_of_two && (*whole & (*whole - 1)) != 0) inside = false;
  } else if (const auto* number = std::get_if<double>(&value)) {
    check(*number);  // a NaN fails every comparison
  } else if (const auto* size = std::get_if<ByteSize>(&value)) {
    if (size->is_share())
      inside = setting.accepts_share && size->amount() > 0;
    else
      check(static_cast<double>(size->amount()));
  } else if (const auto* duration = std::get_if<std::chrono::milliseconds>(&value)) {
    check(static_cast<double>(duration->count()));
  } else if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    inside =
        std::none_of(list->begin(), list->end(), [](const auto& item) { return item.empty(); });
  }
  if (!inside) return expected(setting, shown);
  if (!setting.comes_with.empty() && value != default_value(setting))
    return unavailable(shown, setting.comes_with);
  return value;
}

Result<Value> choose(const Setting& setting, std::string_view shown, std::string_view word) {
  for (const Choice& choice : setting.choices) {
    if (choice.word != word) continue;
    if (!choice.comes_with.empty()) return unavailable(shown, choice.comes_with);
    return accept(setting, shown, choice.value);
  }
  return expected(setting, shown);
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "on" || text == "true" || text == "1" || text == "yes") return true;
  if (text == "off" || text == "false" || text == "0" || text == "no") return false;
  return std::nullopt;
}

template <typename T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Sizes and durations carry a reason of their own: "\"12Q\" ends in \"Q\", which …".
template <typename T>
Result<Value> parsed(const Setting& setting, std::string_view shown, Result<T> result) {
  if (!result) {
    return fail(HALOGEN_E_INVALID, std::string(shown) + ": expected " + expectation(setting) +
                                       "; " + result.error().message);
  }
  return accept(setting, shown, *result);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) items.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return items;
}

// `shown` is how the error message quotes the value: bare for a flag, as TOML for a file.
Result<Value> from_text(const Setting& setting, std::string_view shown, std::string_view text) {
  if (setting.accepts_auto && text == "auto") return default_value(setting);
  switch (setting.type()) {
    case Type::boolean:
      if (const auto flag = parse_boolean(text)) return accept(setting, shown, *flag);
      return expected(setting, shown);
    case Type::integer:
      if (const auto whole = parse_whole<std::int64_t>(text)) return accept(setting, shown, *whole);
      return expected(setting, shown);
    case Type::number:
      if (const auto number = parse_whole<double>(text)) return accept(setting, shown, *number);
      return expected(setting, shown);
    case Type::text:
      return accept(setting, shown, std::string(text));
    case Type::size:
      return parsed(setting, shown, parse_size(text));
    case Type::duration:
      return parsed(setting, shown, parse_duration(text));
    case Type::choice:
      return choose(setting, shown, text);
    case Type::list:
      return accept(setting, shown, std::vector<std::string>{std::string(text)});
  }
  return expected(setting, shown);
}

std::string_view shown_text(const Setting& setting, std::string_view text) {
  return setting.secret ? "(hidden)" : text;
}

}  // namespace

std::string expectation(const Setting& setting) {
  std::string text;
  switch (setting.type()) {
    case Type::boolean:
      text = "on or off (true or false)";
      break;
    case Type::integer:
      text = setting.power_of_two ? "a power of two" : "a whole number";
      text += range_text(setting, whole_text);
      break;
    case Type::number:
      text = "a number" + range_text(setting, number_text);
      break;
    case Type::text:
      text = "text";
      break;
    case Type::size:
      text = setting.accepts_share ? "a percentage up to 100%, or a size" : "a size";
      text += range_text(setting, size_text);
      break;
    case Type::duration:
      text = "a duration" + range_text(setting, duration_text);
      break;
    case Type::choice:
      text = words(setting.choices);
      break;
    case Type::list:
      text = "a list of texts, none empty";
      break;
  }
  return setting.accepts_auto ? text + ", or auto" : text;
}

Result<Value> value_from_text(const Setting& setting, std::string_view text) {
  return from_text(setting, shown_text(setting, text), text);
}

Result<Value> value_from_toml(const Setting& setting, const RawValue& raw) {
  const std::string shown = setting.secret ? "(hidden)" : format_raw(raw);
  const Type type = setting.type();
  if (const auto* text = std::get_if<std::string>(&raw)) {
    const bool is_auto = setting.accepts_auto && *text == "auto";
    const bool is_text = type == Type::text || type == Type::size || type == Type::duration ||
                         type == Type::choice || type == Type::list;
    if (is_auto || is_text) return from_text(setting, shown, *text);
  } else if (const auto* flag = std::get_if<bool>(&raw)) {
    if (type == Type::boolean) return accept(setting, shown, *flag);
    if (type == Type::choice) return choose(setting, shown, *flag ? "on" : "off");
  } else if (const auto* whole = std::get_if<std::int64_t>(&raw)) {
    if (type == Type::number) return accept(setting, shown, static_cast<double>(*whole));
    if (type != Type::text && type != Type::boolean && type != Type::list)
      return from_text(setting, shown, std::to_string(*whole));
  } else if (const auto* number = std::get_if<double>(&raw)) {
    if (type == Type::number) return accept(setting, shown, *number);
  } else if (const auto* list = std::get_if<std::vector<std::string>>(&raw)) {
    if (type == Type::list) return accept(setting, shown, *list);
  }
  return expected(setting, shown);
}

std::string format_text(const Setting& setting, const Value& value) {
  if (setting.accepts_auto && setting.type() == Type::integer && value == default_value(setting))
    return "auto";
  switch (setting.type()) {
    case Type::boolean:
      return std::get<bool>(value) ? "on" : "off";
    case Type::integer:
      return std::to_string(std::get<std::int64_t>(value));
    case Type::number:
      return format_raw(std::get<double>(value));
    case Type::text:
      return std::get<std::string>(value);
    case Type::size:
      return format_size(std::get<ByteSize>(value));
    case Type::duration:
      return format_duration(std::get<std::chrono::milliseconds>(value));
    case Type::choice:
      for (const Choice& choice : setting.choices)
        if (choice.value == std::get<std::int64_t>(value)) return std::string(choice.word);
      return "";
    case Type::list: {
      std::string text;
      for (const std::string& item : std::get<std::vector<std::string>>(value))
        text += (text.empty() ? "" : ", ") + item;
      return text;
    }
  }
  return "";
}

std::string format_toml(const Setting& setting, const Value& value) {
  if (setting.type() == Type::boolean) return format_raw(std::get<bool>(value));
  if (setting.type() == Type::list) return format_raw(std::get<std::vector<std::string>>(value));
  const std::string text = format_text(setting, value);
  const bool is_number = setting.type() == Type::integer || setting.type() == Type::number;
  return is_number && text != "auto" ? text : quote_toml(text);
}

Result<Value> value_from_environment(const Setting& setting, std::string_view text) {
  const std::string_view shown = shown_text(setting, text);
  if (setting.type() == Type::list) return accept(setting, shown, split(text, ':'));
  return from_text(setting, shown, text);
}

Value default_value(const Setting& setting) {
  static const Profile untouched;
  return setting.member.get(untouched);
}

}  // namespace halogen
