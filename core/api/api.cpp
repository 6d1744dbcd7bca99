#include "core/api/api.h"

#include <string_view>
#include <utility>

#include "core/api/api_error.h"
#include "core/api/chat.h"
#include "core/api/completions.h"
#include "core/api/fields.h"
#include "core/api/models.h"
#include "core/api/tokens.h"

namespace halogen::api {
namespace {

constexpr std::string_view kModelPrefix = "/v1/models/";

// Bytes of a body that the loop thread reads itself: at worst (a conversation) that takes about a
// millisecond, which is not worth a change of threads.
constexpr size_t kReadAtOnce = size_t{16} << 10;

// Takes the same time whatever the two have in common.
bool same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); i++) {
    difference |= static_cast<unsigned char>(a[i]) ^
                  static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  }
  return difference == 0;
}

}  // namespace

struct Api::Route {
  std::string_view method;
  std::string_view path;  // one that ends in '/' stands for all below it
  Handler handler;
  bool open;  // needs no key

  bool matches(std::string_view wanted) const {
    return path.ends_with('/') ? wanted.starts_with(path) && wanted.size() > path.size()
                               : wanted == path;
  }
};

const std::vector<Api::Route>& Api::routes() {
  static const std::vector<Route> table = {
      {"POST", "/v1/chat/completions", &Api::serve_chat, false},
      {"POST", "/v1/completions", &Api::serve_completions, false},
      {"GET", "/v1/models", &Api::serve_models, false},
      {"GET", kModelPrefix, &Api::serve_model, false},
      {"POST", "/tokenize", &Api::serve_tokenize, false},
      {"POST", "/detokenize", &Api::serve_detokenize, false},
      {"GET", "/metrics", &Api::serve_metrics, false},
      {"GET", "/health", &Api::serve_health, true},
      {"GET", "/readyz", &Api::serve_health, true},
      {"GET", "/livez", &Api::serve_livez, true},
  };
  return table;
}

Api::Api(ApiOptions options, Loop& loop, MetricRegistry& registry)
    : options_(std::move(options)),
      registry_(registry),
      workers_(loop),
      engine_metrics_(registry) {}

void Api::handle(const std::shared_ptr<http::Exchange>& exchange) {
  const http::Request& request = exchange->request();
  std::string methods;  // that the path has
  for (const Route& route : routes()) {
    if (!route.matches(request.path)) continue;
    const bool head = request.method == "HEAD" && route.method == "GET";
    if (request.method != route.method && !head) {
      methods += (methods.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    if (!route.open && !allowed(request)) {
      return respond(*exchange, {401, "a valid API key is needed: send 'Authorization: Bearer KEY'",
                                 "", "invalid_api_key"});
    }
    return (this->*route.handler)(exchange);
  }
  if (methods.empty()) {
    return respond(*exchange,
                   {404, "there is nothing at " + request.path + "; the API begins at /v1", "",
                    "unknown_url"});
  }
  if (request.method == "OPTIONS")
    return exchange->respond(204, "", "", {{"Allow", methods + ", OPTIONS"}});
  const ApiError error{
      405, std::string(request.method) + " is not allowed at " + request.path + "; use " + methods,
      "", "method_not_allowed"};
  exchange->respond(405, "application/json", to_text(error_json(error)), {{"Allow", methods}});
}

bool Api::allowed(const http::Request& request) const {
  if (options_.keys.empty()) return true;
  constexpr std::string_view scheme = "Bearer ";
  const std::string_view header = request.headers.get("Authorization");
  if (header.size() < scheme.size() ||
      !http::equals_ignoring_case(header.substr(0, scheme.size()), scheme)) {
    return false;
  }
  bool known = false;
  for (const std::string& key : options_.keys)
    known |= same_secret(key, header.substr(scheme.size()));
  return known;
}

void Api::serve_metrics(const std::shared_ptr<http::Exchange>& exchange) {
  if (!options_.metrics) {
    return respond(*exchange, {404, "metrics are switched off in the profile", "", "unknown_url"});
  }
  if (model_) engine_metrics_.update(model_->engine->stats());
  exchange->respond(200, "text/plain; version=0.0.4; charset=utf-8", registry_.text());
}

void Api::serve_health(const std::shared_ptr<http::Exchange>& exchange) {
  readyz(*exchange, state_, model_ ? model_->engine : nullptr);
}

void Api::serve_livez(const std::shared_ptr<http::Exchange>& exchange) {
  livez(*exchange);
}

void Api::serve_models(const std::shared_ptr<http::Exchange>& exchange) {
  list_models(*exchange, model_ ? &*model_ : nullptr);
}

void Api::serve_model(const std::shared_ptr<http::Exchange>& exchange) {
  const std::string name = exchange->request().path.substr(kModelPrefix.size());
  show_model(*exchange, model_ ? &*model_ : nullptr, name);
}

void Api::serve(const std::shared_ptr<http::Exchange>& exchange, Endpoint endpoint) {
  if (!model_ || state_.phase == ServerState::Phase::draining) {
    const bool loading = state_.phase == ServerState::Phase::loading;
    return respond(
        *exchange,
        {503, loading ? "the model is still loading" : "the server is not taking requests", "",
         loading ? "model_loading" : "unavailable"});
  }
  const std::string& body = exchange->request().body;
  if (body.size() <= kReadAtOnce) return read_request(body, *model_, endpoint)(exchange);
  struct Work {
    std::string body;
    Reply reply;
  };
  const auto work = std::make_shared<Work>(Work{std::move(exchange->request().body), {}});
  workers_.run(
      [work, &model = *model_, endpoint] {
        work->reply = read_request(work->body, model, endpoint);
        work->body = {};
      },
      [work, exchange] { work->reply(exchange); });
}

void Api::serve_chat(const std::shared_ptr<http::Exchange>& exchange) {
  serve(exchange, chat_completions);
}

void Api::serve_completions(const std::shared_ptr<http::Exchange>& exchange) {
  serve(exchange, text_completions);
}

void Api::serve_tokenize(const std::shared_ptr<http::Exchange>& exchange) {
  serve(exchange, tokenize);
}

void Api::serve_detokenize(const std::shared_ptr<http::Exchange>& exchange) {
  serve(exchange, detokenize);
}

}  // namespace halogen::api
