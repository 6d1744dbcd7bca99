#include "core/config/load.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/base/nearest.h"
#include "core/config/checks.h"
#include "core/config/problems.h"
#include "core/config/schema.h"
#include "core/config/toml_reader.h"

namespace halogen {
namespace {

// The profile in the making, and what was found wrong so far.
class Layers {
 public:
  void add_file(const std::string& path);
  void add_environment(const Environment& environment);
  void add_flags(const FlagValues& flags);
  void check() { check_profile(profile_, problems_); }

  Problems& problems() { return problems_; }
  Profile take() { return std::move(profile_); }

 private:
  void add_entry(const RawEntry& entry);
  void add_unknown(const RawEntry& entry);
  void add_plugin_value(const RawEntry& entry);
  void add_flag(const FlagValues& flags, std::size_t index);
  void add_assignment(const std::string& assignment);
  void store(const Setting& setting, Value value, const std::string& origin);

  Profile profile_;
  Problems problems_;
};

void Layers::store(const Setting& setting, Value value, const std::string& origin) {
  setting.member.set(profile_, std::move(value));
  profile_.origins.insert_or_assign(std::string(setting.key), origin);
}

void Layers::add_file(const std::string& path) {
  Result<std::vector<RawEntry>> entries = read_toml_file(path);
  if (!entries) return problems_.add(entries.error());
  for (const RawEntry& entry : *entries) add_entry(entry);
}

// [backend.cpu] threads: a table of a plugin kind, the plugin's name, and a key.
bool belongs_to_plugin(const std::vector<std::string>& path) {
  return path.size() >= 2 && is_plugin_kind(path[0]) &&
         find_setting(dotted({path[0], path[1]})) == nullptr;
}

void Layers::add_entry(const RawEntry& entry) {
  const Setting* setting = find_setting(dotted(entry.path));
  if (setting == nullptr) {
    const bool plugin = belongs_to_plugin(entry.path);
    const auto* other = std::get_if<OtherToml>(&entry.value);
    if (plugin && entry.path.size() == 2 && other != nullptr && other->is_table)
      return;  // an empty [backend.cpu]
    if (plugin && entry.path.size() >= 3) return add_plugin_value(entry);
    return add_unknown(entry);
  }
  Result<Value> value = value_from_toml(*setting, entry.value);
  if (!value) {
    return problems_.add(within(
        entry.where,
        fail(value.error().status, std::string(setting->key) + " = " + value.error().message)));
  }
  store(*setting, std::move(*value), entry.where);
}

void Layers::add_unknown(const RawEntry& entry) {
  const std::string key = dotted(entry.path);
  const auto* other = std::get_if<OtherToml>(&entry.value);
  const bool is_table = other != nullptr && other->is_table;
  std::vector<std::string_view> tables;
  for (const Section& section : sections()) tables.push_back(section.table);
  tables.push_back("loader");
  const bool is_known_table = std::find(tables.begin(), tables.end(), key) != tables.end();
  if (is_table && is_known_table) return;  // an empty [server]

  std::string message = key + " is not a setting";
  if (is_known_table) {
    message = key + " is a table: write [" + key + "] and its settings below it";
  } else if (is_table) {
    const std::string_view table = nearest(key, tables);
    message = "[" + key + "] is not a table of settings";
    if (!table.empty()) message += "; did you mean [" + std::string(table) + "]?";
  } else if (const std::string_view likely = nearest_key(key); !likely.empty()) {
    message += "; did you mean " + std::string(likely) + "?";
  }
  problems_.add(within(entry.where, fail(HALOGEN_E_INVALID, message)));
}

void Layers::add_plugin_value(const RawEntry& entry) {
  const std::string& kind = entry.path[0];
  const std::string& name = entry.path[1];
  PluginValue added{dotted({entry.path.begin() + 2, entry.path.end()}), {}, entry.where};
  if (const auto* other = std::get_if<OtherToml>(&entry.value)) {
    return problems_.add(
        within(entry.where, fail(HALOGEN_E_INVALID, dotted(entry.path) + " is " + other->what +
                                                        ", which no plugin's setting takes")));
  }
  std::visit(
      [&](const auto& held) {
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(held)>, OtherToml>)
          added.value = held;
      },
      entry.value);

