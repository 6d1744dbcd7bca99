#include "core/api/api.h"

#include <exception>
#include <string_view>
#include <utility>

#include "core/api/api_error.h"
#include "core/api/chat.h"
#include "core/api/completions.h"
#include "core/api/fields.h"
#include "core/api/models.h"
#include "core/api/tokens.h"
#include "core/http/cors.h"

namespace halogen::api {
namespace {

constexpr std::string_view kModelPrefix = "/v1/models/";

// Bytes of a body that the loop thread reads itself: at worst (a conversation) that takes about a
// millisecond, which is not worth a change of threads.
constexpr size_t kReadAtOnce = size_t{16} << 10;

constexpr const char* kRetryWhileLoading = "5";  // seconds

// "/v1/models/" is "/v1/models": clients put paths together from parts.
std::string_view path_of(const http::Request& request) {
  std::string_view path = request.path;
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

http::Refusal key_needed(bool one_was_sent) {
  const std::string advice = "; send 'Authorization: Bearer KEY' or 'x-api-key: KEY'";
  return {401,
          "invalid_api_key",
          (one_was_sent ? "the API key is not known here" : "an API key is needed") + advice,
          {{"WWW-Authenticate", one_was_sent ? "Bearer realm=\"halogen\", error=\"invalid_token\""
                                             : "Bearer realm=\"halogen\""}}};
}

}  // namespace

struct Api::Route {
  std::string_view method;
  std::string_view path;  // one that ends in '/' stands for all below it
  Handler handler;
  bool open;  // needs no key

  bool takes(std::string_view wanted) const {
    return wanted == method || (wanted == "HEAD" && method == "GET");
  }
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

// The methods that a path takes, for Allow; empty where there is nothing.
std::string Api::allowed(const http::Request& request) {
  std::string methods;
  for (const Route& route : routes()) {
    if (!route.matches(path_of(request))) continue;
    methods += std::string(route.method) + (route.method == "GET" ? ", HEAD, " : ", ");
  }
  return methods.empty() ? methods : methods + "OPTIONS";
}

http::Refusal Api::no_route(const http::Request& request) {
  const std::string methods = allowed(request);
  if (methods.empty()) {
    return {
        404, "unknown_url", "there is nothing at " + request.path + "; the API begins at /v1", {}};
  }
  return {405,
          "method_not_allowed",
          std::string(request.method) + " is not allowed at " + request.path + "; use " + methods,
          {{"Allow", methods}}};
}

const Api::Route* Api::find(const http::Request& request) {
  for (const Route& route : routes()) {
    if (route.takes(request.method) && route.matches(path_of(request))) return &route;
  }
  return nullptr;
}

Api::Api(ApiOptions options, Loop& loop, MetricRegistry& registry)
    : keys_(std::move(options.keys)),
      metrics_(options.metrics),
      registry_(registry),
      workers_(loop),
      engine_metrics_(registry),
      http_metrics_(registry),
      memory_metrics_(registry) {}

std::optional<http::Refusal> Api::admit(const http::Request& request) const {
  const Route* route = find(request);
  if (route == nullptr && request.method == "OPTIONS") return std::nullopt;
  if (route == nullptr) return no_route(request);
  if (!route->open && !keys_.admit(request)) {
    return key_needed(request.headers.contains("Authorization") ||
                      request.headers.contains("x-api-key"));
  }
  if (route->method != "POST") return std::nullopt;

  const std::string_view coding = request.headers.get("Content-Encoding");
  if (!coding.empty() && !http::equals_ignoring_case(coding, "identity")) {
    return http::Refusal{415,
                         "unsupported_content_encoding",
                         "a body with Content-Encoding '" + std::string(coding) +
                             "' is not supported; send it plain",
                         {}};
  }
  if (model_ && state_.phase != ServerState::Phase::draining) return std::nullopt;
  if (state_.phase == ServerState::Phase::loading) {
    return http::Refusal{
        503, "model_loading", "the model is still loading", {{"Retry-After", kRetryWhileLoading}}};
  }
  return http::Refusal{503,
                       "unavailable",
                       "the server is not taking requests",
                       {{"Retry-After", kRetryWhileLoading}}};
}

void Api::handle(const std::shared_ptr<http::Exchange>& exchange) {
  const http::Request& request = exchange->request();
  if (request.method == "OPTIONS") return serve_options(*exchange);
  if (const auto refused = admit(request)) {
    return exchange->respond_error(refused->status, refused->message, refused->code,
                                   refused->headers);
  }
  (this->*find(request)->handler)(exchange);
}

// A browser's question is answered for every path, since it would hide a 404 from its page.
void Api::serve_options(http::Exchange& exchange) const {
  const http::Request& request = exchange.request();
  const std::string methods = request.path == "*" ? "GET, HEAD, POST, OPTIONS" : allowed(request);
  if (methods.empty() && !http::is_preflight(request)) {
    const http::Refusal refused = no_route(request);
    return exchange.respond_error(refused.status, refused.message, refused.code);
  }
  exchange.respond(204, "", "", {{"Allow", methods.empty() ? "OPTIONS" : methods}});
}

void Api::serve_metrics(const std::shared_ptr<http::Exchange>& exchange) {
  if (!metrics_) {
    return respond(*exchange, {404, "metrics are switched off in the profile", "", "unknown_url"});
  }
  if (model_) engine_metrics_.update(model_->engine->stats());
  if (http_stats_) http_metrics_.update(http_stats_());
  memory_metrics_.update(process_memory());
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
  const std::string_view name = path_of(exchange->request()).substr(kModelPrefix.size());
  show_model(*exchange, model_ ? &*model_ : nullptr, name);
}

void Api::serve(const std::shared_ptr<http::Exchange>& exchange, Endpoint endpoint) {
  const std::string& body = exchange->request().body;
  const std::string_view type = exchange->request().headers.get("Content-Type");
  if (body.size() <= kReadAtOnce) return read_request(body, type, *model_, endpoint)(exchange);
  struct Work {
    std::string body, type;
    Reply reply;
  };
  const auto work =
      std::make_shared<Work>(Work{std::move(exchange->request().body), std::string(type), {}});
  workers_.run(
      [work, &model = *model_, endpoint] {
        work->reply = read_request(work->body, work->type, model, endpoint);
        work->body = {};
      },
      [work, exchange] {
        try {
          work->reply(exchange);
        } catch (const std::exception&) {  // no memory for it
          exchange->respond_error(500, "the server failed while handling this request",
                                  "internal_error");
        }
      });
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
