// The backend's own copy of the weight matrices: on huge pages, and in the order in which its
// kernels read them.
//
// A server is ready without the copy, because every kernel also reads the file's layout and gives
// the same bits from it. So the copy is made on a thread of its own while steps already run. Each
// matrix is taken from its copy as soon as that is whole, and the original is released when the
// step that may still read it is over: in all there is memory for the weights and one matrix.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "halogen/backend.h"

#include "plugins/cpu/kernels/kernel_set.h"
#include "plugins/cpu/memory.h"
#include "plugins/cpu/thread_team.h"

namespace halogen::cpu {

struct Settings;

// A matrix as products and look-ups see it.
struct WeightMatrix {
  halogen_type type;
  uint32_t rows;
  uint32_t k;
  uint32_t panel_rows;  // of the copy; 0: it has the file's layout
  uint64_t row_bytes;
  const uint8_t* file;
  std::atomic<const uint8_t*> copy{nullptr};  // whole, once it is there

  uint64_t copy_bytes() const;

  // [any] What `kernel` reads: the weights of a call.
  void give_to(LinearCall& call) const;
  // [any] Row `row` as F32; out [k].
  void read_row(const KernelSet& kernels, uint64_t row, float* out) const;
};

class WeightCopies final : public TeamJob {
 public:
  // `weights` may be null to find out only how much memory it takes. Both outlive the copies.
  WeightCopies(const halogen_graph& graph, const halogen_weight_data* weights,
               const Settings& settings);
  ~WeightCopies();  // ends the copying

  // [any] The matrix of a weight of the graph that products or look-ups read; null of another one.
  const WeightMatrix* find(uint32_t weight) const;
  uint64_t bytes() const { return bytes_; }                    // of all copies
  uint64_t original_bytes() const { return original_bytes_; }  // of what is copied

  // [worker] Makes all copies on a team that has nothing else to do. False: there is no memory for
  // them.
  bool make(ThreadTeam& team, const halogen_program_request& request);
  // [worker] Begins to make them while `team` runs steps, on a thread from the host.
  halogen_status begin(const halogen_host* host, const ThreadTeam& team,
                       const halogen_program_request& request, halogen_error* error);

  // [any] Bytes of matrices that have no copy yet.
  uint64_t pending_bytes() const { return pending_bytes_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    WeightMatrix matrix;
    uint32_t weight;                     // index in the graph
    uint64_t offset;                     // into memory_
    std::atomic<uint32_t> next_part{0};  // that a member of the team takes
  };
  struct Original {
    uint32_t weight;
    uint32_t ticket;  // of the last step that may read it
  };

  bool take_memory(const halogen_program_request& request);
  void run(unsigned member) override;
  void copy_behind();
  void copy_part(const Entry& entry, uint32_t part);
  void publish(Entry& entry);
  void release_read(std::vector<Original>& originals);

  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<Entry*> by_weight_;  // [graph's weights]
  uint64_t bytes_ = 0;
  uint64_t original_bytes_ = 0;
  Memory memory_;
  std::atomic<uint64_t> pending_bytes_{0};
  void (*release_)(void* context, uint32_t weight) = nullptr;
  void* release_context_ = nullptr;

  const halogen_host* host_ = nullptr;
  const ThreadTeam* team_ = nullptr;
  halogen_thread* thread_ = nullptr;
  std::atomic<bool> stopping_{false};
};

}  // namespace halogen::cpu
