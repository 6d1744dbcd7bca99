#include "core/check/backend/backend_cases.h"

#include "core/check/backend/operator_cases.h"

namespace halogen::check {

TestGraph& OperatorCase::graph(uint32_t hidden_width, uint32_t vocabulary) {
  return graph_.emplace(subject_.random(name_), vocabulary, hidden_width);
}

StepArrays OperatorCase::tokens(uint32_t count) {
  return plain_step(*graph_, count, sizes_);
}

Outcome OperatorCase::compare(const std::vector<StepArrays>& steps) {
  if (auto finished = graph_->finish(); !finished)
    return Outcome::failed("the case's own graph is wrong: " + finished.error().message);
  return compare_steps(session_, *graph_, sizes_, steps, precision());
}

void CaseList::add(std::string name, bool quick, std::function<Outcome(OperatorCase&)> body) {
  Case added;
  added.kind = "backend";
  added.name = name;
  added.quick = quick;
  added.run = [session = session_, name = std::move(name),
               body = std::move(body)](Subject& subject) -> Outcome {
    if (auto opened = session->open(subject); !opened) {
      // Without the device or its driver nothing can be judged; all else is the plugin's fault.
      const halogen_status status = opened.error().status;
      return status == HALOGEN_E_NOT_FOUND || status == HALOGEN_E_UNSUPPORTED
                 ? Outcome::skipped(opened.error().message)
                 : Outcome::failed(opened.error().message);
    }
    OperatorCase operator_case(subject, *session, name);
    return body(operator_case);
  };
  cases_.push_back(std::move(added));
}

void add_backend_cases(const Options& /*options*/, std::vector<Case>& cases) {
  CaseList list(cases, std::make_shared<BackendSession>());
  add_contract_cases(list);
  add_linear_cases(list);
  add_vector_cases(list);
  add_rope_cases(list);
  add_attend_cases(list);
  add_expert_cases(list);
  add_kv_cases(list);
  add_batch_cases(list);
}

std::vector<std::string> backend_introduction(Subject& subject) {
  std::vector<std::string> lines;
  const auto* factory = subject.factory<halogen_backend_factory>(HALOGEN_BACKEND_KIND);
  for (uint32_t i = 0; factory && i < 16; i++) {
    halogen_device device{};
    device.struct_size = sizeof device;
    halogen_error error = no_error();
    const halogen_status status = factory->device_at(i, &device, &error);
    if (status == HALOGEN_E_NOT_FOUND) break;
    if (status != HALOGEN_OK) {
      lines.push_back("device    " + described(status, error));
      break;
    }
    lines.push_back(
        "device    " + std::string(device.name, strnlen(device.name, sizeof device.name)) +
        (device.pci[0] ? " at " + std::string(device.pci) : std::string()) + ", " +
        std::to_string(device.memory_bytes >> 20) + " MiB" + (device.unified ? ", unified" : ""));
  }
  return lines;
}

}  // namespace halogen::check
