#include "core/host/config_view.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "core/base/nearest.h"

namespace halogen {
namespace {

using Value = std::variant<bool, int64_t, double, std::string>;

struct Setting {
  Value value;
  std::string where;
};

const char* type_text(halogen_config_type type) {
  switch (type) {
    case HALOGEN_CONFIG_BOOL:
      return "true or false";
    case HALOGEN_CONFIG_INT:
      return "a whole number";
    case HALOGEN_CONFIG_FLOAT:
      return "a number";
    case HALOGEN_CONFIG_STRING:
      return "a string";
    case HALOGEN_CONFIG_SIZE:
      break;
  }
  return "a size such as \"64M\" or a number of bytes";
}

std::string number_text(double value) {
  char text[40];
  if (value == std::floor(value) && std::fabs(value) < 1e15)
    return std::to_string(static_cast<int64_t>(value));
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::string value_text(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return number_text(*real);
  return '"' + std::get<std::string>(value) + '"';
}

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "64M" to bytes.
std::optional<int64_t> parse_bytes(std::string_view text) {
  int shift = 0;
  constexpr std::string_view units = "KMGT";
  if (!text.empty())
    if (const size_t unit = units.find(text.back()); unit != std::string_view::npos) {
      shift = 10 * static_cast<int>(unit + 1);
      text.remove_suffix(1);
    }
  const auto count = parse_number<int64_t>(text);
  if (!count || *count < 0 || *count > (std::numeric_limits<int64_t>::max() >> shift))
    return std::nullopt;
  return *count << shift;
}

// The value as the key's type has it, or nothing where it has another type.
std::optional<Value> converted(const Value& value, halogen_config_type type) {
  const auto* whole = std::get_if<int64_t>(&value);
  const auto* text = std::get_if<std::string>(&value);
  switch (type) {
    case HALOGEN_CONFIG_BOOL:
      if (std::holds_alternative<bool>(value)) return value;
      break;
    case HALOGEN_CONFIG_INT:
      if (whole) return value;
      break;
    case HALOGEN_CONFIG_FLOAT:
      if (whole) return Value(static_cast<double>(*whole));
      if (std::holds_alternative<double>(value)) return value;
      break;
    case HALOGEN_CONFIG_STRING:
      if (text) return value;
      break;
    case HALOGEN_CONFIG_SIZE:
      if (whole && *whole >= 0) return value;
      if (text)
        if (const auto bytes = parse_bytes(*text)) return Value(*bytes);
      break;
  }
  return std::nullopt;
}

// A default, which the plugin writes as it would stand in a profile.
std::optional<Value> parse_default(const char* text, halogen_config_type type) {
  if (!text) {
    if (type == HALOGEN_CONFIG_STRING) return Value(std::string());
    return std::nullopt;
  }
  const std::string_view word = text;
  switch (type) {
    case HALOGEN_CONFIG_BOOL:
      if (word == "true" || word == "false") return Value(word == "true");
      break;
    case HALOGEN_CONFIG_INT:
      if (const auto whole = parse_number<int64_t>(word)) return Value(*whole);
      break;
    case HALOGEN_CONFIG_FLOAT:
      if (const auto real = parse_number<double>(word)) return Value(*real);
      break;
    case HALOGEN_CONFIG_STRING:
      return Value(std::string(word));
    case HALOGEN_CONFIG_SIZE:
      if (const auto bytes = parse_bytes(word)) return Value(*bytes);
      break;
  }
  return std::nullopt;
}

std::vector<std::string> choices_of(const halogen_config_key& key) {
  std::vector<std::string> choices;
  if (!HALOGEN_HAS(&key, choices) || !key.choices) return choices;
  std::string_view rest = key.choices;
  while (true) {
    const size_t bar = rest.find('|');
    choices.emplace_back(rest.substr(0, bar));
    if (bar == std::string_view::npos) return choices;
    rest.remove_prefix(bar + 1);
  }
}

// What is wrong with a value of the right type; empty if nothing is.
std::string complaint(const halogen_config_key& key, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    const auto choices = choices_of(key);
    std::string list;
    for (const std::string& choice : choices) {
      if (choice == *text) return {};
      list += (list.empty() ? "" : ", ") + choice;
    }
    return choices.empty() ? "" : "must be one of " + list;
  }
  const auto* whole = std::get_if<int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  if (real && !std::isfinite(*real)) return "must be finite";
  if ((!whole && !real) || !HALOGEN_HAS(&key, maximum) || (key.minimum == 0 && key.maximum == 0))
    return {};
  const double number = whole ? static_cast<double>(*whole) : *real;
  if (number >= key.minimum && number <= key.maximum) return {};
  return "must be from " + number_text(key.minimum) + " to " + number_text(key.maximum);
}

}  // namespace

struct ConfigView::State {
  halogen_config config{};
  std::map<std::string, Setting, std::less<>> settings;

