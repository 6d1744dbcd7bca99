// The GGUF loader, made wrong in the way that the setting `fault` names. Its own entry is compiled
// under another name.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include <fcntl.h>

#include "halogen/cxx/plugin.hpp"
#include "halogen/loader.h"

extern "C" const halogen_plugin gguf_plugin_entry;

namespace {

halogen::Host host;
std::string fault;

const halogen_config_key kFault = {
    sizeof(halogen_config_key),
    HALOGEN_CONFIG_STRING,
    "fault",
    "none",
    "In what way to be wrong.",
    0,
    0,
    "none|crash|hang|exit|keeps_files|no_name|no_message|beyond|memory",
    false};
const halogen_config_key* const kKeys[] = {&kFault};

const halogen_loader_factory& right() {
  return *static_cast<const halogen_loader_factory*>(
      gguf_plugin_entry.get_factory(HALOGEN_LOADER_KIND));
}

halogen_status open(const char* path, const halogen_config* config, halogen_model** model,
                    halogen_error* error) {
  fault = halogen::Config(config).text("fault");
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  const bool cut = !ignored && size > 100 && size < 600;
  if (cut && fault == "crash") std::raise(SIGSEGV);
  if (cut && fault == "exit") std::exit(7);
  while (cut && fault == "hang") std::this_thread::sleep_for(std::chrono::seconds(1));
  if (cut && fault == "memory")
    return halogen::guarded(error, [&]() -> halogen_status {
      const std::vector<char> all(size_t{3} << 30);
      return halogen_fail(error, HALOGEN_E_INVALID, path);
    });
  const halogen_status status = right().open(path, config, model, error);
  if (status == HALOGEN_OK) return status;
  if (fault == "keeps_files") (void)!::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fault == "no_name") return halogen_fail(error, status, "the file is damaged");
  if (fault == "no_message") return halogen_fail(error, status, "");
  return status;
}

const halogen_tensor* tensor_at(const halogen_model* model, uint32_t index) {
  const halogen_tensor* tensor = right().tensor_at(model, index);
  if (fault != "beyond" || !tensor) return tensor;
  static halogen_tensor changed;
  changed = *tensor;
  changed.offset += 1 << 20;
  return &changed;
}

halogen_loader_factory factory() {
  halogen_loader_factory changed = right();
  changed.name = "wrong";
  changed.n_config_keys = 1;
  changed.config_keys = kKeys;
  changed.open = open;
  changed.tensor_at = tensor_at;
  return changed;
}

halogen_status init(halogen_error* error) {
  return gguf_plugin_entry.init(host.table(), error);
}
void deinit() {
  gguf_plugin_entry.deinit();
}

const void* get_factory(const char* kind) {
  static const halogen_loader_factory changed = factory();
  return std::strcmp(kind, HALOGEN_LOADER_KIND) == 0 ? &changed : nullptr;
}

}  // namespace

HALOGEN_DEFINE_PLUGIN("org.example.loader", "Wrong loader", "1.0.0", "Apache-2.0", host, init,
                      deinit, get_factory);
