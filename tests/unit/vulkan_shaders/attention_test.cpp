// Storing K and V in the paged pool and attending to them, beside float64: by splits and by tiles.
#include "core/check/reference/attention.h"

#include <array>
#include <cstddef>

#include "tests/unit/vulkan_shaders/support.h"

namespace halogen::vulkan::testing {
namespace {

struct Shape {
  size_t kv_heads = 2, group = 3;
  uint32_t key_dim = 64, value_dim = 64;
  halogen_type key_type = HALOGEN_F16, value_type = HALOGEN_F16;
  uint32_t block_tokens = 16;
  halogen_attend_attributes attributes{0, 1, 0, 0.125F, 0, 0};
  bool sinks = false;
  float spread = 1;
  // Tokens that each of the two sequences brings to each step.
  std::vector<std::array<uint32_t, 2>> steps = {{65, 20}, {1, 1}, {1, 7}};
  uint32_t heads_at_once = 2;
  uint32_t split_positions = 32;
  uint32_t query_rows = 16, tile_positions = 8;

  size_t heads() const { return kv_heads * group; }
};

constexpr uint32_t kContext = 192;

// One step's arrays, on the host for the reference and on the device behind StepTables.
class Step {
 public:
  Step(const Gpu& gpu, const Shape& shape, std::array<uint32_t, 2>& lengths,
       const std::array<uint32_t, 2>& tokens)
      : blocks_per_sequence_(groups_of(kContext, shape.block_tokens)) {
    for (uint32_t s = 0; s < 2; s++) {
      starts_.push_back(n_tokens());
      // Every second block, from the end for one sequence and from the start for the other.
      for (uint32_t b = 0; b < blocks_per_sequence_; b++)
        tables_.push_back(s == 0 ? 2 * b : 2 * (blocks_per_sequence_ - b) - 1);
      add_tiles(shape, s, tokens[s]);
      for (uint32_t t = 0; t < tokens[s]; t++) {
        const uint32_t position = lengths[s]++;
        positions_.push_back(static_cast<int32_t>(position));
        sequences_.push_back(s);
        slots_.push_back(table(s)[position / shape.block_tokens] * shape.block_tokens +
                         position % shape.block_tokens);
      }
      lengths_.push_back(lengths[s]);
    }
    starts_.push_back(n_tokens());
    upload(gpu, shape);
  }

  uint32_t n_tokens() const { return static_cast<uint32_t>(positions_.size()); }
  uint32_t n_tiles() const { return static_cast<uint32_t>(tiles_.size()); }
  uint64_t tables() const { return step_->address(); }
  uint64_t slots() const { return buffers_[1]->address(); }
  uint64_t count() const { return tables() + offsetof(StepTables, n_tokens); }

  halogen_step reference() const {
    halogen_step step{};
    step.n_tokens = n_tokens();
    step.n_sequences = 2;
    step.positions = positions_.data();
    step.kv_slots = slots_.data();
    step.sequence_starts = starts_.data();
    step.context_lengths = lengths_.data();
    step.block_tables = tables_.data();
    step.block_table_stride = blocks_per_sequence_;
    return step;
  }

 private:
  const uint32_t* table(uint32_t sequence) const {
    return &tables_[sequence * blocks_per_sequence_];
  }

  void add_tiles(const Shape& shape, uint32_t sequence, uint32_t tokens) {
    const uint32_t each = shape.query_rows / shape.heads_at_once;
    for (uint32_t t = 0; t < tokens; t += each)
      tiles_.push_back({sequence, n_tokens() + t, std::min(each, tokens - t)});
  }

