#include "core/serve/factory_checks.h"

#include <cstddef>
#include <cstring>
#include <span>

namespace halogen {
namespace {

struct Function {
  const char* name;
  size_t offset;  // of its pointer in the table
};

Status check(const std::string& plugin_id, const char* kind, const void* factory,
             std::span<const Function> functions) {
  uint32_t struct_size = 0;  // every table begins with it
  if (factory) std::memcpy(&struct_size, factory, sizeof struct_size);
  for (const Function& function : functions) {
    const void* pointer = nullptr;
    if (struct_size >= function.offset + sizeof pointer) {
      std::memcpy(&pointer, static_cast<const char*>(factory) + function.offset, sizeof pointer);
    }
    if (!pointer) {
      return fail(HALOGEN_E_INVALID, "plugin '" + plugin_id + "': its " + kind + " table has no '" +
                                         function.name + "', which " + kind + "s must have");
    }
  }
  return {};
}

}  // namespace

Status check_factory(const std::string& plugin_id, const halogen_loader_factory* factory) {
  using Table = halogen_loader_factory;
  static constexpr Function functions[] = {
      {"probe", offsetof(Table, probe)},
      {"open", offsetof(Table, open)},
      {"close", offsetof(Table, close)},
      {"file_count", offsetof(Table, file_count)},
      {"file_path", offsetof(Table, file_path)},
      {"metadata_count", offsetof(Table, metadata_count)},
      {"metadata_at", offsetof(Table, metadata_at)},
      {"metadata_find", offsetof(Table, metadata_find)},
      {"tensor_count", offsetof(Table, tensor_count)},
      {"tensor_at", offsetof(Table, tensor_at)},
  };
  return check(plugin_id, "loader", factory, functions);
}

Status check_factory(const std::string& plugin_id, const halogen_backend_factory* factory) {
  using Table = halogen_backend_factory;
  static constexpr Function functions[] = {
      {"device_at", offsetof(Table, device_at)},
      {"create", offsetof(Table, create)},
      {"destroy", offsetof(Table, destroy)},
      {"supports", offsetof(Table, supports)},
      {"memory_need", offsetof(Table, memory_need)},
      {"program_create", offsetof(Table, program_create)},
      {"program_destroy", offsetof(Table, program_destroy)},
      {"kv_create", offsetof(Table, kv_create)},
      {"kv_destroy", offsetof(Table, kv_destroy)},
      {"kv_copy", offsetof(Table, kv_copy)},
      {"kv_export", offsetof(Table, kv_export)},
      {"kv_import", offsetof(Table, kv_import)},
      {"step_submit", offsetof(Table, step_submit)},
      {"step_wait", offsetof(Table, step_wait)},
      {"option_set", offsetof(Table, option_set)},
      {"counters", offsetof(Table, counters)},
  };
  return check(plugin_id, "backend", factory, functions);
}

Status check_factory(const std::string& plugin_id, const halogen_sampler_factory* factory) {
  using Table = halogen_sampler_factory;
  static constexpr Function functions[] = {
      {"create", offsetof(Table, create)},
      {"destroy", offsetof(Table, destroy)},
      {"check", offsetof(Table, check)},
      {"state_create", offsetof(Table, state_create)},
      {"state_destroy", offsetof(Table, state_destroy)},
      {"sample", offsetof(Table, sample)},
      {"accept", offsetof(Table, accept)},
  };
  return check(plugin_id, "sampler", factory, functions);
}

Status check_factory(const std::string& plugin_id, const halogen_scheduler_factory* factory) {
  using Table = halogen_scheduler_factory;
  static constexpr Function functions[] = {
      {"create", offsetof(Table, create)},
      {"destroy", offsetof(Table, destroy)},
      {"plan", offsetof(Table, plan)},
  };
  return check(plugin_id, "scheduler", factory, functions);
}

}  // namespace halogen
