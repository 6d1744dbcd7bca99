#include "core/host/generation.h"

#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include "core/base/call_plugin.h"
#include "core/base/log.h"
#include "core/host/cpu_features.h"
#include "core/host/library.h"
#include "core/host/plugin_file.h"
#include "core/host/services.h"
#include "core/host/text.h"

namespace halogen {
namespace {

Status check_before_opening(const CatalogueEntry& entry) {
  const Manifest& manifest = entry.manifest;
  if (auto fits = check_abi("its manifest " + manifest.path.string(), manifest.abi_major,
                            manifest.least_host_minor);
      !fits)
    return fits;
  std::error_code ignored;
  const auto status = std::filesystem::status(entry.library, ignored);
  if (!std::filesystem::is_regular_file(status))
    return fail(HALOGEN_E_NOT_FOUND,
                "its library " + entry.library.string() + " named by the manifest " +
                    manifest.path.string() +
                    (std::filesystem::exists(status) ? " is no file" : " is missing") +
                    (manifest.package.empty() ? "; install the plugin again"
                                              : "; it is part of the package " + manifest.package));
  if (const auto missing = missing_cpu_features(manifest.cpu_features); !missing.empty())
    return fail(HALOGEN_E_UNSUPPORTED, "it needs a processor with " + joined(missing, ", "));
  return {};
}

// Before any code of the object runs. An object whose symbols were stripped is looked at once it is
// open.
Status check_file(const ElfObject& object, const std::string& file) {
  if (object.symbols().empty()) return {};
  const auto entry = find_entry(object);
  if (!entry) return within(file + " cannot be used", entry.error());
  return check_versions(*entry, file);
}

// Reads nothing but sizes, versions and strings; calls nothing.
Status check_entry(const halogen_plugin* plugin, const std::filesystem::path& library,
                   const Manifest& manifest) {
  const std::string file = library.string();
  if (!plugin) return fail(HALOGEN_E_INVALID, file + " cannot be used: " + kNoEntry);
  if (auto status = check_versions(*plugin, file); !status) return status;
  const halogen_plugin_descriptor* descriptor = plugin->descriptor;
  if (!plugin->init || !plugin->deinit || !plugin->get_factory || !descriptor ||
      !HALOGEN_HAS(descriptor, unload) || !descriptor->id || !descriptor->version)
    return fail(HALOGEN_E_INVALID,
                file + ": its entry lacks a function or its descriptor; the plugin is incomplete");
  if (manifest.id != descriptor->id)
    return fail(HALOGEN_E_INVALID, file + " is the plugin '" + descriptor->id +
                                       "', but its manifest " + manifest.path.string() + " says '" +
                                       manifest.id + "'");
  return {};
}

// Plugins promise that no exception leaves them; this is for those that break the promise.
template <typename Body>
Status guarded(const char* call, Body body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    return fail(HALOGEN_E_INTERNAL, std::string(call) + " threw an exception: " + exception.what());
  } catch (...) {
    return fail(HALOGEN_E_INTERNAL, std::string(call) + " threw an exception");
  }
}

// How every factory of halogen's own kinds begins.
struct FactoryHead {
  uint32_t struct_size;
  const char* name;
};

class Stopwatch {
 public:
  std::chrono::milliseconds passed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 start_);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// "0.3 s"
std::string seconds_text(std::chrono::milliseconds time) {
  const auto seconds = std::to_string(static_cast<double>(time.count()) / 1000.0);
  return seconds.substr(0, seconds.find('.') + 2) + " s";
}

// "\"a\", \"b\""
std::string quoted(const std::vector<std::string>& names) {
  return names.empty() ? "" : '"' + joined(names, "\", \"") + '"';
}

}  // namespace

struct PluginGeneration::Parts {
  Parts(std::unique_ptr<Library> opened, const std::string& id, const Environment& environment)
      : library(std::move(opened)), services(id, environment.metrics, environment.loop) {}
  std::unique_ptr<Library> library;
  PluginServices services;
};

void GenerationRecord::stay_resident(std::string why) {
  const std::scoped_lock lock(mutex_);
  why_resident_ = std::move(why);
  state = GenerationState::resident;
}

std::string GenerationRecord::why_resident() const {
  const std::scoped_lock lock(mutex_);
  return why_resident_;
}

PluginGeneration::PluginGeneration(std::unique_ptr<Parts> parts, Environment environment,
                                   std::shared_ptr<GenerationRecord> record)
    : parts_(std::move(parts)), environment_(environment), record_(std::move(record)) {}

Result<std::unique_ptr<PluginGeneration>> PluginGeneration::load(const CatalogueEntry& entry,
                                                                 const std::string& purpose,
                                                                 uint64_t number,
                                                                 Environment environment) {
  const std::string who = "plugin '" + entry.manifest.id + "' (" + purpose + ')';
  if (auto status = check_before_opening(entry); !status) return within(who, status.error());
  const Stopwatch opening;
  auto library = Library::open(entry.library, [&](const ElfObject& object) {
    return check_file(object, entry.library.string());
  });
  if (!library) return within(who, library.error());
  const auto opened = opening.passed();
  if (auto status = check_entry((*library)->entry(), entry.library, entry.manifest); !status)
    return within(who, status.error());

  auto record = std::make_shared<GenerationRecord>();
  record->id = entry.manifest.id;
  record->version = (*library)->entry()->descriptor->version;
  record->number = number;
  if (record->version != entry.manifest.version)
    log_warning("host", who + ": " + entry.library.string() + " has version " + record->version +
                            ", but its manifest says " + entry.manifest.version);
  auto parts = std::make_unique<Parts>(std::move(*library), entry.manifest.id, environment);
  std::unique_ptr<PluginGeneration> generation(
      new PluginGeneration(std::move(parts), environment, std::move(record)));
  const Stopwatch starting;
  const auto status = generation->start(entry);
  const auto started = starting.passed();
  // Nobody waits for it but those that asked; but it should not have work to do yet.
  if (opened + started >= environment.slow)
    log_warning("host", who + ": took long to load: " + seconds_text(opened) +
                            " in its static constructors, " + seconds_text(started) +
                            " in its init");
  if (!status) return within(who, status.error());
  return generation;
}