  void upload(const Gpu& gpu, const Shape& shape) {
    buffers_.push_back(gpu.upload(positions_));
    for (const auto* array : {&slots_, &sequences_, &lengths_, &tables_})
      buffers_.push_back(gpu.upload(*array));
    buffers_.push_back(gpu.upload(tiles_));
    StepTables tables{};
    tables.positions = buffers_[0]->address();
    tables.kv_slots = buffers_[1]->address();
    tables.token_sequences = buffers_[2]->address();
    tables.context_lengths = buffers_[3]->address();
    tables.block_tables = buffers_[4]->address();
    tables.query_tiles = buffers_[5]->address();
    tables.block_table_stride = blocks_per_sequence_;
    tables.n_tokens = n_tokens();
    tables.n_query_tiles = n_tiles();
    tables.split_positions = shape.split_positions;
    step_ = gpu.upload(std::vector<StepTables>{tables});
  }

  uint32_t blocks_per_sequence_;
  std::vector<int32_t> positions_;
  std::vector<uint32_t> slots_, sequences_, lengths_, tables_, starts_;
  std::vector<QueryTile> tiles_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Buffer> step_;
};

// One layer's pool, on the device and as the reference keeps it.
class Layer {
 public:
  Layer(Gpu& gpu, const Shape& shape)
      : gpu_(gpu),
        shape_(shape),
        cache_(
            {sizeof(halogen_kv_geometry), shape.block_tokens, shape.key_type, shape.value_type}) {
    const uint32_t blocks = 2 * groups_of(kContext, shape.block_tokens);
    // A little more than a block takes, as where K and V lie side by side.
    const auto block_bytes = [&](halogen_type type, uint32_t dim) {
      const auto rows = static_cast<uint32_t>(shape.kv_heads) * shape.block_tokens;
      return (rows * row_bytes(type, dim) + 15) / 16 * 16 + 32;
    };
    key_block_bytes_ = block_bytes(shape.key_type, shape.key_dim);
    value_block_bytes_ = block_bytes(shape.value_type, shape.value_dim);
    keys_ = gpu.make(size_t{blocks} * key_block_bytes_);
    values_ = gpu.make(size_t{blocks} * value_block_bytes_);
  }

  void run(const Step& step, std::mt19937& random) {
    const size_t tokens = step.n_tokens();
    const Values q(gpu_, {tokens, shape_.heads(), shape_.key_dim}, random, shape_.spread);
    const Values k(gpu_, {tokens, shape_.kv_heads, shape_.key_dim}, random, shape_.spread);
    const Values v(gpu_, {tokens, shape_.kv_heads, shape_.value_dim}, random);
    const Values sinks(gpu_, {1, shape_.heads()}, random, 2.0F);
    Tensor sink_values({shape_.heads()});
    sink_values.values = sinks.tensor.values;
    const Tensor expected =
        reference::attend(q.tensor, k.tensor, v.tensor, shape_.sinks ? &sink_values : nullptr,
                          shape_.attributes, step.reference(), cache_, reference::Precision::f32);
    store(step, k, shape_.key_type, shape_.key_dim, *keys_, key_block_bytes_);
    store(step, v, shape_.value_type, shape_.value_dim, *values_, value_block_bytes_);

    AttendConstants constants = describe(step, q);
    constants.sinks = shape_.sinks ? sinks.rows.address() : 0;
    attend_by_splits(constants, tokens, expected);
    if (::testing::Test::HasFatalFailure()) return;
    attend_by_tiles(constants, step, expected);
  }

 private:
  static uint32_t row_bytes(halogen_type type, uint32_t dim) {
    return static_cast<uint32_t>(halogen_row_bytes(type, dim));
  }

  void store(const Step& step, const Values& x, halogen_type type, uint32_t dim, const Buffer& pool,
             uint32_t block_bytes) {
    KvStoreConstants constants{};
    constants.x = x.rows.address();
    constants.kv_slots = step.slots();
    constants.count = step.count();
    constants.pool = pool.address();
    constants.heads = static_cast<uint32_t>(shape_.kv_heads);
    constants.head_dim = constants.head_stride = dim;
    constants.x_stride = x.rows.stride;
    constants.block_tokens = shape_.block_tokens;
    constants.row_bytes = row_bytes(type, dim);
    constants.block_bytes = block_bytes;
    const KvStoreSpecialization specialization{32, type};
    gpu_.run("kv_store", specialization, constants,
             kv_store_groups(specialization, constants.heads, dim, step.n_tokens() + 1));
  }

