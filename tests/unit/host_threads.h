// A host that has nothing but threads: for tests and benches of what starts some.
#pragma once

#include <thread>

#include "halogen/host.h"

namespace halogen::test {

inline const halogen_host& host_threads() {
  static const halogen_host host = [] {
    halogen_host table{};
    table.struct_size = sizeof table;
    table.thread_start = [](const halogen_host*, const char*, halogen_run run, void* argument,
                            halogen_thread** thread, halogen_error*) -> halogen_status {
      *thread = reinterpret_cast<halogen_thread*>(new std::thread(run, argument));
      return HALOGEN_OK;
    };
    table.thread_join = [](const halogen_host*, halogen_thread* thread) {
      auto* joined = reinterpret_cast<std::thread*>(thread);
      joined->join();
      delete joined;
    };
    return table;
  }();
  return host;
}

}  // namespace halogen::test
