// What choosing a token costs at a vocabulary of 152 thousand: microseconds a row, by what a
// request asks for, and whole steps of 1 to 64 rows over 1, 2, 4 … threads, as many as there are
// (`--benchmark_filter=rows` for these alone; the counter `row` is the time of each sequence).
//
// On one row the time is that of one thread; items are rows. The logits are like a model's: a few
// likely tokens far above a broad bulk. "flat" rows are the worst case of the stages that select,
// where most of the vocabulary stays.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/check/reference/sampling.h"
#include "plugins/sampler/factory.h"
#include "tests/unit/host_threads.h"

namespace {

constexpr uint32_t kVocabulary = 151936;  // Qwen2's

std::vector<float> peaked_row() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 2.5F);
  std::vector<float> logits(kVocabulary);
  for (float& logit : logits) logit = normal(random);
  for (int i = 0; i < 20; i++) logits[random() % kVocabulary] = 18 - 0.5F * static_cast<float>(i);
  return logits;
}

std::vector<float> flat_row() {
  std::mt19937 random(2);
  std::normal_distribution<float> normal(0, 0.3F);
  std::vector<float> logits(kVocabulary);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

halogen_sampling_parameters plain() {
  halogen_sampling_parameters parameters = halogen::reference::stages_off();
  parameters.xtc_threshold = 0.1F;
  return parameters;
}

// Rows that are all sampled alike, each with a state of its own.
class Batch {
 public:
  Batch(const std::vector<float>& row, const halogen_sampling_parameters& parameters, uint32_t rows,
        int32_t top, const std::vector<int32_t>& prompt, int64_t threads)
      : row_(row),
        logits_(size_t{rows} * kVocabulary),
        top_(rows, top),
        tokens_(rows),
        top_tokens_(size_t{rows} * 20),
        logprobs_(rows),
        top_logprobs_(size_t{rows} * 20) {
    halogen_config config{};
    config.struct_size = sizeof config;
    config.context = &threads;
    config.get_int = [](const halogen_config* self, const char*, int64_t* value) {
      *value = *static_cast<const int64_t*>(self->context);
      return halogen_status{HALOGEN_OK};
    };
    check(sampler::factory.create(&config, kVocabulary, &sampler_, nullptr));
    for (uint32_t i = 0; i < rows; i++) {
      halogen_sampling_state* state = nullptr;
      check(sampler::factory.state_create(sampler_, &parameters, prompt.data(),
                                          static_cast<uint32_t>(prompt.size()), 1 << 16, &state,
                                          nullptr));
      states_.push_back(state);
    }
    batch_.struct_size = sizeof batch_;
    batch_.n_rows = rows;
    batch_.vocabulary_size = kVocabulary;
    batch_.logits_stride = kVocabulary;
    batch_.logits = logits_.data();
    batch_.states = states_.data();
    batch_.n_top_logprobs = top_.data();
    batch_.top_logprobs_stride = 20;
    batch_.tokens = tokens_.data();
    batch_.logprobs = logprobs_.data();
    batch_.top_tokens = top_tokens_.data();
    batch_.top_logprobs = top_logprobs_.data();
  }
  ~Batch() {
    for (halogen_sampling_state* state : states_) sampler::factory.state_destroy(state);
    sampler::factory.destroy(sampler_);
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // sample() overwrites the logits, so they are put there again, as a backend would.
  void refill() {
    for (size_t i = 0; i < logits_.size(); i += kVocabulary)
      std::copy(row_.begin(), row_.end(), logits_.begin() + static_cast<ptrdiff_t>(i));
  }
  void sample() { check(sampler::factory.sample(sampler_, &batch_, nullptr)); }
  void accept() {
    for (size_t i = 0; i < states_.size(); i++) sampler::factory.accept(states_[i], &tokens_[i], 1);
  }

 private:
  static void check(halogen_status status) {
    if (status != HALOGEN_OK) std::abort();
  }

  const std::vector<float>& row_;
  std::vector<float> logits_;
  std::vector<int32_t> top_, tokens_, top_tokens_;
  std::vector<float> logprobs_, top_logprobs_;
  halogen_sampler* sampler_ = nullptr;
  std::vector<halogen_sampling_state*> states_;
  halogen_sample_batch batch_{};
};

void run(benchmark::State& state, const std::vector<float>& row,
         halogen_sampling_parameters parameters, uint32_t rows = 1, int32_t top = -1,
         const std::vector<int32_t>& prompt = {1, 2, 3}, int64_t threads = 0) {
  Batch batch(row, parameters, rows, top, prompt, threads);
  for (auto _ : state) {
    state.PauseTiming();
    batch.refill();
    state.ResumeTiming();
    batch.sample();
    batch.accept();
  }
  state.SetItemsProcessed(state.iterations() * rows);
  state.counters["row"] = benchmark::Counter(
      rows, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void add(const char* name, void (*change)(halogen_sampling_parameters&)) {
  static const std::vector<float> peaked = peaked_row(), flat = flat_row();
  halogen_sampling_parameters parameters = plain();
  change(parameters);
  for (const auto* row : {&peaked, &flat}) {
    const std::string label = std::string(name) + (row == &flat ? "/flat" : "");
    benchmark::RegisterBenchmark(
        label.c_str(), [row, parameters](benchmark::State& state) { run(state, *row, parameters); })
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

void add_stages() {
  add("greedy", [](auto& p) { p.temperature = 0; });
  add("temperature", [](auto& p) { p.temperature = 0.8F; });
  add("top_k 40", [](auto& p) { p.top_k = 40; });
  add("top_p 0.95", [](auto& p) { p.top_p = 0.95F; });
  add("min_p 0.05", [](auto& p) { p.min_p = 0.05F; });
  add("top_k 40, top_p 0.95, min_p 0.05", [](auto& p) {
    p.temperature = 0.8F;
    p.top_k = 40;
    p.top_p = 0.95F;
    p.min_p = 0.05F;
  });
  add("typical_p 0.9", [](auto& p) { p.typical_p = 0.9F; });
  add("top_n_sigma 1", [](auto& p) { p.top_n_sigma = 1; });
  add("xtc", [](auto& p) { p.xtc_probability = 1; });
  add("dynatemp", [](auto& p) { p.dynatemp_range = 0.5F; });
  add("mirostat 2", [](auto& p) { p.mirostat = 2; });
}

std::vector<int32_t> natural_prompt(size_t length) {
  // Tokens as often as words are: the n-th one time in n.
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<int32_t> prompt(length);
  for (int32_t& token : prompt) token = static_cast<int32_t>(std::pow(20000.0, uniform(random)));
  return prompt;
}

void add_contexts() {
  static const std::vector<float> peaked = peaked_row();
  for (const size_t length : {1000U, 32000U, 128000U}) {
    const auto add_one = [&](const std::string& name, const halogen_sampling_parameters& parameters,
                             const std::vector<int32_t>& prompt) {
      benchmark::RegisterBenchmark(
          name.c_str(),
          [=](benchmark::State& state) { run(state, peaked, parameters, 1, -1, prompt); })
          ->UseRealTime()
          ->Unit(benchmark::kMicrosecond);
    };
    halogen_sampling_parameters parameters = plain();
    parameters.temperature = 0;
    parameters.dry_multiplier = 0.8F;
    const std::string context = ", context " + std::to_string(length);
    add_one("greedy, dry" + context, parameters, natural_prompt(length));
    const auto best =
        static_cast<int32_t>(std::max_element(peaked.begin(), peaked.end()) - peaked.begin());
    parameters.dry_multiplier = 1e-30F;
    parameters.dry_base = 1;
    add_one("greedy, dry" + context + " of one token", parameters,
            std::vector<int32_t>(length, best));
    parameters = plain();
    parameters.temperature = 0;
    parameters.repetition_penalty = 1.1F;
    add_one("greedy, penalties" + context, parameters, natural_prompt(length));
  }
}

// What a request costs before its first token.
void add_states() {
  for (const bool dry : {false, true}) {
    const std::string name = std::string("state") + (dry ? ", dry" : "") + ", context 128000";
    benchmark::RegisterBenchmark(name.c_str(), [dry](benchmark::State& state) {
      const std::vector<int32_t> prompt = natural_prompt(128000);
      halogen_sampling_parameters parameters = plain();
      parameters.dry_multiplier = dry ? 0.8F : 0;
      halogen_sampler* sampler = nullptr;
      if (sampler::factory.create(nullptr, kVocabulary, &sampler, nullptr) != HALOGEN_OK)
        std::abort();
      for (auto _ : state) {
        halogen_sampling_state* made = nullptr;
        if (sampler::factory.state_create(sampler, &parameters, prompt.data(), 128000, 1024, &made,
                                          nullptr) != HALOGEN_OK)
          std::abort();
        sampler::factory.state_destroy(made);
      }
      sampler::factory.destroy(sampler);
    })->Unit(benchmark::kMicrosecond);
  }
}

void add_batches() {
  static const std::vector<float> peaked = peaked_row();
  for (int64_t threads = 1; threads <= std::thread::hardware_concurrency(); threads *= 2) {
    for (const uint32_t rows : {1U, 2U, 4U, 8U, 16U, 32U, 64U}) {
      const std::string name =
          "default, rows " + std::to_string(rows) + ", threads " + std::to_string(threads);
      benchmark::RegisterBenchmark(name.c_str(),
                                   [=](benchmark::State& state) {
                                     run(state, peaked, plain(), rows, -1, {1, 2, 3}, threads);
                                   })
          ->UseRealTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  for (const int32_t top : {0, 20}) {
    const std::string name = "greedy, top_logprobs " + std::to_string(top);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [top](benchmark::State& state) {
                                   halogen_sampling_parameters parameters = plain();
                                   parameters.temperature = 0;
                                   run(state, peaked, parameters, 1, top);
                                 })
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace

int main(int argc, char** argv) {
  sampler::use_host(&halogen::test::host_threads());
  add_stages();
  add_contexts();
  add_states();
  add_batches();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
