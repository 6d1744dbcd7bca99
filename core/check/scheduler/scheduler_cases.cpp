#include "core/check/scheduler/scheduler_cases.h"

#include <algorithm>
#include <cstring>

#include "core/check/guarded_memory.h"
#include "core/check/scheduler/simulation.h"
#include "core/engine/plan.h"

namespace halogen::check {
namespace {

using Requests = std::vector<SimulatedRequest>;

// A scheduler with the command line's settings.
class Session {
 public:
  explicit Session(Subject& subject) {
    scheduler_.factory = subject.factory<halogen_scheduler_factory>(HALOGEN_SCHEDULER_KIND);
    if (!scheduler_.factory) {
      error_ = subject.error();
      return;
    }
    auto settings = subject.settings(
        "scheduler", {scheduler_.factory->config_keys, scheduler_.factory->n_config_keys});
    if (!settings) {
      error_ = settings.error().message;
      return;
    }
    halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
    const halogen_status status =
        scheduler_.factory->create(settings->config(), &scheduler_.scheduler, &error);
    if (status != HALOGEN_OK)
      error_ = std::string("create answers ") + halogen_status_name(status) + ": " + error.message;
  }
  ~Session() {
    if (error_.empty()) scheduler_.factory->destroy(scheduler_.scheduler);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string& error() const { return error_; }
  const SchedulerUnderTest& operator*() const { return scheduler_; }
  const SchedulerUnderTest* operator->() const { return &scheduler_; }

 private:
  SchedulerUnderTest scheduler_{nullptr, nullptr};
  std::string error_;
};

class Dice {
 public:
  explicit Dice(std::mt19937 random) : random_(random) {}
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

