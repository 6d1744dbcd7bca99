// halogen SDK for C++ authors: the frame of a plugin, so that a plugin's own file is about its own
// work.
//
// Everything is inline and in terms of the C headers; a plugin that includes this links no halogen
// library. C++11 is enough.
//
//   static halogen::Host host;                       // set by the frame before your init runs
//   static halogen_status init(halogen_error*) {...} // optional work of your own
//   HALOGEN_DEFINE_PLUGIN("org.example.thing", "A thing", "1.0.0", "MIT", host, init, deinit,
//   factory_of)
#ifndef HALOGEN_CXX_PLUGIN_HPP
#define HALOGEN_CXX_PLUGIN_HPP

#include <exception>
#include <new>
#include <string>

#include "halogen/config.h"
#include "halogen/plugin.h"

namespace halogen {

// The host's services with C++ strings. Copyable; empty until the plugin's init.
class Host {
 public:
  constexpr Host() noexcept
      : table_(nullptr) {}  // constexpr: nothing runs when the object is opened
  constexpr explicit Host(const halogen_host* table) noexcept : table_(table) {}

  const halogen_host* table() const { return table_; }

  // [any]
  void log(halogen_log_level level, const std::string& message) const {
    if (!table_) return;
    halogen_string text = {message.data(), message.size()};
    table_->log(table_, level, text);
  }
  void debug(const std::string& message) const { log(HALOGEN_LOG_DEBUG, message); }
  void info(const std::string& message) const { log(HALOGEN_LOG_INFO, message); }
  void warn(const std::string& message) const { log(HALOGEN_LOG_WARNING, message); }
  void error(const std::string& message) const { log(HALOGEN_LOG_ERROR, message); }

 private:
  const halogen_host* table_;
};

// Returns `status` with a message; `return halogen::failed(error, HALOGEN_E_INVALID, "...")`.
inline halogen_status failed(halogen_error* error, halogen_status status,
                             const std::string& message) {
  return halogen_fail(error, status, message.c_str());
}

// Runs `body`, which returns a halogen_status, and turns an exception into an error: nothing that
// C++ throws crosses the boundary.
template <typename Body>
halogen_status guarded(halogen_error* error, Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return halogen_fail(error, HALOGEN_E_NO_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return halogen_fail(error, HALOGEN_E_INTERNAL, e.what());
  } catch (...) {
    return halogen_fail(error, HALOGEN_E_INTERNAL, "an exception of unknown type");
  }
}

// Reads the settings that a create call got. The host has checked them against the factory's keys,
// so a key that the factory lists is there.
class Config {
 public:
  explicit Config(const halogen_config* config) : config_(config) {}

  bool boolean(const char* key) const {
    bool value = false;
    if (config_) config_->get_bool(config_, key, &value);
    return value;
  }
  int64_t integer(const char* key) const {
    int64_t value = 0;
    if (config_) config_->get_int(config_, key, &value);
    return value;
  }
  double number(const char* key) const {
    double value = 0;
    if (config_) config_->get_float(config_, key, &value);
    return value;
  }
  std::string text(const char* key) const {
    halogen_string value = {"", 0};
    if (config_) config_->get_string(config_, key, &value);
    return std::string(value.data ? value.data : "", value.size);
  }
  // "halogen.toml:12" or "default".
  const char* where(const char* key) const {
    return config_ ? config_->where(config_, key) : "default";
  }

 private:
  const halogen_config* config_;
};

}  // namespace halogen

// Defines the entry. `host` is a halogen::Host variable, `init_function` is
// halogen_status(halogen_error*), `deinit_function` is void(), `factory_function` is const
// void*(const char* kind).
#define HALOGEN_DEFINE_PLUGIN(plugin_id, plugin_name, plugin_version, plugin_licence,          \
                              host_variable, init_function, deinit_function, factory_function) \
  HALOGEN_DEFINE_PLUGIN_WITH(plugin_id, plugin_name, plugin_version, plugin_licence,           \
                             HALOGEN_UNLOAD, 0, host_variable, init_function, deinit_function, \
                             factory_function)

// The same with an unload policy (HALOGEN_RESIDENT for code that cannot be unloaded) and the least
// host minor.
#define HALOGEN_DEFINE_PLUGIN_WITH(plugin_id, plugin_name, plugin_version, plugin_licence,         \
                                   unload_policy, least_minor, host_variable, init_function,       \
                                   deinit_function, factory_function)                              \
  static halogen_status halogen_plugin_init_(const halogen_host* table, halogen_error* error) {    \
    host_variable = halogen::Host(table);                                                          \
    return halogen::guarded(error, [error] { return init_function(error); });                      \
  }                                                                                                \
  static void halogen_plugin_deinit_() {                                                           \
    halogen_error error = {sizeof(halogen_error), HALOGEN_OK, ""};                                 \
    const halogen_status status = halogen::guarded(&error, [] {                                    \
      deinit_function();                                                                           \
      return halogen_status(HALOGEN_OK);                                                           \
    });                                                                                            \
    if (status != HALOGEN_OK) host_variable.error(std::string("deinit failed: ") + error.message); \
    host_variable = halogen::Host();                                                               \
  }                                                                                                \
  static const halogen_plugin_descriptor halogen_plugin_descriptor_ = {                            \
      sizeof(halogen_plugin_descriptor),                                                           \
      plugin_id,                                                                                   \
      plugin_name,                                                                                 \
      plugin_version,                                                                              \
      plugin_licence,                                                                              \
      unload_policy};                                                                              \
  extern "C" HALOGEN_EXPORT const halogen_plugin halogen_plugin_entry;                             \
  const halogen_plugin halogen_plugin_entry = {sizeof(halogen_plugin),                             \
                                               HALOGEN_ABI_MAJOR,                                  \
                                               HALOGEN_ABI_MINOR,                                  \
                                               least_minor,                                        \
                                               0,                                                  \
                                               &halogen_plugin_descriptor_,                        \
                                               halogen_plugin_init_,                               \
                                               halogen_plugin_deinit_,                             \
                                               factory_function}

#endif
