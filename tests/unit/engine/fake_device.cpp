#include "fake_device.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

namespace halogen::fake {

namespace {

uint64_t mix(uint64_t x) {  // the finalizer of splitmix64
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

uint64_t extend(uint64_t hash, int32_t token, int32_t position) {
  const uint64_t word =
      static_cast<uint64_t>(static_cast<uint32_t>(position)) << 32 | static_cast<uint32_t>(token);
  return mix(hash * 31 + word + 0x9E3779B97F4A7C15);
}

// From -4 to 4.
float logit(uint64_t hash, uint32_t token) {
  return static_cast<float>(mix(hash + token * 0x9E3779B97F4A7C15) >> 40) / (1 << 21) - 4.0F;
}

}  // namespace

std::vector<float> model_logits(std::span<const int32_t> context, uint32_t vocabulary_size) {
  uint64_t hash = 0;
  for (size_t i = 0; i < context.size(); i++)
    hash = extend(hash, context[i], static_cast<int32_t>(i));
  std::vector<float> logits(vocabulary_size);
  for (uint32_t i = 0; i < vocabulary_size; i++) logits[i] = logit(hash, i);
  return logits;
}

Device::Device(uint32_t vocabulary_size, uint32_t block_tokens, uint32_t blocks)
    : vocabulary_size_(vocabulary_size),
      block_tokens_(block_tokens),
      slots_(size_t{blocks} * block_tokens) {}

const halogen_backend_factory& Device::factory() {
  static const halogen_backend_factory table = [] {
    halogen_backend_factory made{};
    made.struct_size = sizeof made;
    made.name = "fake";
    made.flags = HALOGEN_BACKEND_BATCH_INVARIANT;
    made.step_submit = [](halogen_program* program, halogen_kv*, halogen_states*,
                          const halogen_step* step, uint64_t* ticket, halogen_error* error) {
      return reinterpret_cast<Device*>(program)->submit(*step, *ticket, error);
    };
    made.step_wait = [](halogen_program* program, uint64_t ticket, uint64_t, halogen_error* error) {
      return reinterpret_cast<Device*>(program)->wait(ticket, error);
    };
    made.kv_copy = [](halogen_kv* kv, const uint32_t* from, const uint32_t* to, uint32_t count,
                      halogen_error* error) {
      auto& device = *reinterpret_cast<Device*>(kv);
      if (device.copies_fail) return halogen_fail(error, HALOGEN_E_DEVICE_LOST, "no copy today");
      for (uint32_t i = 0; i < count; i++) device.copy(from[i], to[i]);
      return halogen_status{HALOGEN_OK};
    };
    made.kv_export = [](const halogen_kv* kv, uint32_t block, void* data, uint64_t bytes,
                        halogen_error* error) {
      auto& device = *reinterpret_cast<Device*>(const_cast<halogen_kv*>(kv));
      if (device.exports_fail || bytes != device.block_bytes())
        return halogen_fail(error, HALOGEN_E_DEVICE_LOST, "no export today");
      std::memcpy(data, device.slots_of(block), bytes);
      return halogen_status{HALOGEN_OK};
    };
    made.kv_import = [](halogen_kv* kv, uint32_t block, const void* data, uint64_t bytes,
                        halogen_error* error) {
      auto& device = *reinterpret_cast<Device*>(kv);
      if (device.imports_fail || bytes != device.block_bytes())
        return halogen_fail(error, HALOGEN_E_DEVICE_LOST, "no import today");
      std::memcpy(device.slots_of(block), data, bytes);
      return halogen_status{HALOGEN_OK};
    };
    made.counters = [](const halogen_program* program, halogen_counters* counters) {
      reinterpret_cast<const Device*>(program)->count(*counters);
    };
    return made;
  }();
  return table;
}

halogen_status Device::submit(const halogen_step& step, uint64_t& ticket, halogen_error* error) {
  if (before_step) before_step(step);
  if (in_flight_) fault("a step is submitted while another is in flight");
  if (submit_status != HALOGEN_OK)
    return halogen_fail(error, std::exchange(submit_status, HALOGEN_OK), "the queue is on fire");
  pending_ = step;  // its arrays are read when it is waited for: they have to stay as they are
  in_flight_ = true;
  ticket = ++ticket_;
  return HALOGEN_OK;
}

halogen_status Device::wait(uint64_t ticket, halogen_error* error) {
  if (!in_flight_ || ticket != ticket_) fault("a step is waited for that is not in flight");
  if (hanging_waits != 0) {
    if (hanging_waits != kForever) hanging_waits--;
    return halogen_fail(error, HALOGEN_E_TIMEOUT, "the device does not answer");
  }
  in_flight_ = false;
  if (wait_status != HALOGEN_OK)
    return halogen_fail(error, std::exchange(wait_status, HALOGEN_OK), "the device fell off");
  check(pending_);
  compute(pending_);
  steps++;
  tokens += pending_.n_tokens;
  most_sequences = std::max(most_sequences, pending_.n_sequences);
  most_tokens = std::max(most_tokens, pending_.n_tokens);
  if (after_step) after_step();
  return HALOGEN_OK;
}

void Device::copy(uint32_t from, uint32_t to) {
  if (in_flight_) fault("a block is copied while a step is in flight");
  std::copy_n(slots_of(from), block_tokens_, slots_of(to));
  copies++;
}

void Device::count(halogen_counters& counters) const {
  counters.bytes = kStepBytes + pending_.n_tokens * kTokenBytes;
  counters.operations = pending_.n_tokens * kTokenOperations;
  counters.submissions = 1;
  counters.device_seconds = kStepSeconds;
}

void Device::check(const halogen_step& step) {
  std::map<uint32_t, uint32_t> readers;  // sequences that have a block in their table
  std::set<uint32_t> written;
  for (uint32_t s = 0; s < step.n_sequences; s++) {
    const uint32_t from = step.sequence_starts[s], to = step.sequence_starts[s + 1];
    if (from >= to) fault("a sequence has no tokens");
    const uint32_t* table = step.block_tables + size_t{s} * step.block_table_stride;
    for (uint32_t t = from; t < to; t++) {
      const auto position = static_cast<uint32_t>(step.positions[t]);
      if (t > from && step.positions[t] != step.positions[t - 1] + 1)
        fault("positions do not follow each other");
      if (step.kv_slots[t] !=
          table[position / block_tokens_] * block_tokens_ + position % block_tokens_)
        fault("a slot is not where the block table says");
    }
    const uint32_t length = step.context_lengths[s];
    if (length != static_cast<uint32_t>(step.positions[to - 1]) + 1)
      fault("a context length is not the last position + 1");
    for (uint32_t b = 0; b < (length + block_tokens_ - 1) / block_tokens_; b++) readers[table[b]]++;
    for (uint32_t t = from; t < to; t++) written.insert(step.kv_slots[t] / block_tokens_);
  }
  for (const uint32_t block : written)
    if (readers[block] != 1) fault("a block that a sequence writes to is in another's table");
  if (step.sequence_starts[step.n_sequences] != step.n_tokens) fault("tokens without a sequence");
}

void Device::compute(const halogen_step& step) {
  for (uint32_t t = 0; t < step.n_tokens; t++)
    slots_[step.kv_slots[t]] = {step.token_ids[t], step.positions[t]};
  for (uint32_t r = 0; r < step.n_rows; r++) {
    const auto token = static_cast<uint32_t>(step.rows[r]);
    const auto* sequence =
        std::upper_bound(step.sequence_starts, step.sequence_starts + step.n_sequences, token) - 1;
    const auto s = static_cast<size_t>(sequence - step.sequence_starts);
    const uint32_t* table = step.block_tables + s * step.block_table_stride;
    uint64_t hash = 0;
    for (uint32_t p = 0; p <= static_cast<uint32_t>(step.positions[token]); p++) {
      const Slot& slot = slots_[table[p / block_tokens_] * block_tokens_ + p % block_tokens_];
      hash = extend(hash, slot.token, slot.position);
    }
    for (uint32_t i = 0; i < vocabulary_size_; i++)
      step.logits[size_t{r} * vocabulary_size_ + i] = logit(hash, i);
  }
}

void Device::fault(const std::string& what) {
  const std::lock_guard lock(mutex_);
  faults_.push_back(what);
}

std::vector<std::string> Device::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

}  // namespace halogen::fake