 private:
  std::mt19937 random_;
};

struct Situation {
  Requests requests;
  Budgets budgets;
};

// Anything that an engine could be in: waiting and running requests, a pool that is full or not.
Situation random_situation(Dice& dice, bool priorities) {
  Situation s;
  s.budgets.block_tokens = 1 + dice.below(8);
  s.budgets.tokens = 1 + dice.below(40);
  s.budgets.prefill = 1 + dice.below(s.budgets.tokens);
  s.budgets.max_sequences = 1 + dice.below(10);
  s.budgets.free_blocks = dice.below(4) == 0 ? 0 : dice.below(30);
  s.requests.resize(1 + dice.below(16));
  uint32_t running = 0, held = 0;
  for (size_t i = 0; i < s.requests.size(); i++) {
    SimulatedRequest& request = s.requests[i];
    request.id = 100 + i;
    request.arrival_us = 1000 * i;
    if (priorities) request.priority = static_cast<int32_t>(dice.below(6)) / 5;
    request.waiting = dice.below(2) == 0 ? 1 : 1 + dice.below(30);
    if (running == s.budgets.max_sequences || dice.below(2) == 0) continue;
    running++;
    request.running = true;
    request.computed = dice.below(40);
    request.blocks = blocks_for(request.computed, s.budgets.block_tokens);
    held += request.blocks;
  }
  // The core admits only what fits an empty pool.
  for (const SimulatedRequest& request : s.requests) {
    const uint32_t alone = blocks_for(request.computed + request.waiting, s.budgets.block_tokens);
    s.budgets.free_blocks = std::max(s.budgets.free_blocks, alone - std::min(alone, held));
  }
  s.budgets.total_blocks = s.budgets.free_blocks + held;
  s.budgets.now_us = 1000 * s.requests.size();
  return s;
}

std::string told(const Situation& s) {
  std::string text = " in a pool of " + std::to_string(s.budgets.total_blocks) + " blocks of " +
                     std::to_string(s.budgets.block_tokens) + " (" +
                     std::to_string(s.budgets.free_blocks) + " free), budget " +
                     std::to_string(s.budgets.tokens) + ", at most " +
                     std::to_string(s.budgets.max_sequences) + " running; requests:";
  for (const SimulatedRequest& request : s.requests)
    text += std::string(request.running ? " running " : " waiting ") +
            std::to_string(request.computed) + "+" + std::to_string(request.waiting) + "/" +
            std::to_string(request.blocks);
  return text;
}

using Body = std::function<Outcome(Subject&, const Session&, Dice)>;

Case make_case(const char* name, Body body) {
  Case made;
  made.kind = "scheduler";
  made.name = name;
  made.limit = std::chrono::seconds(60);
  made.run = [name, body = std::move(body)](Subject& subject) -> Outcome {
    const Session session(subject);
    if (!session.error().empty()) return Outcome::failed(session.error());
    return body(subject, session, Dice(subject.random(name)));
  };
  return made;
}

// --- single plans -------------------------------------------------------------------------------

Outcome plans_nothing(Subject&, const Session& session, Dice) {
  const SimulatedPlan plan = session->plan({}, Budgets());
  return plan.fault.empty() ? Outcome{} : Outcome::failed("without requests: " + plan.fault);
}

Outcome keeps_the_invariants(Subject& subject, const Session& session, Dice dice) {
  const int rounds = subject.options().quick ? 2000 : 20000;
  for (int round = 0; round < rounds; round++) {
    const Situation s = random_situation(dice, true);
    const SimulatedPlan plan = session->plan(s.requests, s.budgets);
    if (!plan.fault.empty()) return Outcome::failed(plan.fault + told(s));
  }
  return {};
}

Outcome keeps_them_with_large_numbers(Subject&, const Session& session, Dice dice) {
  for (int round = 0; round < 2000; round++) {
    Situation s = random_situation(dice, false);
    // A context of millions of tokens, a pool of billions of positions.
    s.budgets.block_tokens = 256;
    s.budgets.tokens = 1U << 20;
    s.budgets.prefill = 1U << 20;
    uint32_t held = 0;
    for (SimulatedRequest& request : s.requests) {
      request.waiting *= 1U << 22;
      if (!request.running) continue;
      request.computed *= 1U << 22;
      request.blocks = blocks_for(request.computed, s.budgets.block_tokens);
      held += request.blocks;
    }
    s.budgets.free_blocks = (1U << 31) - held;
    s.budgets.total_blocks = 1U << 31;
    const SimulatedPlan plan = session->plan(s.requests, s.budgets);
    if (!plan.fault.empty()) return Outcome::failed(plan.fault + told(s));
  }
  return {};
}

bool same(const SimulatedPlan& a, const SimulatedPlan& b) {
  return a.tokens == b.tokens && a.preempt == b.preempt;
}

Outcome is_pure(Subject& subject, const Session& session, Dice dice) {
  const Session another(subject);
  if (!another.error().empty()) return Outcome::failed(another.error());
  std::vector<std::pair<Situation, SimulatedPlan>> seen;
  for (int round = 0; round < 300; round++) {
    Situation s = random_situation(dice, true);
    SimulatedPlan plan = session->plan(s.requests, s.budgets);
    if (!same(plan, session->plan(s.requests, s.budgets)))
      return Outcome::failed("the same view gets another plan the second time," + told(s));
    seen.emplace_back(std::move(s), std::move(plan));
  }
  for (const auto& [s, plan] : seen) {
    if (!same(plan, session->plan(s.requests, s.budgets)))
      return Outcome::failed("a view gets another plan after other views," + told(s));
    if (!same(plan, another->plan(s.requests, s.budgets)))
      return Outcome::failed("another scheduler of the same settings plans otherwise," + told(s));
  }
  return {};
}

// A larger view, as a newer host has it, whose arrays end where memory does.
Outcome takes_larger_structs(Subject&, const Session& session, Dice dice) {
  for (int round = 0; round < 100; round++) {
    const Situation s = random_situation(dice, false);
    const SimulatedPlan plain = session->plan(s.requests, s.budgets);
    const ViewArrays arrays(s.requests, s.budgets);
    struct {
      halogen_schedule_view view;
      uint8_t more[64];
    } newer{arrays.view(), {}};
    std::memset(newer.more, 0xa5, sizeof newer.more);
    newer.view.struct_size = sizeof newer;
    const size_t n = s.requests.size();
    std::vector<GuardedMemory> memory;
    const auto guard = [&](auto*& array) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(array);
      memory.emplace_back(std::span(bytes, n * sizeof *array));
      memory.back().protect();
      array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(memory.back().data());
    };
    guard(newer.view.ids);
    guard(newer.view.arrival_us);
    guard(newer.view.priorities);
    guard(newer.view.states);
    guard(newer.view.computed_tokens);
    guard(newer.view.waiting_tokens);
    guard(newer.view.cached_tokens);
    guard(newer.view.generated_tokens);
    guard(newer.view.blocks_held);
    GuardedMemory tokens(n * sizeof(uint32_t)), preempt(n);
    struct {
      halogen_schedule_plan plan;
      uint8_t more[64];
    } out{{sizeof out, reinterpret_cast<uint32_t*>(tokens.data()), preempt.data()}, {}};
    halogen_error error{sizeof(halogen_error), HALOGEN_OK, ""};
    const halogen_status status =
        session->factory->plan(session->scheduler, &newer.view, &out.plan, &error);
    if (status != HALOGEN_OK)
      return Outcome::failed(std::string("a view of a newer host is refused: ") + error.message);
    if (!std::equal(plain.tokens.begin(), plain.tokens.end(), out.plan.tokens) ||
        !std::equal(plain.preempt.begin(), plain.preempt.end(), out.plan.preempt))
      return Outcome::failed("a view of a newer host gets another plan," + told(s));
  }
  return {};
}

Outcome prefers_priority(Subject&, const Session& session, Dice) {
  Requests requests(3);
  for (SimulatedRequest& request : requests) request.waiting = 8;
  requests[2].priority = 1;
  Budgets budgets;
  budgets.tokens = budgets.prefill = 8;
  const SimulatedPlan plan = session->plan(requests, budgets);
  if (!plan.fault.empty()) return Outcome::failed(plan.fault);
  const std::vector<uint32_t>& tokens = plan.tokens;
  if (tokens[2] > 0 && tokens[2] >= tokens[0] && tokens[2] >= tokens[1]) return {};
  if (tokens[0] >= tokens[1] && tokens[1] >= tokens[2])
    return Outcome::unsupported("it serves in order of arrival whatever the priorities");
  return Outcome::failed(
      "a step that holds one of three waiting requests is given neither to the one of the highest "
      "priority nor to the oldest");
}

// Among equals, whoever came later gives way.
Outcome preempts_the_youngest(Subject&, const Session& session, Dice dice) {
  int preemptions = 0;
  for (int round = 0; round < 5000; round++) {
    const Situation s = random_situation(dice, false);
    const SimulatedPlan plan = session->plan(s.requests, s.budgets);
    if (!plan.fault.empty()) return Outcome::failed(plan.fault + told(s));
    bool kept_younger = false;
    for (size_t i = s.requests.size(); i-- > 0;) {
      if (!s.requests[i].running) continue;
      if (plan.preempt[i] == HALOGEN_KEEP) {
        kept_younger = true;
      } else if (kept_younger) {
        return Outcome::failed("request " + std::to_string(i) +
                               " is preempted while a younger one runs on," + told(s));
      } else {
        preemptions++;
      }
    }
  }
  return preemptions > 0 ? Outcome{} : Outcome::skipped("nobody was ever preempted");
}

// --- histories ----------------------------------------------------------------------------------

Outcome ends_every_request(Subject& subject, const Session& session, Dice dice) {
  const int rounds = subject.options().quick ? 30 : 200;
  uint32_t preemptions = 0;
  for (int round = 0; round < rounds; round++) {
    Budgets budgets;
    budgets.block_tokens = 1 + dice.below(6);
    budgets.total_blocks = blocks_for(60, budgets.block_tokens) + dice.below(20);
    budgets.tokens = 4 + dice.below(30);
    budgets.prefill = 1 + dice.below(budgets.tokens);
    std::vector<Job> jobs;
    uint32_t arrival = 0, work = 0;
    for (uint64_t id = 0; id < 60; id++) {
      arrival += dice.below(4);
      jobs.push_back({id, 1 + dice.below(30), 1 + dice.below(30), arrival});
      work += jobs.back().prompt + jobs.back().answer;
    }
    const History history = play(*session, jobs, budgets);
    const std::string where = "history " + std::to_string(round) + ": ";
    if (!history.fault.empty()) return Outcome::failed(where + history.fault);
    // Even one token at a time would need no more, but for what is computed twice.
    if (history.steps > 3 * work + arrival)
      return Outcome::failed(where + std::to_string(history.steps) + " steps for " +
                             std::to_string(work) + " tokens");
    preemptions += history.preemptions;
  }
  Outcome outcome;
  outcome.measure = std::to_string(preemptions) + " preemptions";
  return outcome;
}

Outcome starves_nobody(Subject&, const Session& session, Dice) {
  Budgets budgets;
  budgets.total_blocks = 20;
  std::vector<Job> jobs;
  for (uint64_t id = 0; id < 500; id++) jobs.push_back({id, 4, 6, static_cast<uint32_t>(id)});
  jobs[30].prompt = 70;  // needs nearly the whole pool
  const History history = play(*session, jobs, budgets);
  if (!history.fault.empty()) return Outcome::failed(history.fault);
  const auto& finished = history.finished;
  const auto place = std::find(finished.begin(), finished.end(), 30) - finished.begin();
  // A stream of small ones that fits may pass it for a while, and not for ever.
  return place < 200
             ? Outcome{}
             : Outcome::failed("a request that needs the whole pool is finished after " +
                               std::to_string(place) + " others of 499 that came in a stream");
}

Outcome leaves_decodes_alone(Subject&, const Session& session, Dice) {
  std::vector<Job> jobs;
  for (uint64_t id = 0; id < 50; id++) jobs.push_back({id, 20, 20, static_cast<uint32_t>(id / 5)});
  Budgets budgets;
  budgets.total_blocks = 1000;
  const History history = play(*session, jobs, budgets);
  if (!history.fault.empty()) return Outcome::failed(history.fault);
  return history.preemptions == 0 ? Outcome{}
                                  : Outcome::failed(std::to_string(history.preemptions) +
                                                    " preemptions in a pool that has room for all");
}

}  // namespace

void add_scheduler_cases(const Options& /*options*/, std::vector<Case>& cases) {
  cases.push_back(make_case("plan/nothing-to-do", plans_nothing));
  cases.push_back(make_case("plan/invariants", keeps_the_invariants));
  cases.push_back(make_case("plan/large-numbers", keeps_them_with_large_numbers));
  cases.push_back(make_case("plan/same-view-same-plan", is_pure));
  cases.push_back(make_case("plan/newer-host", takes_larger_structs));
  cases.push_back(make_case("plan/priority", prefers_priority));
  cases.push_back(make_case("plan/preempts-the-youngest", preempts_the_youngest));
  cases.push_back(make_case("history/every-request-ends", ends_every_request));
  cases.push_back(make_case("history/nobody-starves", starves_nobody));
  cases.push_back(make_case("history/room-for-all", leaves_decodes_alone));
}

}  // namespace halogen::check
