// The loops around the linear kernels of quantised weights.
//
// A panel is a run of blocks of kRows neighbouring rows. For many tokens it is unpacked once, to
// whatever the kernel's register tile likes, and all tokens of the call run over it while it is in
// the first-level cache. A few tokens are multiplied straight from registers, block by block, while
// the next blocks are on their way from memory. Rows are the lanes of a vector: a block's integer
// sums of all rows are one vector, and so is the float chain over the blocks.
//
// A kernel is a struct with
//   Block, Activations                the types of a weight block and of a block of activations
//   kElements                         elements of a block
//   kRows, kTokens                    rows of a panel; the most tokens of a register tile
//   kDirectTokens                     how many tokens are multiplied without a panel
//   PanelBlock                        one block of kRows rows, unpacked
//   static void unpack(rows, PanelBlock& out), where rows is const Block* const (&)[kRows] or, with
//       several rows, InterleavedBlock<Block, kRows>
//   template <int Tokens> static void tile(const PanelBlock* panel, size_t n_blocks, const
//       Activations* const (&x)[Tokens], float* const (&y)[Tokens], size_t n_rows, bool first);
//   Total                             a token's accumulators of kRows rows
//   template <int Tokens> static void add(rows, const Activations* const (&x)[Tokens], size_t b,
//                                         Total (&totals)[Tokens]), with block b of the tokens
//   static void store(Total, float* y, size_t n_rows);
// tile adds the products of n_blocks blocks to y[t][0 .. n_rows - 1], or puts them there when they
// are the first ones. Each (row, token) has an accumulator of its own that takes the blocks one
// after the other: a float may rest in y between two blocks without changing. That is what makes a
// result independent of the batch, of the panel and of the split over threads.
//
// Implementation header: in an unnamed namespace, see float_formats.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/cpu/kernels/interleave.h"
#include "plugins/cpu/kernels/kernel_set.h"

namespace halogen::cpu {
namespace {

// What an unpacked panel may take of the first-level cache (32 KiB or more).
inline constexpr size_t kPanelBytes = 20 * 1024;
// How far ahead interleaved weights are asked for while several tokens are multiplied.
inline constexpr size_t kAheadBytes = 4096;
inline constexpr size_t kCacheLine = 64;

// Where the rows of a panel are in the file's layout, block by block.
template <class Kernel>
class FileWalk {
  using Block = typename Kernel::Block;
  static constexpr size_t kRows = Kernel::kRows;

 public:
  FileWalk(const LinearCall& call, size_t row, size_t n_rows, size_t first_block)
      : prefetch_(row + kRows < call.row_end) {
    const auto* weights = static_cast<const uint8_t*>(call.weights);
    for (size_t r = 0; r < kRows; ++r)  // lanes without a row repeat the last one
      blocks_[r] = reinterpret_cast<const Block*>(weights + (row + (r < n_rows ? r : n_rows - 1)) *
                                                                call.row_bytes) +
                   first_block;
    ahead_ = weights + (row + kRows) * call.row_bytes + first_block * sizeof(Block) * kRows;
  }
  static constexpr bool kFetchesItself = false;
  const Block* const (&rows() const)[kRows] { return blocks_; }
  void prefetch_ahead() {
    // The next panel is the next run of memory; that of this one would be kRows streams.
    if (prefetch_)
      for (size_t line = 0; line < sizeof(Block) * kRows; line += kCacheLine)
        __builtin_prefetch(ahead_ + line, 0, 2);
    ahead_ += sizeof(Block) * kRows;
  }
  void next() {
    for (auto& block : blocks_) ++block;
  }

 private:
  const Block* blocks_[kRows];
  const uint8_t* ahead_;
  bool prefetch_;
};

// The same of interleaved weights, which are one run of memory.
template <class Kernel>
class InterleavedWalk {
  using Block = typename Kernel::Block;
  static constexpr size_t kRows = Kernel::kRows;

 public:
  InterleavedWalk(const LinearCall& call, size_t row, size_t /*n_rows*/, size_t first_block)
      : block_{static_cast<const uint8_t*>(call.weights) + row * call.row_bytes +
               first_block * sizeof(Block) * kRows} {}
  // The processor sees the pattern, as long as it has little else to do.
  static constexpr bool kFetchesItself = true;
  InterleavedBlock<Block, kRows> rows() const { return block_; }
  void prefetch_ahead() {
    for (size_t line = 0; line < sizeof(Block) * kRows; line += kCacheLine)
      __builtin_prefetch(block_.bytes + kAheadBytes + line, 0, 2);
  }
  void next() { block_.bytes += sizeof(Block) * kRows; }

 private:
  InterleavedBlock<Block, kRows> block_;
};

// A call's rows, blocks and tokens as one kernel sees them.
template <class Kernel, class Walk>
class PanelLoops {
 public:
  explicit PanelLoops(const LinearCall& call)
      : call_(call), n_blocks_(call.k / Kernel::kElements) {}

