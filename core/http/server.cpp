#include "core/http/server.h"

#include <csignal>
#include <utility>

#include "core/http/internal/server_core.h"

namespace halogen::http {

namespace {

// What the policy refuses does not reach the gate behind it.
Gate gate_of(const CorsPolicy& cors, Gate gate) {
  return [cors, gate = std::move(gate)](const Request& request) -> std::optional<Refusal> {
    if (auto refused = cors.refuse(request)) return refused;
    return gate ? gate(request) : std::nullopt;
  };
}

}  // namespace

Result<std::unique_ptr<Server>> Server::listen(Loop& loop, ServerOptions options, Handler handler) {
  std::signal(SIGPIPE, SIG_IGN);
  options.gate = gate_of(options.cors, std::move(options.gate));
  auto core = std::make_unique<ServerCore>(loop, std::move(options), std::move(handler));
  if (Status listening = core->listen(); !listening) {
    core.release()->shut_down();
    return listening.error();
  }
  const uint16_t port = core->port();
  return std::unique_ptr<Server>(new Server(std::move(core), port));
}

Server::Server(std::unique_ptr<ServerCore> core, uint16_t port)
    : core_(core.release()), port_(port) {}

Server::~Server() {
  core_->shut_down();
}

void Server::drain(std::function<void()> done) {
  core_->drain(std::move(done));
}

ServerStats Server::stats() const {
  return core_->stats_now();
}

}  // namespace halogen::http
