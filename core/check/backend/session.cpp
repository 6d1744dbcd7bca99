#include "core/check/backend/session.h"

#include "core/check/reference/evaluate.h"

namespace halogen::check {

halogen_error no_error() {
  return {sizeof(halogen_error), HALOGEN_OK, ""};
}

std::string described(halogen_status status, const halogen_error& error) {
  return "status " + std::to_string(status) + " (" + halogen_status_name(status) +
         "): " + (error.message[0] ? error.message : "no message");
}

Status BackendSession::open(Subject& subject) {
  if (backend_) return {};
  factory_ = subject.factory<halogen_backend_factory>(HALOGEN_BACKEND_KIND);
  if (!factory_) return fail(HALOGEN_E_INVALID, subject.error());
  auto settings = subject.settings("backend", {factory_->config_keys, factory_->n_config_keys});
  if (!settings) return settings.error();
  halogen_error error = no_error();
  const halogen_status status = factory_->create(settings->config(), &backend_, &error);
  if (status == HALOGEN_OK && backend_) return {};
  backend_ = nullptr;
  return fail(status == HALOGEN_OK ? HALOGEN_E_INTERNAL : status,
              "the backend cannot be created: " + described(status, error));
}

TestProgram::TestProgram(const BackendSession& session, const TestGraph& graph,
                         const ProgramSizes& sizes)
    : session_(session), graph_(graph), weights_(graph.weight_data()), blocks_(sizes.blocks) {
  limits_ = {sizeof limits_, sizes.max_tokens, sizes.max_sequences, sizes.max_tokens,
             sizes.max_context};
  geometry_ = {sizeof geometry_, sizes.block_tokens, sizes.key_type, sizes.value_type};
  shard_ = {sizeof shard_, 0, 1, nullptr};
  request_.struct_size = sizeof request_;
  request_.graph = &graph.graph();
  request_.weights = weights_.data();
  request_.geometry = &geometry_;
  request_.limits = &limits_;
  request_.shard = &shard_;
}

TestProgram::~TestProgram() {
  if (kv_) session_.factory().kv_destroy(kv_);
  if (program_) session_.factory().program_destroy(program_);
}

Status TestProgram::create() {
  halogen_error error = no_error();
  halogen_status status =
      session_.factory().program_create(session_.backend(), &request_, &program_, &error);
  if (status != HALOGEN_OK)
    return fail(status, "program_create answers " + described(status, error));
  status = session_.factory().kv_create(program_, blocks_, &kv_, &error);
  if (status != HALOGEN_OK) return fail(status, "kv_create answers " + described(status, error));
  return {};
}

Result<Rows> TestProgram::run(const StepArrays& arrays) {
  const halogen_graph& graph = graph_.graph();
  const size_t n = arrays.rows.size();
  const size_t logits = graph.logits == HALOGEN_NO_VALUE ? 0 : n * graph.vocabulary_size;
  const size_t hidden = graph.hidden == HALOGEN_NO_VALUE ? 0 : n * graph.hidden_size;
  GuardedMemory logits_memory(logits * sizeof(float)), hidden_memory(hidden * sizeof(float));
  auto* logits_out = reinterpret_cast<float*>(logits_memory.data());
  auto* hidden_out = reinterpret_cast<float*>(hidden_memory.data());
  const halogen_step step =
      arrays.step(logits > 0 ? logits_out : nullptr, hidden > 0 ? hidden_out : nullptr);

  const halogen_backend_factory& factory = session_.factory();
  halogen_error error = no_error();
  uint64_t ticket = 0;
  halogen_status status = factory.step_submit(program_, kv_, nullptr, &step, &ticket, &error);
  if (status != HALOGEN_OK) return fail(status, "step_submit answers " + described(status, error));
  status = factory.step_wait(program_, ticket, kStepPatience, &error);
  if (status != HALOGEN_OK) return fail(status, "step_wait answers " + described(status, error));
  Rows rows;
  rows.logits.assign(logits_out, logits_out + logits);
  rows.hidden.assign(hidden_out, hidden_out + hidden);
  return rows;
}

Outcome not_created(const Error& error, const ProgramSizes& sizes) {
  const auto plain = [](halogen_type type) { return type == HALOGEN_F32 || type == HALOGEN_F16; };
  const bool may_refuse = !plain(sizes.key_type) || !plain(sizes.value_type);
  return error.status == HALOGEN_E_UNSUPPORTED && may_refuse ? Outcome::unsupported(error.message)
                                                             : Outcome::failed(error.message);
}

Outcome supported(const BackendSession& session, const halogen_graph& graph) {
  for (uint32_t i = 0; i < graph.n_nodes; i++) {
    const halogen_node& node = *graph.nodes[i];
    halogen_error error = no_error();
    const halogen_status status =
        session.factory().supports(session.backend(), &graph, &node, &error);
    if (status == HALOGEN_E_UNSUPPORTED && error.message[0])
      return Outcome::unsupported(error.message);
    if (status != HALOGEN_OK)
      return Outcome::failed(std::string("supports(") + op_name(node.op) + ") answers " +
                             described(status, error));
    if (auto known = reference::knows(graph, node); !known)
      return Outcome::skipped(known.error().message);
  }
  return {};
}

}  // namespace halogen::check
