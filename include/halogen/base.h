/* halogen SDK: status codes, errors, strings, and the rules that every header here follows.
 *
 * THE RULES
 *
 * Versions.  HALOGEN_ABI_MAJOR changes when an old plugin can no longer work; HALOGEN_ABI_MINOR
 * changes when something was added at the end of a struct or a new call or kind appeared. The host
 * accepts a plugin whose major equals its own and whose `least_host_minor` is not above its own
 * minor.
 *
 * Structs.  Every struct that crosses the boundary begins with `struct_size`, set by whoever fills
 * it to sizeof its own view of the struct. Structs grow at their end only, a new member
 * beginning at or beyond the old size (never in its padding). A reader uses a member that is newer
 * than ABI 1.0 only when HALOGEN_HAS(struct, member) says that the writer knew it. All functions of
 * a table are required unless the comment beside them says that they may be null. Structs without
 * struct_size never grow.
 *
 * Ownership.  Handles are opaque and destroyed by the table that made them. Pointers passed in are
 * borrowed until the call returns, unless the comment beside them says otherwise. Strings are not
 * terminated unless they are `const char *`.
 *
 * Errors.  A call that can fail returns a halogen_status and takes a caller-owned halogen_error,
 * which may be null. The message is one sentence: what, where (file, tensor, key), and what to do.
 * It stays valid after the plugin is unloaded, because the caller owns it.
 *
 * Threads.  Every function carries one of these tags:
 *   [loop]    runs on the host's event loop; never blocks, returns within a millisecond
 *   [worker]  runs on a thread of its own and may take seconds
 *   [device]  serialised per instance by the host; the caller waits for it, so it does not dawdle
 *   [any]     any thread at any time, concurrently with itself
 *
 * No C++ type, exception, FILE*, or allocation crosses the boundary: what a plugin allocates it
 * frees.
 */
#ifndef HALOGEN_BASE_H
#define HALOGEN_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
#define HALOGEN_EXTERN_C extern "C"
#define HALOGEN_BEGIN extern "C" {
#define HALOGEN_END }
#else
#define HALOGEN_EXTERN_C
#define HALOGEN_BEGIN
#define HALOGEN_END
#endif

#define HALOGEN_EXPORT __attribute__((visibility("default")))

/* True when the writer of *object (a struct beginning with struct_size) knew `member`. */
#define HALOGEN_HAS(object, member) \
  ((object)->struct_size >=         \
   (size_t)((const char*)&(object)->member - (const char*)(object)) + sizeof((object)->member))

#define HALOGEN_ABI_MAJOR 1
#define HALOGEN_ABI_MINOR 1

HALOGEN_BEGIN

typedef int32_t halogen_status;
enum {
  HALOGEN_OK = 0,
  HALOGEN_E_INVALID = 1,     /* the input is wrong; the message says which part */
  HALOGEN_E_NOT_FOUND = 2,   /* a file, key, device or symbol that is not there */
  HALOGEN_E_UNSUPPORTED = 3, /* understood, but not something this plugin or version does */
  HALOGEN_E_NO_MEMORY = 4,   /* host or device memory ran out; nothing was changed */
  HALOGEN_E_IO = 5,          /* the operating system refused a read or write */
  HALOGEN_E_DEVICE_LOST = 6, /* the device or driver is gone; the instance must be destroyed */
  HALOGEN_E_TIMEOUT = 7,     /* a deadline passed; the work may still be running */
  HALOGEN_E_CANCELLED = 8,   /* stopped because the caller asked for it */
  HALOGEN_E_VERSION = 9,     /* ABI or format version that cannot be served */
  HALOGEN_E_BUSY = 10,       /* a resource is in use or full; trying again later may work */
  HALOGEN_E_INTERNAL = 11    /* a bug; the message says where */
};

/* [any] A status as a word, for logs: "invalid", "not found". Never null. */
static inline const char* halogen_status_name(halogen_status status) {
  static const char* const names[] = {
      "ok",        "invalid",       "not found", "unsupported", "out of memory",
      "I/O error", "device lost",   "timed out", "cancelled",   "version mismatch",
      "busy",      "internal error"};
  return status >= 0 && status <= HALOGEN_E_INTERNAL ? names[status] : "unknown status";
}

/* Where a failing call writes its one sentence. Owned by the caller, who sets struct_size and an
 * empty message; the callee fills message and terminates it. */
typedef struct halogen_error {
  uint32_t struct_size;
  halogen_status status;
  char message[1016];
} halogen_error;

/* A borrowed UTF-8 (or raw byte) string of `size` bytes; not terminated. data may be null if size
 * is 0. */
typedef struct halogen_string {
  const char* data;
  size_t size;
} halogen_string;

/* [any] Fills *error (if not null) and returns `status`, so that a callee can `return
 * halogen_fail(...)`. */
static inline halogen_status halogen_fail(halogen_error* error, halogen_status status,
                                          const char* message) {
  if (error) {
    size_t n = strlen(message);
    if (n >= sizeof error->message) n = sizeof error->message - 1;
    memcpy(error->message, message, n);
    error->message[n] = '\0';
    error->status = status;
  }
  return status;
}

HALOGEN_END

#endif
