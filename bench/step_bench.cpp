// What the host adds to a step: planning, assembling, sampling, text and events, over a device that
// does nothing, for one sequence and many. Counters give each part in microseconds a step.
//
//   step_bench [--benchmark_filter=…]
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/engine/engine_start.h"
#include "core/loop/loop.h"
#include "plugins/sampler/factory.h"
#include "plugins/scheduler/factory.h"

namespace halogen {
namespace {

constexpr uint32_t kVocabulary = 151'936;  // Qwen2.5's
constexpr uint32_t kBlockTokens = 16, kContext = 4096;

// Computes nothing: every row gets the same logits, one after the other from a prepared table.
class NullDevice {
 public:
  explicit NullDevice(uint32_t rows) : logits_(size_t{rows} * kVocabulary) {
    std::mt19937 random(1);
    std::normal_distribution<float> logit(0.0F, 2.0F);
    for (float& value : logits_) value = logit(random);
  }

  static const halogen_backend_factory& factory() {
    static const halogen_backend_factory table = [] {
      halogen_backend_factory made{};
      made.struct_size = sizeof made;
      made.name = "null";
      made.step_submit = [](halogen_program* program, halogen_kv*, halogen_states*,
                            const halogen_step* step, uint64_t* ticket,
                            halogen_error*) -> halogen_status {
        auto& device = *reinterpret_cast<NullDevice*>(program);
        std::copy_n(device.logits_.data(), size_t{step->n_rows} * kVocabulary, step->logits);
        *ticket = 1;
        return HALOGEN_OK;
      };
      made.step_wait = [](halogen_program*, uint64_t, uint64_t, halogen_error*) -> halogen_status {
        return HALOGEN_OK;
      };
      made.counters = [](const halogen_program*, halogen_counters*) {};
      return made;
    }();
    return table;
  }

 private:
  std::vector<float> logits_;
};

// Says a letter for each token and never ends.
class Letters final : public TextSource {
 public:
  Result<std::unique_ptr<TextSink>> open(const GenerationRequest&) const override {
    return std::unique_ptr<TextSink>(std::make_unique<Sink>());
  }
  bool ends_generation(int32_t) const override { return false; }
  std::span<const int32_t> end_tokens() const override { return {}; }

 private:
  class Sink final : public TextSink {
   public:
    bool push(int32_t token, std::string& text) override {
      text += static_cast<char>('a' + token % 26);
      return false;
    }
    void finish(std::string&) override {}
  };
};

EngineLimits limits_for(uint32_t sequences) {
  EngineLimits limits;
  limits.vocabulary_size = kVocabulary;
  limits.block_tokens = kBlockTokens;
  limits.total_blocks = sequences * (kContext / kBlockTokens);
  limits.max_context = kContext;
  limits.max_batch_tokens = 2048;
  limits.prefill_batch_tokens = 2048;
  limits.max_sequences = sequences;
  limits.queue_limit = sequences;
  return limits;
}

// Arguments: sequences, and whether tokens are drawn (1) or the best is taken (0).
void decode(benchmark::State& state) {
  const auto sequences = static_cast<uint32_t>(state.range(0));
  auto loop = Loop::create();
  NullDevice device(sequences);
  halogen_sampler* sampler = nullptr;
  halogen_scheduler* scheduler = nullptr;
  if (!loop || sampler::factory.create(nullptr, kVocabulary, &sampler, nullptr) != HALOGEN_OK ||
      scheduler::factory.create(nullptr, &scheduler, nullptr) != HALOGEN_OK) {
    return state.SkipWithError("no loop, sampler or scheduler");
  }
  EngineParts parts;
  parts.backend = &NullDevice::factory();
  parts.program = reinterpret_cast<halogen_program*>(&device);
  parts.sampler = &sampler::factory;
  parts.sampler_instance = sampler;
  parts.scheduler = &scheduler::factory;
  parts.scheduler_instance = scheduler;
  auto engine = start_engine(**loop, parts, limits_for(sequences), std::make_unique<Letters>());
  if (!engine) return state.SkipWithError(engine.error().message.c_str());

  uint32_t unfinished = 0;
  for (auto _ : state) {
    unfinished = sequences;
    for (uint32_t i = 0; i < sequences; i++) {
      GenerationRequest request;
      request.prompt = {1, 2, 3, static_cast<int32_t>(i)};
      request.max_tokens = 100;
      request.sampling.temperature = state.range(1) != 0 ? 0.8F : 0.0F;
      request.sampling.top_k = state.range(1) != 0 ? 40 : 0;
      request.sampling.seed = i;
      auto id = (*engine)->submit(std::move(request), [&](const GenerationEvent& event) {
        if (event.finish != FinishReason::none && --unfinished == 0) (*loop)->stop();
      });
      if (!id) return state.SkipWithError(id.error().message.c_str());
    }
    (*loop)->run();
  }
  const EngineStats stats = (*engine)->stats();
  const auto per_step = [&](uint64_t ns) {
    return static_cast<double>(ns) * 1e-3 / static_cast<double>(stats.steps);
  };
  state.counters["plan_us"] = per_step(stats.plan_ns);
  state.counters["assemble_us"] = per_step(stats.assemble_ns);
  state.counters["sample_us"] = per_step(stats.sample_ns);
  state.counters["text_us"] = per_step(stats.text_ns);
  state.counters["host_us"] =
      per_step(stats.plan_ns + stats.assemble_ns + stats.sample_ns + stats.text_ns);
  engine->reset();
  sampler::factory.destroy(sampler);
  scheduler::factory.destroy(scheduler);
}

BENCHMARK(decode)
    ->ArgNames({"sequences", "draws"})
    ->ArgsProduct({{1, 8, 64}, {0, 1}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace halogen

BENCHMARK_MAIN();
