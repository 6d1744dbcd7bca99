// The rows of a batch, shared out over threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "halogen/host.h"
#include "halogen/sampler.h"

#include "row.h"

namespace sampler {

// The calling thread and helpers that sleep between batches. Every member takes the next row that
// nobody has taken; what comes out of a row does not depend on who takes it. No lock and no
// allocation in sample().
class RowTeam {
 public:
  // [worker] `size` members, of which the caller is one; the others are threads of the host.
  // Without a host there is the caller alone. Null, with *error filled, when a thread cannot be
  // started.
  static std::unique_ptr<RowTeam> start(const halogen_host* host, unsigned size,
                                        uint32_t vocabulary_size, halogen_error* error);
  RowTeam(const RowTeam&) = delete;
  RowTeam& operator=(const RowTeam&) = delete;
  ~RowTeam();

  unsigned size() const { return static_cast<unsigned>(helpers_.size()) + 1; }

  // [device]
  void sample(const halogen_sample_batch& batch);

 private:
  struct Helper {
    Helper(RowTeam& its_team, uint32_t vocabulary_size) : team(its_team), rows(vocabulary_size) {}
    void serve();

    RowTeam& team;
    RowSampler rows;
    halogen_thread* thread = nullptr;
    alignas(64) std::atomic<uint32_t> calls{0};  // how often it was called to work
  };

  RowTeam(const halogen_host* host, uint32_t vocabulary_size)
      : host_(host), rows_(vocabulary_size) {}
  void take_rows(RowSampler& rows);

  const halogen_host* const host_;
  RowSampler rows_;  // the caller's
  std::vector<std::unique_ptr<Helper>> helpers_;
  const halogen_sample_batch* batch_ = nullptr;
  bool stopping_ = false;
  alignas(64) std::atomic<uint32_t> next_row_{0};
  alignas(64) std::atomic<uint32_t> at_work_{0};  // helpers that were called and are not done
};

}  // namespace sampler