Status PluginGeneration::start(const CatalogueEntry& entry) {
  const halogen_plugin* plugin = parts_->library->entry();
  auto initialised = guarded("its init", [&]() -> Status {
    const Status status = call_plugin(
        [&](halogen_error* error) { return plugin->init(parts_->services.table(), error); });
    if (!status) return within("its init failed", status.error());
    return {};
  });
  auto status = initialised;
  if (status) status = guarded("its get_factory", [&] { return check_factories(entry.manifest); });
  if (!status)
    if (auto stopped = stop(initialised.ok()); !stopped) log_error("host", stopped.error().message);
  return status;
}

Status PluginGeneration::check_factories(const Manifest& manifest) const {
  for (const std::string& kind : manifest.kinds) {
    const void* factory = parts_->library->entry()->get_factory(kind.c_str());
    const std::string path = manifest.path.string();
    if (!factory)
      return fail(HALOGEN_E_INVALID, "its manifest " + path + " claims the kind " + kind +
                                         ", but the plugin has no factory for it");
    if (!kind.starts_with("halogen.")) continue;
    const auto* head = static_cast<const FactoryHead*>(factory);
    if (!HALOGEN_HAS(head, name) || !head->name)
      return fail(HALOGEN_E_INVALID, "its factory of kind " + kind + " has no name");
    if (!manifest.provides_name(kind, head->name))
      return fail(HALOGEN_E_INVALID, "its " + kind_word(kind) + " is called \"" + head->name +
                                         "\", but the manifest " + path + " says " +
                                         quoted(manifest.provides.at(kind)));
  }
  return {};
}

uint16_t PluginGeneration::abi_minor() const {
  return parts_ ? parts_->library->entry()->abi_minor : 0;
}

const void* PluginGeneration::factory(const char* kind) const {
  return parts_ ? parts_->library->entry()->get_factory(kind) : nullptr;
}

PluginGeneration::~PluginGeneration() {
  if (!parts_) return;
  if (auto status = unload(); !status) log_error("host", status.error().message);
}

Status PluginGeneration::unload() {
  if (!parts_) return {};
  auto status = stop(true);
  if (status && record_->state == GenerationState::unloaded)
    log_info("host", "plugin '" + id() + "' generation " + std::to_string(number()) + " unloaded");
  return status;
}

Status PluginGeneration::stop(bool initialised) {
#ifndef NDEBUG
  if (environment_.loop.on_loop_thread())
    log_error("host", "plugin '" + id() +
                          "' is unloaded on the loop thread, but may take seconds [worker]");
#endif
  record_->state = GenerationState::unloading;
  const std::string waited = " after " + seconds_text(environment_.patience);

  // What was posted runs while the plugin is still whole.
  parts_->services.close();
  if (const size_t left = parts_->services.drain(environment_.patience); left > 0)
    return keep_resident("the loop has not run " + std::to_string(left) +
                         " of its posted functions" + waited);

  const halogen_plugin* plugin = parts_->library->entry();
  const bool wants_to_stay = plugin->descriptor->unload == HALOGEN_RESIDENT;
  if (initialised) {
    const auto ended = guarded("its deinit", [&]() -> Status {
      plugin->deinit();
      return {};
    });
    if (!ended) return keep_resident(ended.error().message);
  }

  const auto leftovers = parts_->services.threads().join_leftovers(environment_.patience);
  if (!leftovers.joined.empty())
    log_warning("host", "plugin '" + id() + "' did not join its threads " +
                            quoted(leftovers.joined) + "; the host did");
  if (!leftovers.running.empty())
    return keep_resident("its threads " + quoted(leftovers.running) + " still run" + waited);

  if (wants_to_stay) {
    parts_->services.drop_metrics();
    (void)keep_resident("its descriptor asks for it");
    return {};
  }
  // Its static destructors still find the services, closed as they are.
  if (auto closed = parts_->library->unload(environment_.patience); !closed)
    return keep_resident(closed.error().message);
  parts_.reset();
  record_->state = GenerationState::unloaded;
  return {};
}

Error PluginGeneration::keep_resident(std::string why) {
  // Never destroyed: code of the plugin may still run at exit and look at its services.
  static std::mutex mutex;
  static auto* residents = new std::vector<std::unique_ptr<Parts>>;
  {
    const std::scoped_lock lock(mutex);
    residents->push_back(std::move(parts_));
  }
  record_->stay_resident(why);
  return fail(HALOGEN_E_BUSY, "plugin '" + id() + "' generation " + std::to_string(number()) +
                                  " stays resident: " + std::move(why));
}

}  // namespace halogen
