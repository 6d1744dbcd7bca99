#include "core/check/abi/abi_cases.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <set>
#include <thread>

#include "core/check/entries.h"
#include "core/check/factory_kinds.h"
#include "core/host/library.h"
#include "core/host/services.h"
#include "core/serve/factory_checks.h"
#include "core/text/utf8.h"

namespace halogen::check {
namespace {

constexpr std::chrono::seconds kPatience{5};

// The plugin's object, opened and not yet initialised.
struct Opened {
  std::unique_ptr<Library> library;
  const halogen_plugin* entry = nullptr;
  Outcome outcome;  // what stands against calling it
};

Opened open(Subject& subject) {
  Opened opened;
  // The cases look at its versions themselves.
  auto library =
      Library::open(subject.options().plugin.library, [](const ElfObject&) { return Status(); });
  if (!library) {
    opened.outcome = Outcome::failed(library.error().message);
    return opened;
  }
  opened.library = std::move(*library);
  opened.entry = opened.library->entry();
  if (!opened.entry) {
    opened.outcome = Outcome::failed("the object does not export " HALOGEN_PLUGIN_SYMBOL);
    return opened;
  }
  const halogen_plugin& entry = *opened.entry;
  Findings findings;
  if (findings.expect(HALOGEN_HAS(&entry, get_factory),
                      "the entry of " + std::to_string(entry.struct_size) +
                          " bytes is shorter than that of ABI 1.0")) {
    findings.expect(entry.descriptor && entry.init && entry.deinit && entry.get_factory,
                    "the entry lacks its descriptor or a function");
    findings.expect(entry.abi_major == HALOGEN_ABI_MAJOR,
                    "the object is for ABI " + std::to_string(entry.abi_major));
    findings.expect(entry.least_host_minor <= HALOGEN_ABI_MINOR,
                    "the object needs host minor " + std::to_string(entry.least_host_minor));
  }
  opened.outcome = findings.outcome();
  return opened;
}

// A plugin between init and deinit.
class Running {
 public:
  Running(Subject& subject, const halogen_plugin& entry)
      : entry_(entry),
        services_(subject.options().plugin.manifest.id, subject.metrics(), subject.loop()) {}
  // Empty, or why init failed.
  std::string start() {
    halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
    const halogen_status status = entry_.init(services_.table(), &error);
    started_ = status == HALOGEN_OK;
    return started_ ? ""
                    : "init answers " + std::string(halogen_status_name(status)) + ": " +
                          (error.message[0] ? error.message : "no message");
  }
  // In the order of the host: what was posted runs before deinit.
  PluginThreads::Leftovers stop() {
    services_.close();
    posted_left_ = services_.drain(kPatience);
    if (started_) entry_.deinit();
    started_ = false;
    return services_.threads().join_leftovers(kPatience);
  }
  size_t posted_left() const { return posted_left_; }
  ~Running() {
    if (started_) stop();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  const halogen_plugin& entry_;
  PluginServices services_;
  bool started_ = false;
  size_t posted_left_ = 0;
};

// A joined thread takes a moment to disappear from the list.
bool threads_fall_to(size_t count) {
  for (int i = 0; i < 200; i++) {
    if (entries_of("/proc/self/task") <= count) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

bool is_text(const char* text) {
  return text && text[0] != '\0' && text::valid_prefix(text) == std::strlen(text);
}

Outcome describes_itself(Subject& subject) {
  const Opened opened = open(subject);
  if (opened.outcome.verdict != Verdict::pass) return opened.outcome;
  const halogen_plugin_descriptor& d = *opened.entry->descriptor;
  const Manifest& manifest = subject.options().plugin.manifest;
  Findings findings;
  if (!findings.expect(HALOGEN_HAS(&d, unload), "the descriptor is shorter than that of ABI 1.0"))
    return findings.outcome();
  const std::pair<const char*, const char*> texts[] = {
      {"id", d.id}, {"name", d.name}, {"version", d.version}, {"licence", d.licence}};
  for (const auto& [what, text] : texts)
    findings.expect(is_text(text),
                    std::string("the descriptor's ") + what + " is missing or not UTF-8");
  if (findings.failed()) return findings.outcome();
  findings.expect(d.unload == HALOGEN_UNLOAD || d.unload == HALOGEN_RESIDENT,
                  "the unload policy is " + std::to_string(d.unload));
  findings.expect(manifest.id == d.id, std::string("the object is '") + d.id +
                                           "', the manifest says '" + manifest.id + "'");
  findings.expect(manifest.version == d.version, std::string("the object has version ") +
                                                     d.version + ", the manifest says " +
                                                     manifest.version);
  findings.expect(std::strchr(d.id, '.') != nullptr,
                  std::string("the id '") + d.id + "' is not in reverse-DNS form");
  findings.expect(manifest.abi_major == opened.entry->abi_major &&
                      manifest.least_host_minor == opened.entry->least_host_minor,
                  "the manifest says another ABI than the object's entry");
  return findings.outcome();
}

// A file that is only looked at must do nothing.
Outcome does_nothing_when_opened(Subject& subject) {
  subject.loop();  // its thread is ours
  const size_t threads = entries_of("/proc/self/task"), files = entries_of("/proc/self/fd");
  Opened opened = open(subject);
  if (opened.outcome.verdict != Verdict::pass) return opened.outcome;
  Findings findings;
  findings.expect(entries_of("/proc/self/task") == threads, "opening the object starts a thread");
  // The host's private copy is one.
  findings.expect(entries_of("/proc/self/fd") <= files + 1, "opening the object opens a file");
  return findings.outcome();
}

Outcome has_its_tables(Subject& subject) {
  Opened opened = open(subject);
  if (opened.outcome.verdict != Verdict::pass) return opened.outcome;
  Running running(subject, *opened.entry);
  if (const std::string why = running.start(); !why.empty()) return Outcome::failed(why);
  const Manifest& manifest = subject.options().plugin.manifest;
  Findings findings;
  findings.expect(opened.entry->get_factory("halogen.no-such-kind/1") == nullptr,
                  "get_factory has a factory for a kind that does not exist");
  for (const std::string& kind : manifest.kinds) {
    const void* factory = opened.entry->get_factory(kind.c_str());
    if (!findings.expect(factory != nullptr, "there is no factory for " + kind)) continue;
    findings.expect(factory == opened.entry->get_factory(kind.c_str()),
                    "get_factory has another " + kind + " the second time");
    const auto whole = visit_factory<Status>(
        kind, factory, [&](const auto* table) { return check_factory(manifest.id, table); });
    if (!whole) findings.expect(false, whole.error().message);
  }
  return findings.outcome();
}

// The name and the keys of a factory, which every kind of halogen's has.
struct Keys {
  const char* name;
  uint32_t count;
  const halogen_config_key* const* keys;
};

std::optional<Keys> keys_of(const std::string& kind, const void* factory) {
  return visit_factory<std::optional<Keys>>(kind, factory, [](const auto* table) {
    return Keys{table->name, table->n_config_keys, table->config_keys};
  });
}

void check_key(const std::string& where, const halogen_config_key& key, Findings& findings) {
  if (!findings.expect(HALOGEN_HAS(&key, live), where + " is shorter than a key of ABI 1.0"))
    return;
  if (!findings.expect(is_text(key.name), where + " has no name")) return;
  const std::string name = where + " '" + key.name + "'";
  findings.expect(
      std::all_of(key.name, key.name + std::strlen(key.name),
                  [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; }),
      name + " is not in lower case with underscores");
  findings.expect(key.type >= HALOGEN_CONFIG_BOOL && key.type <= HALOGEN_CONFIG_SIZE,
                  name + " has the unknown type " + std::to_string(key.type));
  findings.expect(is_text(key.help), name + " has no help");
  findings.expect(key.minimum <= key.maximum, name + " has its minimum above its maximum");
  findings.expect(!key.choices || key.type == HALOGEN_CONFIG_STRING,
                  name + " has choices, but is no string");
}

// A default has to satisfy what is asked of an operator's value.
void check_default(const std::string& word, const halogen_config_key& key, Findings& findings) {
  if (!key.default_value || key.type != HALOGEN_CONFIG_STRING || !key.choices) return;
  const halogen_config_key* const keys[] = {&key};
  const ConfigEntry entry{key.name, std::string(key.default_value), "its default"};
  if (auto view = ConfigView::make(word, {&entry, 1}, keys); !view)
    findings.expect(false, view.error().message);
}

Outcome has_sound_settings(Subject& subject) {
  Opened opened = open(subject);
  if (opened.outcome.verdict != Verdict::pass) return opened.outcome;
  Running running(subject, *opened.entry);
  if (const std::string why = running.start(); !why.empty()) return Outcome::failed(why);
  const Manifest& manifest = subject.options().plugin.manifest;
  Findings findings;
  for (const std::string& kind : manifest.kinds) {
    const void* factory = opened.entry->get_factory(kind.c_str());
    const auto keys = factory ? keys_of(kind, factory) : std::nullopt;
    if (!keys) continue;
    const std::string word = kind_word(kind);
    findings.expect(is_text(keys->name), "the " + word + " has no name");
    findings.expect(keys->name && manifest.provides_name(kind, keys->name),
                    "the manifest does not provide the " + word + "'s name");
    if (!findings.expect(keys->count == 0 || keys->keys, "the " + word + " has no key array"))
      continue;
    std::set<std::string> names;
    for (uint32_t i = 0; i < keys->count && !findings.failed(); i++) {
      const std::string where = "key " + std::to_string(i) + " of the " + word;
      if (!findings.expect(keys->keys[i] != nullptr, where + " is null")) break;
      check_key(where, *keys->keys[i], findings);
      if (findings.failed()) break;
      findings.expect(names.insert(keys->keys[i]->name).second,
                      where + " has the name of another: " + keys->keys[i]->name);
      check_default(word, *keys->keys[i], findings);
    }
    if (findings.failed()) break;
    const auto defaults = ConfigView::make(word, {}, {keys->keys, keys->count});
    if (!defaults) findings.expect(false, defaults.error().message);
  }
  return findings.outcome();
}

// Loaded, used, ended and gone, twice, with nothing left.
Outcome lives_twice(Subject& subject) {
  subject.loop();
  // The first round may set up what the C library keeps.
  size_t files = 0;
  for (int round = 1; round <= 3; round++) {
    const std::string when = " in round " + std::to_string(round);
    const size_t threads = entries_of("/proc/self/task");
    Opened opened = open(subject);
    if (opened.outcome.verdict != Verdict::pass) return opened.outcome;
    const bool resident = opened.entry->descriptor->unload == HALOGEN_RESIDENT;
    {
      Running running(subject, *opened.entry);
      if (const std::string why = running.start(); !why.empty()) return Outcome::failed(why + when);
      for (const std::string& kind : subject.options().plugin.manifest.kinds)
        opened.entry->get_factory(kind.c_str());
      const auto left = running.stop();
      if (running.posted_left() > 0)
        return Outcome::failed("functions that were posted did not run before deinit" + when);
      if (!left.joined.empty())
        return Outcome::failed("deinit leaves the thread '" + left.joined[0] + "' to the host" +
                               when);
      if (!left.running.empty())
        return Outcome::failed("the thread '" + left.running[0] + "' still runs after deinit" +
                               when);
    }
    if (!threads_fall_to(threads))
      return Outcome::failed("a thread that the host does not know still runs after deinit" + when);
    if (resident) return {};  // its code stays, as it asks
    if (auto gone = opened.library->unload(kPatience); !gone)
      return Outcome::failed(gone.error().message);
    const size_t open_files = entries_of("/proc/self/fd");
    if (round > 1 && open_files > files)
      return Outcome::failed("files stay open after deinit" + when);
    files = open_files;
  }
  return {};
}

Outcome loads_as_the_server_does(Subject& subject) {
  for (const std::string& kind : subject.options().plugin.manifest.kinds)
    if (!subject.factory<void>(kind.c_str())) return Outcome::failed(subject.error());
  return {};
}

}  // namespace

void add_abi_cases(const Options& /*options*/, std::vector<Case>& cases) {
  const auto add = [&](const char* name, Outcome (*run)(Subject&)) {
    cases.push_back({"abi", name, run, true, std::chrono::seconds(30)});
  };
  add("object/describes-itself", describes_itself);
  add("object/does-nothing-when-opened", does_nothing_when_opened);
  add("object/tables", has_its_tables);
  add("object/settings", has_sound_settings);
  add("object/lives-twice", lives_twice);
  add("object/loads", loads_as_the_server_does);
}

std::vector<std::string> abi_introduction(Subject& subject) {
  const Opened opened = open(subject);
  if (opened.outcome.verdict != Verdict::pass) return {"plugin    " + opened.outcome.sentence};
  const halogen_plugin_descriptor& d = *opened.entry->descriptor;
  const auto text = [](const char* of) { return std::string(is_text(of) ? of : "?"); };
  return {"plugin    " + text(d.name) + " " + text(d.version) + ", " + text(d.licence) +
          ", built for ABI " + std::to_string(opened.entry->abi_major) + "." +
          std::to_string(opened.entry->abi_minor)};
}

}  // namespace halogen::check
