#include "core/check/reference/attention.h"

#include <algorithm>
#include <cmath>

#include "core/check/reference/dequantise.h"

namespace halogen::reference {
namespace {

// Codes of a block times its step: what Q8_0 and Q4_0 make of 32 elements, with the step rounded to
// a half.
struct BlockRule {
  double step, least, most;  // of the codes

  BlockRule(const double* x, halogen_type type) {
    double largest = 0;
    for (size_t i = 0; i < kBlock; i++)
      if (std::fabs(x[i]) > std::fabs(largest)) largest = x[i];
    const bool bytes = type == HALOGEN_Q8_0;
    step = half_value(nearest_half(bytes ? std::fabs(largest) / 127 : largest / -8));
    least = bytes ? -127 : -8;
    most = bytes ? 127 : 7;
  }
  double nearest(double x) const {
    return step == 0 ? 0 : std::clamp(std::nearbyint(x / step), least, most) * step;
  }

  static constexpr size_t kBlock = 32;
};

// A block that is codes times a step already stays as it is. Any other is off by what the rule
// allows: half a step for 8 bits, and for 4 bits, whose codes reach further on one side, a whole
// one; a little more, because the step is rounded.
void store_block(const double* x, const double* errors, halogen_type type, size_t at,
                 Tensor& entry) {
  const BlockRule rule(x, type);
  bool exact = true;
  for (size_t i = 0; i < BlockRule::kBlock; i++)
    exact = exact && rule.nearest(x[i]) == x[i] && errors[i] == 0;
  const double steps = type == HALOGEN_Q8_0 ? 0.5 : 1;
  for (size_t i = 0; i < BlockRule::kBlock; i++) {
    const double off = steps * std::fabs(rule.step) + 2 * kUnit16 * std::fabs(x[i]);
    entry.set(at + i, x[i], exact ? 0 : errors[i] + off);
  }
}

// One token's part of k or v, as the pool keeps it.
Tensor stored(const Tensor& x, size_t token, halogen_type type) {
  Tensor entry({x.dims[1], x.dims[2]});
  const size_t width = x.width();
  if (type == HALOGEN_Q8_0 || type == HALOGEN_Q4_0) {
    for (size_t i = 0; i < width; i += BlockRule::kBlock)
      store_block(&x.values[token * width + i], &x.errors[token * width + i], type, i, entry);
    return entry;
  }
  for (size_t i = 0; i < width; i++) {
    const double value = x.values[token * width + i], error = x.errors[token * width + i];
    if (type != HALOGEN_F16) {
      entry.set(i, value, error);
      continue;
    }
    // What is off already may fall on the other side of a rounding border.
    entry.set(i, half_value(nearest_half(value)),
              error == 0 ? 0 : error + kUnit16 * std::fabs(value));
  }
  return entry;
}

bool in_sight(const halogen_attend_attributes& a, uint32_t from, uint32_t position) {
  if (a.causal != 0 && position > from) return false;
  if (a.window != 0 && position + a.window <= from) return false;
  return a.chunk == 0 || position / a.chunk == from / a.chunk;
}

struct Seen {
  const KvCache::Entry* entry;
  double score, score_error;
};

struct Head {
  size_t query, kv;  // indices of the query's head and the K/V head that it shares
};

// The positions that a token attends to, with their scores.
std::vector<Seen> look(const Tensor& q, size_t token, Head head, const halogen_attend_attributes& a,
                       const halogen_step& step, uint32_t sequence, const KvCache& cache) {
  std::vector<Seen> seen;
  const uint32_t block_tokens = cache.geometry().block_tokens;
  const uint32_t* table = step.block_tables + size_t{sequence} * step.block_table_stride;
  const size_t size = q.dims[2], at = (token * q.dims[1] + head.query) * size;
  for (uint32_t p = 0; p < step.context_lengths[sequence]; p++) {
    if (!in_sight(a, static_cast<uint32_t>(step.positions[token]), p)) continue;
    const uint32_t slot = table[p / block_tokens] * block_tokens + p % block_tokens;
    const KvCache::Entry* entry = cache.find(a.kv_layer, slot);
    if (!entry) continue;
    double score = 0, magnitude = 0, carried = 0;
    for (size_t d = 0; d < size; d++) {
      const double query = q.values[at + d], key = entry->key.values[head.kv * size + d];
      score += query * key;
      magnitude += std::fabs(query * key);
      carried += q.errors[at + d] * std::fabs(key) +
                 entry->key.errors[head.kv * size + d] * std::fabs(query);
    }
    score *= a.scale;
    double error = (carried + (sum_error(size) + 2 * kUnit32) * magnitude) * std::fabs(a.scale);
    if (a.softcap != 0) {
      error += 24 * kUnit32 * std::fabs(score);
      score = a.softcap * std::tanh(score / a.softcap);
    }
    seen.push_back({entry, score, error});
  }
  return seen;
}

}  // namespace

void KvCache::store(uint32_t layer, uint32_t slot, Entry entry) {
  entries_[{layer, slot}] = std::move(entry);
}

const KvCache::Entry* KvCache::find(uint32_t layer, uint32_t slot) const {
  const auto found = entries_.find({layer, slot});
  return found == entries_.end() ? nullptr : &found->second;
}

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor* sinks,
              const halogen_attend_attributes& a, const halogen_step& step, KvCache& cache,
              Precision precision) {
  for (uint32_t t = 0; t < step.n_tokens; t++) {
    cache.store(
        a.kv_layer, step.kv_slots[t],
        {stored(k, t, cache.geometry().key_type), stored(v, t, cache.geometry().value_type)});
  }
  const size_t heads = q.dims[1], kv_heads = k.dims[1], size = v.dims[2];
  Tensor result({step.n_tokens, heads, size});
  for (uint32_t s = 0; s < step.n_sequences; s++) {
    for (size_t t = step.sequence_starts[s]; t < step.sequence_starts[s + 1]; t++) {
      for (size_t h = 0; h < heads; h++) {
        const Head head{h, h / (heads / kv_heads)};
        const std::vector<Seen> seen = look(q, t, head, a, step, s, cache);
        double most = sinks ? sinks->values[h] : -INFINITY, off = 0;
        for (const Seen& one : seen) {
          most = std::max(most, one.score);
          off = std::max(off, one.score_error);
        }
        double sum = sinks ? std::exp(sinks->values[h] - most) : 0;
        for (const Seen& one : seen) sum += std::exp(one.score - most);
        // Each weight is off by the errors of its own score and of all others in the sum; a score
        // far below the largest loses bits of the difference when it is formed.
        const double relative = std::expm1(2 * off) + sum_error(seen.size()) +
                                (24 + 2 * std::fabs(most)) * kUnit32 +
                                (precision == Precision::f16 ? 4 * kUnit16 : 0);
        for (size_t d = 0; d < size; d++) {
          double value = 0, magnitude = 0, carried = 0;
          for (const Seen& one : seen) {
            const double weight = std::exp(one.score - most) / sum;
            const double element = one.entry->value.values[head.kv * size + d];
            value += weight * element;
            magnitude += weight * std::fabs(element);
            carried += weight * one.entry->value.errors[head.kv * size + d];
          }
          result.set((t * heads + h) * size + d, value,
                     carried + (relative + sum_error(seen.size())) * magnitude +
                         storage_unit(precision) * std::fabs(value));
        }
      }
    }
  }
  return result;
}

}  // namespace halogen::reference