  AttendConstants describe(const Step& step, const Values& q) const {
    AttendConstants constants{};
    constants.q = q.rows.address();
    constants.keys = keys_->address();
    constants.values = values_->address();
    constants.step = step.tables();
    constants.kv_heads = static_cast<uint32_t>(shape_.kv_heads);
    constants.group = static_cast<uint32_t>(shape_.group);
    constants.q_stride = q.rows.stride;
    constants.q_head_stride = shape_.key_dim;
    constants.key_block_bytes = key_block_bytes_;
    constants.value_block_bytes = value_block_bytes_;
    constants.max_splits = groups_of(kContext, shape_.split_positions);
    constants.causal = shape_.attributes.causal;
    constants.window = shape_.attributes.window;
    constants.chunk = shape_.attributes.chunk;
    constants.scale = shape_.attributes.scale;
    constants.softcap = shape_.attributes.softcap;
    return constants;
  }

  // What both ways are made for.
  template <class Specialization>
  Specialization specialize() const {
    Specialization specialization;
    specialization.local_size = 64;
    specialization.key_type = shape_.key_type;
    specialization.value_type = shape_.value_type;
    specialization.key_dim = shape_.key_dim;
    specialization.value_dim = shape_.value_dim;
    specialization.block_tokens = shape_.block_tokens;
    specialization.heads = shape_.heads_at_once;
    return specialization;
  }

  void attend_by_splits(AttendConstants constants, size_t tokens, const Tensor& expected) {
    const auto n = static_cast<uint32_t>(tokens);
    const auto heads = static_cast<uint32_t>(shape_.heads());
    const auto partials = gpu_.make(
        sizeof(float) * attend_partial_floats(n, heads, constants.max_splits, shape_.value_dim));
    const Rows y = make_rows(gpu_, tokens, shape_.heads() * shape_.value_dim);
    constants.partials = partials->address();
    constants.y = y.address();
    constants.y_stride = y.stride;
    const auto specialization = specialize<AttendDecodeSpecialization>();
    gpu_.run("attend_decode", specialization, constants,
             attend_decode_groups(specialization, constants.kv_heads, constants.group, n,
                                  constants.max_splits));
    gpu_.run("attend_merge", AttendMergeSpecialization{32, shape_.value_dim}, constants,
             attend_merge_groups(heads, n));
    expect_rows(y, expected, "by splits");
  }

  void attend_by_tiles(AttendConstants constants, const Step& step, const Tensor& expected) {
    const Rows y = make_rows(gpu_, step.n_tokens(), shape_.heads() * shape_.value_dim);
    constants.y = y.address();
    constants.y_stride = y.stride;
    auto specialization = specialize<AttendPrefillSpecialization>();
    specialization.query_rows = shape_.query_rows;
    specialization.tile_positions = shape_.tile_positions;
    gpu_.run("attend_prefill", specialization, constants,
             attend_prefill_groups(specialization, constants.kv_heads, constants.group,
                                   step.n_tiles() + 1));
    expect_rows(y, expected, "by tiles");
  }

