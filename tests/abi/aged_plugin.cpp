// Wraps one of halogen's own plugins so that it looks as if it came from another age.
//
// With AGED_OLD, its tables are those of ABI 1.0: no longer than they were then, and what lies
// behind them cannot be read, so that a host that looks further ends. With AGED_NEW, entry,
// descriptor and tables are longer than this host knows and it was built for a later minor; what it
// gets is what a host of ABI 1.0 hands over: structs of that time, behind which nothing can be
// read.
//
// The plugin's own plugin.cpp is compiled with its entry renamed to wrapped_plugin_entry.
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "layout.h"

extern "C" const halogen_plugin wrapped_plugin_entry;

namespace {

// A place that ends where nothing can be read. Kept for good.
class Brink {
 public:
  // The struct, cut to `size` bytes and telling so.
  template <typename Struct>
  const Struct* put(const Struct* value, uint32_t size) {
    void* place = end_ - size;
    std::memcpy(place, value, size);
    std::memcpy(place, &size, sizeof size);  // struct_size
    return static_cast<const Struct*>(place);
  }

 private:
  static char* map() {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* pages =
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(static_cast<char*>(pages) + page, page, PROT_NONE) != 0)
      std::abort();
    return static_cast<char*>(pages) + page;
  }
  char* end_ = map();
};

struct Table {
  const char* kind;
  uint32_t size;        // as it is now
  uint32_t first_size;  // in ABI 1.0
};
constexpr Table kTables[] = {
    {HALOGEN_LOADER_KIND, sizeof(halogen_loader_factory),
     halogen::test::first_size("halogen_loader_factory")},
    {HALOGEN_BACKEND_KIND, sizeof(halogen_backend_factory),
     halogen::test::first_size("halogen_backend_factory")},
    {HALOGEN_SAMPLER_KIND, sizeof(halogen_sampler_factory),
     halogen::test::first_size("halogen_sampler_factory")},
    {HALOGEN_SCHEDULER_KIND, sizeof(halogen_scheduler_factory),
     halogen::test::first_size("halogen_scheduler_factory")},
};

struct Head {
  uint32_t struct_size;
};

#ifdef AGED_OLD

#define AGE "old"
constexpr uint16_t kMinor = 0;
constexpr uint16_t kLeastHostMinor = 0;

struct Entry {
  halogen_plugin plugin;
};
struct Descriptor {
  halogen_plugin_descriptor descriptor;
};
constexpr uint32_t kEntrySize = halogen::test::first_size("halogen_plugin");
constexpr uint32_t kDescriptorSize = halogen::test::first_size("halogen_plugin_descriptor");

const void* aged(const Table& table, const void* factory) {
  static Brink brink;
  return brink.put(static_cast<const Head*>(factory), table.first_size);
}

#else

#define AGE "new"
constexpr uint16_t kMinor = HALOGEN_ABI_MINOR + 7;
constexpr uint16_t kLeastHostMinor = HALOGEN_ABI_MINOR;

struct Entry {
  halogen_plugin plugin;
  const void* more[4] = {};
};
struct Descriptor {
  halogen_plugin_descriptor descriptor;
  const void* more[4] = {};
};
constexpr uint32_t kEntrySize = sizeof(Entry);
constexpr uint32_t kDescriptorSize = sizeof(Descriptor);

halogen_sampler_factory sampler;
halogen_scheduler_factory scheduler;

// For the duration of a call, which is made on one thread at a time.
template <typename Struct>
const Struct* of_old_host(const Struct* value, const char* name) {
  thread_local Brink brink;
  return brink.put(value, halogen::test::first_size(name));
}

halogen_status check(const halogen_sampling_parameters* parameters, halogen_error* error) {
  return sampler.check(of_old_host(parameters, "halogen_sampling_parameters"), error);
}

halogen_status state_create(halogen_sampler* instance,
                            const halogen_sampling_parameters* parameters, const int32_t* prompt,
                            uint32_t n_prompt, uint32_t max_tokens, halogen_sampling_state** state,
                            halogen_error* error) {
  return sampler.state_create(instance, of_old_host(parameters, "halogen_sampling_parameters"),
                              prompt, n_prompt, max_tokens, state, error);
}

halogen_status sample(halogen_sampler* instance, const halogen_sample_batch* batch,
                      halogen_error* error) {
  return sampler.sample(instance, of_old_host(batch, "halogen_sample_batch"), error);
}

halogen_status plan(halogen_scheduler* instance, const halogen_schedule_view* view,
                    halogen_schedule_plan* plan, halogen_error* error) {
  return scheduler.plan(instance, of_old_host(view, "halogen_schedule_view"), plan, error);
}

const void* aged(const Table& table, const void* factory) {
  alignas(16) static char space[1024];
  std::memset(space, 0xff, sizeof space);  // what a later member may hold
  std::memcpy(space, factory, table.size);
  const uint32_t size = table.size + 64;
  std::memcpy(space, &size, sizeof size);
  if (std::strcmp(table.kind, HALOGEN_SAMPLER_KIND) == 0) {
    std::memcpy(&sampler, factory, sizeof sampler);
    auto* longer = reinterpret_cast<halogen_sampler_factory*>(space);
    longer->check = check;
    longer->state_create = state_create;
    longer->sample = sample;
  }
  if (std::strcmp(table.kind, HALOGEN_SCHEDULER_KIND) == 0) {
    std::memcpy(&scheduler, factory, sizeof scheduler);
    reinterpret_cast<halogen_scheduler_factory*>(space)->plan = plan;
  }
  return space;
}

#endif

// Says that it was used: a test compares answers, which are the same.
halogen_status init(const halogen_host* host, halogen_error* error) {
  constexpr char text[] = AGE " " AGED_ID;
  host->log(host, HALOGEN_LOG_WARNING, {text, sizeof text - 1});
  return wrapped_plugin_entry.init(host, error);
}
void deinit() {
  wrapped_plugin_entry.deinit();
}
// Asked for its one kind again and again, it gives the same table.
const void* get_factory(const char* kind) {
  static const void* made = nullptr;
  const void* factory = wrapped_plugin_entry.get_factory(kind);
  if (!factory || made) return factory ? made : nullptr;
  for (const Table& table : kTables)
    if (std::strcmp(table.kind, kind) == 0) made = aged(table, factory);
  return made;
}

const Descriptor descriptor = {
    {kDescriptorSize, AGED_ID, "Aged", AGED_VERSION, "Apache-2.0", HALOGEN_UNLOAD}};

}  // namespace

extern "C" HALOGEN_EXPORT const Entry halogen_plugin_entry;
const Entry halogen_plugin_entry = {{kEntrySize, HALOGEN_ABI_MAJOR, kMinor, kLeastHostMinor, 0,
                                     &descriptor.descriptor, init, deinit, get_factory}};
