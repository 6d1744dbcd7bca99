#include "served.h"

namespace halogen::fake {

namespace {

halogen_sampling_parameters parameters_of(const SamplingOptions& options) {
  halogen_sampling_parameters parameters{};
  parameters.struct_size = sizeof parameters;
  parameters.seed = options.seed;
  parameters.temperature = options.temperature;
  parameters.top_k = options.top_k;
  parameters.top_p = options.top_p;
  parameters.min_p = options.min_p;
  parameters.repetition_penalty = options.repetition_penalty;
  parameters.presence_penalty = options.presence_penalty;
  parameters.frequency_penalty = options.frequency_penalty;
  parameters.penalty_window = options.penalty_window;
  parameters.n_biases = static_cast<uint32_t>(options.logit_bias.size());
  parameters.biases = options.logit_bias.data();
  parameters.typical_p = options.typical_p;
  parameters.top_n_sigma = options.top_n_sigma;
  parameters.xtc_probability = options.xtc_probability;
  parameters.xtc_threshold = options.xtc_threshold;
  parameters.dynatemp_range = options.dynatemp_range;
  parameters.dynatemp_exponent = options.dynatemp_exponent;
  parameters.mirostat = options.mirostat;
  parameters.mirostat_tau = options.mirostat_tau;
  parameters.mirostat_eta = options.mirostat_eta;
  parameters.dry_multiplier = options.dry_multiplier;
  parameters.dry_base = options.dry_base;
  parameters.dry_allowed_length = options.dry_allowed_length;
  parameters.dry_penalty_last_n = options.dry_penalty_last_n;
  return parameters;
}

}  // namespace

std::vector<int32_t> expected_tokens(const GenerationRequest& request, uint32_t vocabulary_size) {
  const halogen_sampler_factory& factory = sampler::factory;
  halogen_sampler* sampler = nullptr;
  EXPECT_EQ(factory.create(nullptr, vocabulary_size, &sampler, nullptr), HALOGEN_OK);
  const halogen_sampling_parameters parameters = parameters_of(request.sampling);
  halogen_sampling_state* state = nullptr;
  EXPECT_EQ(factory.state_create(sampler, &parameters, request.prompt.data(),
                                 static_cast<uint32_t>(request.prompt.size()), request.max_tokens,
                                 &state, nullptr),
            HALOGEN_OK);
  std::vector<int32_t> context = request.prompt;
  for (uint32_t i = 0; i < request.max_tokens; i++) {
    std::vector<float> logits = model_logits(context, vocabulary_size);
    int32_t token = -1;
    halogen_sample_batch batch{};
    batch.struct_size = sizeof batch;
    batch.n_rows = 1;
    batch.vocabulary_size = vocabulary_size;
    batch.logits_stride = vocabulary_size;
    batch.logits = logits.data();
    batch.states = &state;
    batch.tokens = &token;
    EXPECT_EQ(factory.sample(sampler, &batch, nullptr), HALOGEN_OK);
    factory.accept(state, &token, 1);
    context.push_back(token);
  }
  factory.state_destroy(state);
  factory.destroy(sampler);
  return {context.begin() + static_cast<ptrdiff_t>(request.prompt.size()), context.end()};
}

Served::Served(const EngineLimits& limits, const std::function<void(EngineParts&, Served&)>& change)
    : device_(limits.vocabulary_size, limits.block_tokens, limits.total_blocks) {
  auto loop = Loop::create();
  EXPECT_TRUE(loop) << loop.error().message;
  loop_ = std::move(*loop);
  EXPECT_EQ(sampler::factory.create(nullptr, limits.vocabulary_size, &sampler_, nullptr),
            HALOGEN_OK);
  EXPECT_EQ(scheduler::factory.create(nullptr, &scheduler_, nullptr), HALOGEN_OK);
  EngineParts parts;
  parts.backend = &Device::factory();
  parts.program = device_.program();
  parts.kv = device_.kv();
  parts.sampler = &sampler::factory;
  parts.sampler_instance = sampler_;
  parts.scheduler = &scheduler::factory;
  parts.scheduler_instance = scheduler_;
  parts.log = [this](halogen_log_level, const std::string& message) { log_.push_back(message); };
  EngineLimits complete = limits;
  complete.block_bytes = device_.block_bytes();
  host_memory_.resize(complete.host_blocks * complete.block_bytes);
  parts.host_memory = host_memory_.data();
  if (change) change(parts, *this);
  auto engine = start_engine(*loop_, parts, complete, std::make_unique<Text>(kEndToken));
  EXPECT_TRUE(engine) << engine.error().message;
  engine_ = std::move(*engine);
}

Served::~Served() {
  stop();
  for (const std::string& fault : device_.faults()) ADD_FAILURE() << fault;
  scheduler::factory.destroy(scheduler_);
  sampler::factory.destroy(sampler_);
}

uint64_t Served::submit(GenerationRequest request) {
  auto id =
      engine_->submit(std::move(request), [this](const GenerationEvent& event) { receive(event); });
  EXPECT_TRUE(id) << id.error().message;
  if (!id) return 0;
  streams_[*id];
  return *id;
}

void Served::receive(const GenerationEvent& event) {
  Stream& stream = streams_[event.request_id];
  EXPECT_FALSE(stream.ended) << "an event after the last one";
  stream.tokens.insert(stream.tokens.end(), event.tokens.begin(), event.tokens.end());
  stream.text += event.text;
  stream.logprobs.insert(stream.logprobs.end(), event.logprobs.begin(), event.logprobs.end());
  stream.top_logprobs.insert(stream.top_logprobs.end(), event.top_logprobs.begin(),
                             event.top_logprobs.end());
  stream.generated_so_far.push_back(event.generated_tokens);
  stream.last = event;
  stream.ended = event.finish != FinishReason::none;
  if (on_event) on_event(event);
  if (done_ && done_()) {
    done_ = nullptr;  // a second stop would be left over for the next run
    loop_->stop();
  }
}

void Served::await_loop() {
  auto came_round = std::make_shared<std::atomic<bool>>(false);
  loop_->post([came_round] { *came_round = true; });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  while (!*came_round && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
}

void Served::in_step_with_loop(EngineParts& /*parts*/, Served& self) {
  self.device().before_step = [&self](const halogen_step&) { self.await_loop(); };
}

void Served::spilling(EngineParts& parts, Served& /*self*/) {
  static const halogen_scheduler_factory factory = [] {
    halogen_scheduler_factory spilling = scheduler::factory;
    spilling.plan = [](halogen_scheduler* scheduler, const halogen_schedule_view* view,
                       halogen_schedule_plan* plan, halogen_error* error) {
      const halogen_status status = scheduler::factory.plan(scheduler, view, plan, error);
      for (uint32_t i = 0; i < view->n_requests; i++)
        if (plan->preempt[i] != HALOGEN_KEEP) plan->preempt[i] = HALOGEN_PREEMPT_SPILL;
      return status;
    };
    return spilling;
  }();
  parts.scheduler = &factory;
}

void Served::await_run() const {
  while (!run_) std::this_thread::yield();
}

void Served::held_until_run(EngineParts& /*parts*/, Served& self) {
  self.device().before_step = [&self](const halogen_step&) { self.await_run(); };
}

void Served::run_until(const std::function<bool()>& done) {
  run_ = true;
  if (done()) return;
  done_ = done;
  Timer watchdog(*loop_, [this] {
    ADD_FAILURE() << "nothing ended within 60 seconds";
    loop_->stop();
  });
  watchdog.start(std::chrono::seconds(60));
  loop_->run();
  done_ = nullptr;
}

void Served::run() {
  run_until([this] {
    for (const auto& [id, stream] : streams_)
      if (!stream.ended) return false;
    return true;
  });
}

void Served::run_until_idle() {
  int turns = 0;
  Timer timer(*loop_, [&] {
    const EngineStats stats = engine_->stats();
    const bool idle = stats.blocks_used == 0 && stats.requests_running == 0;
    if (!idle && ++turns < 10000) return;
    EXPECT_TRUE(idle) << "blocks or requests are left over";
    loop_->stop();
  });
  timer.start(std::chrono::milliseconds(1), std::chrono::milliseconds(1));
  loop_->run();
}

void Served::cancel(uint64_t id) {
  engine_->cancel(id);
  stream(id).ended = true;  // so that an event that comes nevertheless is noticed
}

}  // namespace halogen::fake