  static const State& of(const halogen_config* config) {
    return *static_cast<const State*>(config->context);
  }

  template <typename T>
  static halogen_status get(const halogen_config* config, const char* key, T* out) {
    const auto found = of(config).settings.find(std::string_view(key));
    if (found == of(config).settings.end()) return HALOGEN_E_NOT_FOUND;
    const T* value = std::get_if<T>(&found->second.value);
    if (!value) return HALOGEN_E_INVALID;
    *out = *value;
    return HALOGEN_OK;
  }

  static halogen_status get_string(const halogen_config* config, const char* key,
                                   halogen_string* out) {
    const auto found = of(config).settings.find(std::string_view(key));
    if (found == of(config).settings.end()) return HALOGEN_E_NOT_FOUND;
    const auto* value = std::get_if<std::string>(&found->second.value);
    if (!value) return HALOGEN_E_INVALID;
    *out = {value->data(), value->size()};
    return HALOGEN_OK;
  }

  static const char* where(const halogen_config* config, const char* key) {
    const auto found = of(config).settings.find(std::string_view(key));
    return found == of(config).settings.end() ? "default" : found->second.where.c_str();
  }
};

ConfigView::ConfigView(std::unique_ptr<State> state) : state_(std::move(state)) {}
ConfigView::ConfigView(ConfigView&&) noexcept = default;
ConfigView& ConfigView::operator=(ConfigView&&) noexcept = default;
ConfigView::~ConfigView() = default;

const halogen_config* ConfigView::config() const {
  return &state_->config;
}

Result<ConfigView> ConfigView::make(std::string_view table, std::span<const ConfigEntry> entries,
                                    std::span<const halogen_config_key* const> keys) {
  auto state = std::make_unique<State>();
  state->config = {sizeof(halogen_config), state.get(),         &State::get<bool>,
                   &State::get<int64_t>,   &State::get<double>, &State::get_string,
                   &State::where};

  std::vector<std::string> names;
  for (const halogen_config_key* key : keys) {
    names.emplace_back(key->name);
    auto value = parse_default(key->default_value, key->type);
    if (!value)
      return fail(HALOGEN_E_INTERNAL, std::string(table) + '.' + key->name +
                                          ": the plugin's own default " +
                                          (key->default_value ? key->default_value : "(none)") +
                                          " is not " + type_text(key->type));
    state->settings[key->name] = {std::move(*value), "default"};
  }

  std::string mistakes;
  const auto mistake = [&](const ConfigEntry& entry, const std::string& what) {
    mistakes += (mistakes.empty() ? "" : "\n") + entry.where + ": " + std::string(table) + '.' +
                entry.key + ' ' + what;
  };
  for (const ConfigEntry& entry : entries) {
    size_t index = 0;
    while (index < names.size() && names[index] != entry.key) ++index;
    if (index == names.size()) {
      const auto closest = nearest(entry.key, names);
      mistake(entry, "is not a key of this plugin" +
                         (closest.empty() ? std::string()
                                          : "; the nearest is \"" + std::string(closest) + '"'));
      continue;
    }
    const halogen_config_key& key = *keys[index];
    Setting& setting = state->settings[entry.key];
    auto value = converted(entry.value, key.type);
    const std::string wrong =
        value ? complaint(key, *value) : std::string("must be ") + type_text(key.type);
    if (!wrong.empty()) {
      mistake(entry, "is " + value_text(entry.value) + ", but " + wrong);
    } else if (setting.where != "default") {
      mistake(entry, "was already set at " + setting.where);
    } else {
      setting = {std::move(*value), entry.where};
    }
  }
  if (!mistakes.empty()) return fail(HALOGEN_E_INVALID, std::move(mistakes));
  return ConfigView(std::move(state));
}

}  // namespace halogen
