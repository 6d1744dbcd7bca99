// Has a thread_local object with a destructor, made by the thread that calls answer: the loader
// keeps the code until that thread ends.
#include "entry.h"

namespace {

struct Local {
  int value = 11;
  ~Local() { value = 0; }
};
thread_local Local local;

halogen_status init(const halogen_host*, halogen_error*) {
  return HALOGEN_OK;
}
void deinit() {}
int answer() {
  return local.value;
}

}  // namespace

PROBE_ENTRY("Thread-local");
