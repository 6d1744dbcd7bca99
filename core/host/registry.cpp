#include "core/host/registry.h"

#include <algorithm>

#include "core/base/log.h"

namespace halogen {
namespace {

// 'backend "cpu"': what a plugin was asked for.
std::string purpose_of(const Manifest& manifest, std::string_view kind, std::string_view name) {
  const bool by_id = manifest.id == name;
  return kind_word(kind) + " \"" +
         (by_id ? manifest.provides.at(std::string(kind)).front() : std::string(name)) + '"';
}

PluginState state_of(const CatalogueEntry& entry, bool failed) {
  if (!entry.library_exists) return PluginState::library_missing;
  if (entry.manifest.abi_major != HALOGEN_ABI_MAJOR ||
      entry.manifest.least_host_minor > HALOGEN_ABI_MINOR)
    return PluginState::wrong_abi;
  return failed ? PluginState::failed : PluginState::available;
}

}  // namespace

PluginHost::PluginHost(PluginHostOptions options, MetricRegistry& metrics, LoopPoster& loop)
    : options_(std::move(options)), metrics_(metrics), loop_(loop) {}

Catalogue PluginHost::scan() {
  Catalogue catalogue = read_catalogue(options_.folders);
  for (const std::string& warning : catalogue.warnings)
    if (warned_.insert(warning).second) log_warning("host", warning);
  return catalogue;
}

void PluginHost::forget_unloaded() {
  std::erase_if(records_,
                [](const auto& record) { return record->state == GenerationState::unloaded; });
}

Result<PluginHandle> PluginHost::load(std::string_view kind, std::string_view name) {
  return load_from(kind, name, false);
}

Result<PluginHandle> PluginHost::load_fresh(std::string_view kind, std::string_view name) {
  return load_from(kind, name, true);
}

Result<PluginHandle> PluginHost::load_from(std::string_view kind, std::string_view name,
                                           bool fresh) {
  if (loop_.on_loop_thread())
    return fail(HALOGEN_E_INTERNAL, "plugin \"" + std::string(name) +
                                        "\" was to be loaded on the loop thread, which it would "
                                        "block; load it on a worker");
  const std::scoped_lock loading(loading_);
  std::unique_lock lock(mutex_);
  const Catalogue catalogue = scan();
  const auto found = catalogue.find(kind, name);
  if (!found) return found.error();
  const CatalogueEntry& entry = **found;
  const std::string& id = entry.manifest.id;
  if (!fresh)
    if (PluginHandle shared = current_[id].lock()) return shared;

  const uint64_t number = ++generations_;
  lock.unlock();  // the plugin's init may take seconds, and list() should not wait for it
  auto loaded = PluginGeneration::load(entry, purpose_of(entry.manifest, kind, name), number,
                                       {metrics_, loop_, options_.patience, options_.slow});
  lock.lock();
  if (!loaded) {
    failures_[id] = loaded.error().message;
    return loaded.error();
  }
  failures_.erase(id);
  PluginHandle handle(std::move(*loaded));
  current_[id] = handle;
  forget_unloaded();
  records_.push_back(handle->record());
  log_info("host", "plugin '" + id + "' " + handle->version() + " loaded from " +
                       entry.library.string() + " as generation " + std::to_string(number));
  return handle;
}

Status PluginHost::unload(PluginHandle& last) {
  if (!last) return {};
  {
    const std::scoped_lock lock(mutex_);
    // Nobody but load() makes a handle from none, and it does so under this lock.
    if (last.use_count() > 1)
      return fail(HALOGEN_E_BUSY, "plugin '" + last->id() +
                                      "' cannot be unloaded yet; others use it: " +
                                      std::to_string(last.use_count() - 1));
    if (current_[last->id()].lock() == last) current_.erase(last->id());
  }
  Status status = last->unload();
  last.reset();
  return status;
}

std::vector<PluginInfo> PluginHost::list() {
  const std::scoped_lock lock(mutex_);
  const Catalogue catalogue = scan();
  std::vector<PluginInfo> list;
  for (const CatalogueEntry& entry : catalogue.entries) {
    const auto failure = failures_.find(entry.manifest.id);
    const bool failed = failure != failures_.end();
    list.push_back({entry.manifest,
                    entry.library,
                    entry.origin,
                    state_of(entry, failed),
                    failed ? failure->second : "",
                    {}});
  }

  forget_unloaded();
  for (const auto& record : records_) {
    auto info = std::find_if(list.begin(), list.end(), [&](const PluginInfo& candidate) {
      return candidate.manifest.id == record->id;
    });
    if (info == list.end()) {  // loaded, and its package removed since
      PluginInfo orphan;
      orphan.manifest.id = record->id;
      orphan.state = PluginState::library_missing;
      info = list.insert(list.end(), std::move(orphan));
    }
    info->generations.push_back(
        {record->number, record->version, record->state, record->why_resident()});
  }

  for (const BrokenManifest& broken : catalogue.broken) {
    PluginInfo info;
    info.manifest.path = broken.path;
    info.origin = broken.origin;
    info.state = PluginState::manifest_broken;
    info.message = broken.message;
    list.push_back(std::move(info));
  }
  return list;
}

}  // namespace halogen