  void run() {
    if (call_.n_tokens <= Kernel::kDirectTokens) return run_direct();
    // The same blocks of all panels, for which the activations stay in the second-level cache.
    constexpr size_t kLength = kPanelBytes / sizeof(PanelBlock);
    for (size_t begin = 0; begin < n_blocks_; begin += kLength) {
      const size_t n = n_blocks_ - begin < kLength ? n_blocks_ - begin : kLength;
      for (size_t row = call_.row_begin; row < call_.row_end; row += kRows)
        run_panel(row, begin, n);
    }
  }

 private:
  using PanelBlock = typename Kernel::PanelBlock;
  using Activations = typename Kernel::Activations;
  static constexpr size_t kRows = Kernel::kRows;

  size_t rows_from(size_t row) const {
    return call_.row_end - row < kRows ? call_.row_end - row : kRows;
  }

  void run_panel(size_t row, size_t first_block, size_t n_blocks) {
    const size_t n_rows = rows_from(row);
    Walk walk(call_, row, n_rows, first_block);
    for (size_t b = 0; b < n_blocks; ++b, walk.next()) {
      walk.prefetch_ahead();
      Kernel::unpack(walk.rows(), panel_[b]);
    }
    for_each_tile([&](size_t token, size_t n) {
      run_tile<Kernel::kTokens>(n, token, row, n_rows, first_block, n_blocks);
    });
  }

  // Cuts the tokens into tiles of nearly equal size: small ones cannot hide the latency of an
  // addition. Calls run(first token, number of tokens).
  template <class Run>
  void for_each_tile(Run run) {
    const size_t n_tiles = (call_.n_tokens + Kernel::kTokens - 1) / Kernel::kTokens;
    for (size_t tile = 0, token = 0; tile < n_tiles; ++tile) {
      const size_t n = (call_.n_tokens - token) / (n_tiles - tile);
      run(token, n);
      token += n;
    }
  }

  void run_direct() {
    for (size_t row = call_.row_begin; row < call_.row_end; row += kRows)
      for_each_tile(
          [&](size_t token, size_t n) { run_direct_tile<Kernel::kTokens>(n, token, row); });
  }

  // Tokens or fewer.
  template <int Tokens>
  void run_direct_tile(size_t n_tokens, size_t token, size_t row) {
    if constexpr (Tokens > 1)
      if (n_tokens < Tokens) return run_direct_tile<Tokens - 1>(n_tokens, token, row);
    const Activations* x[Tokens];
    for (int t = 0; t < Tokens; ++t) x[t] = activations_of(token + t);
    const size_t n_rows = rows_from(row);
    Walk walk(call_, row, n_rows, 0);
    typename Kernel::Total totals[Tokens] = {};
    for (size_t b = 0; b < n_blocks_; ++b, walk.next()) {
      if (Tokens > 1 || !Walk::kFetchesItself) walk.prefetch_ahead();
      Kernel::template add<Tokens>(walk.rows(), x, b, totals);
    }
    for (int t = 0; t < Tokens; ++t) Kernel::store(totals[t], output_of(token + t) + row, n_rows);
  }

  template <int Tokens>
  void run_tile(size_t n_tokens, size_t token, size_t row, size_t n_rows, size_t first_block,
                size_t n_blocks) {
    if constexpr (Tokens > 1)
      if (n_tokens < Tokens)
        return run_tile<Tokens - 1>(n_tokens, token, row, n_rows, first_block, n_blocks);
    const Activations* x[Tokens];
    float* y[Tokens];
    for (int t = 0; t < Tokens; ++t) {
      x[t] = activations_of(token + t) + first_block;
      y[t] = output_of(token + t) + row;
    }
    Kernel::template tile<Tokens>(panel_, n_blocks, x, y, n_rows, first_block == 0);
  }

  const Activations* activations_of(size_t token) const {
    const size_t row = call_.activation_rows ? call_.activation_rows[token] : token;
    return reinterpret_cast<const Activations*>(static_cast<const uint8_t*>(call_.activations) +
                                                row * call_.activation_stride_bytes);
  }
  float* output_of(size_t token) const {
    return call_.y + (call_.output_rows ? call_.output_rows[token] : token) * call_.y_stride;
  }

  const LinearCall& call_;
  size_t n_blocks_;
  alignas(kCacheLine) PanelBlock panel_[kPanelBytes / sizeof(PanelBlock)];
};

template <class Kernel>
void run_panels(const LinearCall& call) {
  if constexpr (Kernel::kRows > 1)
    if (call.interleaved) return PanelLoops<Kernel, InterleavedWalk<Kernel>>(call).run();
  PanelLoops<Kernel, FileWalk<Kernel>>(call).run();
}

}  // namespace
}  // namespace halogen::cpu
