// A backend under test, its programs and their KV pools, with everything destroyed in order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "halogen/backend.h"

#include "core/base/result.h"
#include "core/check/backend/step_maker.h"
#include "core/check/backend/test_graph.h"
#include "core/check/case.h"
#include "core/check/subject.h"

namespace halogen::check {

// For a step that should end, in microseconds.
constexpr uint64_t kStepPatience = 60'000'000;

class BackendSession {
 public:
  // Loads the plugin and creates the backend at the first call, with the command line's settings.
  Status open(Subject& subject);

  const halogen_backend_factory& factory() const { return *factory_; }
  halogen_backend* backend() const { return backend_; }
  bool batch_invariant() const { return (factory_->flags & HALOGEN_BACKEND_BATCH_INVARIANT) != 0; }

 private:
  const halogen_backend_factory* factory_ = nullptr;
  halogen_backend* backend_ = nullptr;
};

struct ProgramSizes {
  uint32_t max_tokens = 128, max_sequences = 8, max_context = 512;
  uint32_t block_tokens = 16, blocks = 64;
  halogen_type key_type = HALOGEN_F32, value_type = HALOGEN_F32;

  void set_kv_type(halogen_type type) { key_type = value_type = type; }
};

// The rows of a step, as the backend wrote them.
struct Rows {
  std::vector<float> logits, hidden;
};

class TestProgram {
 public:
  // Everything that program_create takes; the structs stay valid as long as this object.
  TestProgram(const BackendSession& session, const TestGraph& graph, const ProgramSizes& sizes);
  ~TestProgram();
  TestProgram(const TestProgram&) = delete;
  TestProgram& operator=(const TestProgram&) = delete;

  // Creates program and KV pool. HALOGEN_E_UNSUPPORTED where the backend does not keep K and V as
  // asked, which only floats and halves oblige it to.
  Status create();
  // Submits a step and waits for it.
  Result<Rows> run(const StepArrays& arrays);

  const halogen_program_request& request() const { return request_; }
  halogen_program_request& request() { return request_; }
  const halogen_kv_geometry& geometry() const { return geometry_; }
  halogen_program* program() const { return program_; }
  halogen_kv* kv() const { return kv_; }

 private:
  const BackendSession& session_;
  const TestGraph& graph_;
  std::vector<halogen_weight_data> weights_;
  halogen_limits limits_{};
  halogen_kv_geometry geometry_{};
  halogen_shard shard_{};
  halogen_program_request request_{};
  uint32_t blocks_;
  halogen_program* program_ = nullptr;
  halogen_kv* kv_ = nullptr;
};

// What supports() says of the whole graph: pass, unsupported with the plugin's sentence, or failed
// where it has none. A graph that the reference does not know is skipped.
Outcome supported(const BackendSession& session, const halogen_graph& graph);

// What a case comes to whose program could not be created.
Outcome not_created(const Error& error, const ProgramSizes& sizes);

halogen_error no_error();
// "status 1 (invalid): the message"
std::string described(halogen_status status, const halogen_error& error);

}  // namespace halogen::check
