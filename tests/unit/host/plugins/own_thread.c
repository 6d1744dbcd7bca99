/* Starts a thread past the host and lets it go. The thread waits for a byte on the descriptor
 * that the environment names, or spins until there is one where PROBE_SPINS is defined. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "entry.h"

static void* work(void* argument) {
  const int file = atoi(getenv("PROBE_RELEASE_FD"));
  char byte = 0;
  (void)argument;
#ifdef PROBE_SPINS
  for (volatile int ready = 0; ready == 0;) ioctl(file, FIONREAD, &ready);
#endif
  while (read(file, &byte, 1) < 0) {
  }
  return NULL;
}

static halogen_status init(const halogen_host* host, halogen_error* error) {
  pthread_t thread;
  (void)host;
  if (pthread_create(&thread, NULL, work, NULL) != 0)
    return halogen_fail(error, HALOGEN_E_NO_MEMORY, "no thread");
  pthread_setname_np(thread, "own-thread");
  pthread_detach(thread);
  return HALOGEN_OK;
}
static void deinit(void) {}
static int answer(void) {
  return 8;
}

PROBE_ENTRY("Own thread");