  auto& tables = profile_.plugin_tables;
  auto table = std::find_if(tables.begin(), tables.end(), [&](const PluginTable& candidate) {
    return candidate.kind == kind && candidate.name == name;
  });
  if (table == tables.end()) table = tables.insert(tables.end(), PluginTable{kind, name, {}});
  auto value = std::find_if(table->values.begin(), table->values.end(),
                            [&](const PluginValue& held) { return held.key == added.key; });
  if (value == table->values.end())
    table->values.push_back(std::move(added));
  else
    *value = std::move(added);
}

// What is not UTF-8 could not be written into a TOML file either.
bool is_toml_text(std::string_view text) {
  return read_toml("text = " + quote_toml(text), "").ok();
}

void Layers::add_environment(const Environment& environment) {
  for (const Setting& setting : settings()) {
    if (setting.environment.empty()) continue;
    const std::string name(setting.environment);
    const std::optional<std::string> text = environment(name.c_str());
    if (!text || text->empty()) continue;
    if (!is_toml_text(*text)) {
      problems_.add(fail(HALOGEN_E_INVALID, "environment " + name + ": the value is not UTF-8"));
      continue;
    }
    Result<Value> value = value_from_environment(setting, *text);
    if (value)
      store(setting, std::move(*value), "environment " + name);
    else
      problems_.add(within("environment " + name, value.error()));
  }
}

void Layers::add_flags(const FlagValues& flags) {
  for (std::size_t i = 0; i < flags.values.size(); i++) add_flag(flags, i);
  for (const std::string& assignment : flags.assignments) add_assignment(assignment);
}

void Layers::add_flag(const FlagValues& flags, std::size_t index) {
  const FlagValue& given = flags.values[index];
  const Setting* setting = find_setting(given.key);
  if (setting == nullptr) {
    return problems_.add(fail(HALOGEN_E_INTERNAL, given.flag + " has no setting " + given.key));
  }
  if (!is_toml_text(given.text)) {
    return problems_.add(
        fail(HALOGEN_E_INVALID, given.flag + ": the value is not UTF-8 [" + given.key + "]"));
  }
  // Neither the order of spellings nor of repetitions is one to rely on, so a contradiction is
  // refused.
  const auto earlier =
      std::find_if(flags.values.begin(), flags.values.begin() + static_cast<std::ptrdiff_t>(index),
                   [&](const FlagValue& other) { return other.key == given.key; });
  const bool is_first = earlier == flags.values.begin() + static_cast<std::ptrdiff_t>(index);
  if (!is_first && setting->type() != Type::list) {
    if (earlier->text == given.text) return;
    return problems_.add(fail(HALOGEN_E_INVALID, earlier->flag + " " + earlier->text + " and " +
                                                     given.flag + " " + given.text +
                                                     " set the same thing (" + given.key +
                                                     "); give only one"));
  }
  Result<Value> value = value_from_text(*setting, given.text);
  if (!value) {
    return problems_.add(fail(value.error().status,
                              given.flag + " " + value.error().message + " [" + given.key + "]"));
  }
  if (!is_first) {
    auto list = std::get<std::vector<std::string>>(setting->member.get(profile_));
    list.push_back(given.text);
    value = Value(std::move(list));
  }
  store(*setting, std::move(*value), "flag " + given.flag);
}

// The text after the first '=' is TOML where it can be read so, else a bare word: 8, true, ["a"],
// 96G.
void Layers::add_assignment(const std::string& assignment) {
  const std::string where = "flag --set";
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return problems_.add(fail(HALOGEN_E_INVALID, "--set " + assignment +
                                                     ": expected KEY=VALUE, such as "
                                                     "backend.cpu.threads=8"));
  }
  const std::string key = assignment.substr(0, equals);
  const std::string text = assignment.substr(equals + 1);
  Result<std::vector<RawEntry>> entries = read_toml(key + " = " + text, where);
  if (!entries || entries->size() != 1) entries = read_toml(key + " = " + quote_toml(text), where);
  if (!entries || entries->size() != 1) {
    return problems_.add(fail(HALOGEN_E_INVALID, "--set " + assignment + ": \"" + key +
                                                     "\" is not a key, such as server.port"));
  }
  entries->front().where = where;  // without the line, which means nothing here
  if (const Setting* setting = find_setting(key); setting != nullptr) {
    // As a flag of its own, the value may also be spelled as on a command line: on, 1.
    Result<Value> value = value_from_toml(*setting, entries->front().value);
    if (!value && value.error().status == HALOGEN_E_INVALID)
      value = value_from_text(*setting, text);
    if (!value) {
      return problems_.add(
          fail(value.error().status, "--set " + key + "=" + value.error().message));
    }
    return store(*setting, std::move(*value), where);
  }
  add_entry(entries->front());
}

// The file to begin with; empty where there is none, which is not an error.
std::string choose_config(const FlagValues& flags, const Environment& environment,
                          const std::string& system_config) {
  if (!flags.config.empty()) return flags.config;
  if (const auto named = environment("HALOGEN_CONFIG"); named && !named->empty()) return *named;
  std::error_code ignored;
  return std::filesystem::exists(system_config, ignored) ? system_config : "";
}

Result<std::string> profile_file(const std::string& name, const std::string& config) {
  if (name.find('/') != std::string::npos || name.starts_with('.')) {
    return fail(HALOGEN_E_INVALID, "--profile " + name +
                                       ": expected a name without '/'; a file is given with "
                                       "--config");
  }
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(config).parent_path() / "profiles";
  const fs::path file = folder / (name + ".toml");
  std::error_code ignored;
  if (fs::exists(file, ignored)) return file.string();
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end;
       entry.increment(ignored))
    if (entry->path().extension() == ".toml") names.push_back(entry->path().stem().string());
  std::sort(names.begin(), names.end());
  std::string message = "--profile " + name + ": " + file.string() + " does not exist";
  for (std::size_t i = 0; i < names.size(); i++)
    message += (i == 0 ? "; there are " : ", ") + names[i];
  return fail(HALOGEN_E_NOT_FOUND, message);
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): said in the header
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  };
}

Result<Profile> load_profile(const FlagValues& flags, const Environment& environment,
                             const std::string& system_config) {
  Layers layers;
  const std::string config = choose_config(flags, environment, system_config);
  if (!config.empty()) layers.add_file(config);
  if (!flags.profile.empty()) {
    Result<std::string> file = profile_file(flags.profile, config.empty() ? system_config : config);
    if (file)
      layers.add_file(*file);
    else
      layers.problems().add(file.error());
  }
  layers.add_environment(environment);
  layers.add_flags(flags);
  // Values that were refused are still at their defaults, which would only mislead the
  // cross-checks.
  if (!layers.problems().any()) layers.check();
  if (layers.problems().any()) return layers.problems().error();
  return layers.take();
}

Result<Profile> load_profile(const std::vector<std::string>& arguments,
                             const Environment& environment, const std::string& system_config) {
  Result<FlagValues> flags = parse_flags(arguments);
  if (!flags) return flags.error();
  return load_profile(*flags, environment, system_config);
}

}  // namespace halogen