  Gpu& gpu_;
  const Shape& shape_;
  reference::KvCache cache_;
  uint32_t key_block_bytes_, value_block_bytes_;
  std::unique_ptr<Buffer> keys_, values_;
};

void run(Gpu& gpu, const Shape& shape) {
  std::mt19937 random(11);
  Layer layer(gpu, shape);
  std::array<uint32_t, 2> lengths{};
  for (const auto& tokens : shape.steps) {
    layer.run(Step(gpu, shape, lengths, tokens), random);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(AttentionShaders, KeepKeysAndValuesInEveryType) {
  HALOGEN_GPU_OR_SKIP(gpu);
  for (const auto& [key, value] :
       {std::pair(HALOGEN_F16, HALOGEN_F16), std::pair(HALOGEN_F32, HALOGEN_F32),
        std::pair(HALOGEN_Q8_0, HALOGEN_Q8_0), std::pair(HALOGEN_Q4_0, HALOGEN_Q4_0),
        std::pair(HALOGEN_Q8_0, HALOGEN_Q4_0), std::pair(HALOGEN_F32, HALOGEN_F16)}) {
    Shape shape;
    shape.key_type = key;
    shape.value_type = value;
    shape.spread = 0.5F;
    run(*gpu, shape);
    if (HasFatalFailure()) return;
  }
}

TEST(AttentionShaders, ShareKeysAmongHeads) {
  HALOGEN_GPU_OR_SKIP(gpu);
  struct Heads {
    size_t kv_heads, group;
    uint32_t at_once;
  };
  for (const Heads& heads : {Heads{3, 1, 1}, Heads{1, 5, 4}, Heads{2, 8, 8}}) {
    Shape shape;
    shape.kv_heads = heads.kv_heads;
    shape.group = heads.group;
    shape.heads_at_once = heads.at_once;
    run(*gpu, shape);
    if (HasFatalFailure()) return;
  }
}

TEST(AttentionShaders, TakeHeadsOfAnySize) {
  HALOGEN_GPU_OR_SKIP(gpu);
  for (const auto& [key, value] :
       {std::pair(128U, 128U), std::pair(80U, 80U), std::pair(48U, 32U), std::pair(20U, 13U),
        std::pair(13U, 20U), std::pair(64U, 256U)}) {
    Shape shape;
    shape.key_dim = key;
    shape.value_dim = value;
    shape.steps = {{33, 2}, {1, 1}};
    run(*gpu, shape);
    if (HasFatalFailure()) return;
  }
}

TEST(AttentionShaders, FollowBlocksOfAnySize) {
  HALOGEN_GPU_OR_SKIP(gpu);
  for (const uint32_t block_tokens : {1U, 3U, 32U, 256U}) {
    Shape shape;
    shape.block_tokens = block_tokens;
    run(*gpu, shape);
    if (HasFatalFailure()) return;
  }
}

TEST(AttentionShaders, SeeWhatTheyMay) {
  HALOGEN_GPU_OR_SKIP(gpu);
  const auto with = [&](auto change) {
    Shape shape;
    change(shape);
    run(*gpu, shape);
  };
  for (const uint32_t window : {1U, 7U, 40U}) with([&](Shape& s) { s.attributes.window = window; });
  for (const uint32_t chunk : {8U, 50U}) with([&](Shape& s) { s.attributes.chunk = chunk; });
  with([](Shape& s) {
    s.attributes.causal = 0;
    s.steps = {{37, 12}};
  });
}

TEST(AttentionShaders, CapScoresAndCountSinks) {
  HALOGEN_GPU_OR_SKIP(gpu);
  const auto with = [&](auto change) {
    Shape shape;
    change(shape);
    run(*gpu, shape);
  };
  with([](Shape& s) { s.attributes.softcap = 3; });
  with([](Shape& s) { s.sinks = true; });
  with([](Shape& s) {
    s.sinks = true;
    s.attributes.window = 9;
    s.attributes.softcap = 50;
  });
  with([](Shape& s) { s.spread = 4; });
}

// Splits that are shorter than what a workgroup takes at a time, and longer.
TEST(AttentionShaders, SplitAnywhere) {
  HALOGEN_GPU_OR_SKIP(gpu);
  for (const uint32_t positions : {32U, 96U, 192U}) {
    Shape shape;
    shape.split_positions = positions;
    shape.steps = {{100, 64}, {1, 1}, {33, 65}};
    run(*gpu, shape);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace halogen::vulkan::testing
