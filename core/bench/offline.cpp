#include "core/bench/offline.h"

#include <algorithm>
#include <chrono>

#include "core/bench/step_runner.h"

namespace halogen::bench {
namespace {

using Clock = std::chrono::steady_clock;

uint32_t largest(const std::vector<uint32_t>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

StepCost& operator+=(StepCost& sum, const StepCost& more) {
  sum.bytes += more.bytes;
  sum.quantised_operations += more.quantised_operations;
  sum.float_operations += more.float_operations;
  return sum;
}

class Measurement {
 public:
  Measurement(StepRunner& runner, const MachineSpeed& speed, uint32_t threads, const Ledger& ledger,
              uint32_t repetitions)
      : runner_(runner),
        speed_(speed),
        threads_(threads),
        ledger_(ledger),
        repetitions_(repetitions) {}

  Result<OfflineRow> prefill(uint32_t length) {
    const uint32_t chunk = runner_.model().limits().max_batch_tokens;
    const std::vector<int32_t> prompt =
        some_tokens(length, runner_.model().limits().vocabulary_size);
    OfflineRow row{.work = OfflineRow::Work::prefill, .tokens = length};
    StepCost cost;
    const auto body = [&]() -> Status {
      runner_.set_length(0, 0);
      cost = {};
      for (uint32_t at = 0; at < length; at += chunk) {
        const uint32_t end = std::min(length, at + chunk);
        const std::vector<int32_t> tokens(prompt.begin() + at, prompt.begin() + end);
        if (Status done = runner_.step({{0, tokens, false}}, end == length); !done) return done;
        const StepShare share[] = {{end - at, end, end == length ? 1U : 0U}};
        cost += ledger_.step(share);
      }
      return {};
    };
    return measure(row, length, 1, body, cost);
  }

  Result<OfflineRow> decode(uint32_t batch, uint32_t depth, uint32_t length) {
    std::vector<check::Piece> pieces;
    for (uint32_t s = 0; s < batch; s++) pieces.push_back({s, {static_cast<int32_t>(s)}, true});
    OfflineRow row{.tokens = length, .depth = depth, .batch = batch};
    StepCost cost;
    const auto body = [&]() -> Status {
      for (uint32_t s = 0; s < batch; s++) runner_.set_length(s, depth);
      cost = {};
      for (uint32_t t = 0; t < length; t++) {
        if (Status done = runner_.step(pieces, false); !done) return done;
        cost += ledger_.step(std::vector<StepShare>(batch, {1, depth + t + 1, 1}));
      }
      return {};
    };
    // Other tenants of a machine take of its bandwidth by the minute, so the ceiling is that of
    // this row: the mean of a reading before and one after it.
    const double before = measure_read_bandwidth(threads_);
    auto measured = measure(row, uint64_t{batch} * length, length, body, cost);
    const double after = measure_read_bandwidth(threads_);
    if (measured && before > 0 && after > 0) {
      MachineSpeed speed = speed_;
      speed.read_bandwidth = (before + after) / 2;
      set_ceiling(*measured, uint64_t{batch} * length, cost, speed);
    }
    return measured;
  }

 private:
  // Runs `body` once for warmth and then as often as asked; `tokens` and `steps` are of one run.
  template <typename Body>
  Result<OfflineRow> measure(OfflineRow row, uint64_t tokens, uint32_t steps, const Body& body,
                             const StepCost& cost) {
    std::vector<double> rates, seconds;
    for (uint32_t repetition = 0; repetition <= repetitions_; repetition++) {
      const auto start = Clock::now();
      if (Status done = body(); !done) return within(row.name(), done.error());
      const double took = std::chrono::duration<double>(Clock::now() - start).count();
      if (repetition == 0) continue;
      rates.push_back(static_cast<double>(tokens) / took);
      seconds.push_back(took);
    }
    const double median = percentile(seconds, 50);
    row.rate = Summary::of(rates);
    row.milliseconds = 1000 * median / steps;
    row.gigabytes = static_cast<double>(cost.bytes) / median / 1e9;
    set_ceiling(row, tokens, cost, speed_);
    return row;
  }

  static void set_ceiling(OfflineRow& row, uint64_t tokens, const StepCost& cost,
                          const MachineSpeed& speed) {
    const double least = least_seconds(cost, speed, &row.memory_bound);
    row.ceiling = least > 0 ? static_cast<double>(tokens) / least : 0;
  }

  StepRunner& runner_;
  const MachineSpeed& speed_;
  const uint32_t threads_;
  const Ledger& ledger_;
  const uint32_t repetitions_;
};

}  // namespace

uint32_t OfflineOptions::longest_context() const {
  return std::max(largest(prefills), batches.empty() ? 0 : largest(depths) + tokens);
}

uint32_t OfflineOptions::largest_batch() const {
  return std::max(1U, largest(batches));
}

std::string OfflineRow::name() const {
  if (work == Work::prefill) return "prefill " + std::to_string(tokens);
  return "decode, " + std::to_string(batch) + (batch == 1 ? " stream" : " streams") + ", depth " +
         std::to_string(depth);
}

double least_seconds(const StepCost& cost, const MachineSpeed& speed, bool* memory_bound) {
  if (speed.read_bandwidth <= 0 || speed.quantised_operations <= 0 || speed.float_operations <= 0)
    return 0;
  const double reading = static_cast<double>(cost.bytes) / speed.read_bandwidth;
  const double computing =
      static_cast<double>(cost.quantised_operations) / speed.quantised_operations +
      static_cast<double>(cost.float_operations) / speed.float_operations;
  *memory_bound = reading >= computing;
  return std::max(reading, computing);
}

Status run_offline(const ServedModel& model, const OfflineOptions& options,
                   const MachineSpeed& speed, uint32_t threads,
                   const std::function<void(const OfflineRow&)>& done) {
  auto runner = StepRunner::create(model, options.largest_batch(), options.longest_context());
  if (!runner) return runner.error();
  if (Status filled = runner->fill_pool(); !filled) return filled;
  runner->settle();
  const Ledger ledger = model.ledger();
  Measurement measurement(*runner, speed, threads, ledger, options.repetitions);
  for (const uint32_t length : options.prefills) {
    auto row = measurement.prefill(length);
    if (!row) return row.error();
    done(*row);
  }
  for (const uint32_t depth : options.depths) {
    for (const uint32_t batch : options.batches) {
      auto row = measurement.decode(batch, depth, options.tokens);
      if (!row) return row.error();
      done(*row);
    }
  }
  return {};
}

}  // namespace halogen::bench
