#include "plugins/cpu/row_stages.h"

#include <algorithm>
#include <cstring>

namespace halogen::cpu {
namespace {

// A stage from a callable, so that each one below is the few lines that do its work.
template <typename Body>
class BodyStage final : public RowStage {
 public:
  explicit BodyStage(Body body) : body_(std::move(body)) {}
  void run(const StepContext& context, uint32_t row) const override { body_(context, row); }

 private:
  Body body_;
};

template <typename Body>
Stage stage(Body body) {
  return std::make_unique<BodyStage<Body>>(std::move(body));
}

using Unary = void (*)(const float*, size_t, float*);

Unary activation_kernel(const KernelSet& kernels, halogen_activation activation) {
  switch (activation) {
    case HALOGEN_SILU:
      return kernels.silu;
    case HALOGEN_GELU_TANH:
      return kernels.gelu_tanh;
    case HALOGEN_GELU_ERF:
      return kernels.gelu_erf;
    case HALOGEN_RELU:
      return kernels.relu;
    case HALOGEN_SIGMOID:
      return kernels.sigmoid;
    case HALOGEN_SWIGLU_CLAMPED:
      break;
  }
  return nullptr;
}

}  // namespace

void RowOperation::run(const StepContext& context, uint32_t index, float* /*scratch*/) const {
  const uint32_t rows = context.count(domain_);
  const uint32_t batch = std::max(1U, rows / (context.members * 4));
  for (uint32_t first = context.claim(index, batch); first < rows;
       first = context.claim(index, batch)) {
    const uint32_t end = std::min(rows, first + batch);
    for (uint32_t row = first; row < end; row++) {
      for (const Stage& stage : stages_) stage->run(context, row);
    }
  }
}

Stage embed_stage(const WeightMatrix& table, float scale, Columns out) {
  return stage([=, &table](const StepContext& c, uint32_t row) {
    float* y = c.floats(out, row);
    table.read_row(*c.kernels, static_cast<uint64_t>(c.step.token_ids[row]), y);
    if (scale != 1.0F) c.kernels->scale(y, scale, table.k, y);
  });
}

Stage norm_stage(halogen_norm_kind kind, float epsilon, const float* weight, const float* bias,
                 uint32_t groups, uint32_t size, Columns x, Columns out) {
  return stage([=](const StepContext& c, uint32_t row) {
    const float* from = c.floats(x, row);
    float* to = c.floats(out, row);
    for (uint32_t g = 0; g < groups; g++, from += size, to += size) {
      if (kind == HALOGEN_NORM_RMS) {
        c.kernels->rms_norm(from, weight, epsilon, size, to);
      } else {
        c.kernels->layer_norm(from, weight, bias, epsilon, size, to);
      }
    }
  });
}

Stage angles_stage(const RopeAngles& angles, Columns out) {
  return stage([&angles, out](const StepContext& c, uint32_t row) {
    float* cosine = c.floats(out, row);
    angles.fill(c.step.positions[row], cosine, cosine + angles.pairs());
  });
}

Stage rope_stage(halogen_rope_pairing pairing, uint32_t heads, uint32_t head_dim, uint32_t dims,
                 Columns angles, Columns x, Columns out) {
  const RopePairing kind =
      pairing == HALOGEN_ROPE_ADJACENT ? RopePairing::kAdjacent : RopePairing::kHalves;
  return stage([=](const StepContext& c, uint32_t row) {
    float* y = c.floats(out, row);
    std::memcpy(y, c.floats(x, row), sizeof(float) * heads * head_dim);
    const float* cosine = c.floats(angles, row);
    c.kernels->rope(y, heads, head_dim, dims, cosine, cosine + dims / 2, kind);
  });
}

Stage kv_store_stage(uint32_t kv_layer, Columns k, Columns v) {
  return stage([=](const StepContext& c, uint32_t row) {
    const KvGeometry& kv = c.kv->layer(kv_layer);
    const uint32_t slot = c.step.kv_slots[row];
    c.kernels->kv_store(kv, slot / kv.block_tokens, slot % kv.block_tokens, c.floats(k, row),
                        c.floats(v, row));
  });
}

Stage glu_stage(halogen_activation activation, uint32_t width, Columns gate, Columns up,
                Columns out) {
  return stage([=](const StepContext& c, uint32_t row) {
    const float* g = c.floats(gate, row);
    const float* u = c.floats(up, row);
    float* y = c.floats(out, row);
    if (activation == HALOGEN_SILU) {
      c.kernels->swiglu(g, u, width, y);
    } else if (activation == HALOGEN_GELU_TANH) {
      c.kernels->geglu(g, u, width, y);
    } else {
      activation_kernel(*c.kernels, activation)(g, width, y);
      c.kernels->multiply(y, u, width, y);
    }
  });
}

Stage activate_stage(halogen_activation activation, uint32_t width, Columns x, Columns out) {
  return stage([=](const StepContext& c, uint32_t row) {
    activation_kernel(*c.kernels, activation)(c.floats(x, row), width, c.floats(out, row));
  });
}

Stage elementwise_stage(Elementwise kind, uint32_t width, Columns a, Columns b, Columns out) {
  return stage([=](const StepContext& c, uint32_t row) {
    const auto kernel = kind == Elementwise::add ? c.kernels->add : c.kernels->multiply;
    kernel(c.floats(a, row), c.floats(b, row), width, c.floats(out, row));
  });
}

Stage elementwise_stage(Elementwise kind, uint32_t width, Columns a, const float* b,
                        uint32_t b_width, Columns out) {
  return stage([=](const StepContext& c, uint32_t row) {
    const auto kernel = kind == Elementwise::add ? c.kernels->add : c.kernels->multiply;
    for (uint32_t at = 0; at < width; at += b_width) {
      kernel(c.floats(a, row) + at, b, b_width, c.floats(out, row) + at);
    }
  });
}

Stage scale_stage(float factor, uint32_t width, Columns x, Columns out) {
  return stage([=](const StepContext& c, uint32_t row) {
    c.kernels->scale(c.floats(x, row), factor, width, c.floats(out, row));
  });
}

Stage softcap_stage(float cap, uint32_t width, Columns x, Columns out) {
  return stage([=](const StepContext& c, uint32_t row) {
    c.kernels->softcap(c.floats(x, row), cap, width, c.floats(out, row));
  });
}

Stage select_stage(uint32_t width, Columns x, Columns out) {
  return stage([=](const StepContext& c, uint32_t row) {
    const auto token = static_cast<uint32_t>(c.step.rows[row]);
    std::memcpy(c.floats(out, row), c.floats(x, token), sizeof(float) * width);
  });
}

Stage copy_stage(uint32_t width, Columns x, Columns out) {
  return stage([=](const StepContext& c, uint32_t row) {
    std::memcpy(c.floats(out, row), c.floats(x, row), sizeof(float) * width);
  });
}

Stage quantise_stage(ActivationFormat format, uint32_t width, Columns x, uint32_t out) {
  return stage([=](const StepContext& c, uint32_t row) {
    uint8_t* to = c.bytes(out, row);
    if (format == ActivationFormat::kQ8Block) {
      c.kernels->quantise_q8_blocks(c.floats(x, row), width, reinterpret_cast<Q8Block*>(to));
    } else {
      c.kernels->quantise_q8_superblocks(c.floats(x, row), width,
                                         reinterpret_cast<Q8SuperBlock*>(to));
    }
  });
}

}  // namespace halogen::cpu
