// One request and the response to it, as a handler sees them. Everything here is [loop]: other
// threads post to the loop.
//
// An exchange may outlive its connection: once the client is gone every call does nothing and
// write() says `closed`. An exchange that is released unanswered answers 500 by itself, and one
// released in the middle of a stream cuts the connection, so that no client waits for ever.
// Where there is no memory for what is to be sent, the response is cut off as if the client had
// left. Callbacks set here must not hold the exchange's own shared_ptr (a cycle would hide that it
// was released) and must not throw.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/header.h"
#include "core/http/request.h"

namespace halogen::http {

class Connection;

enum class Flow {
  open,       // keep writing
  congested,  // taken, but more than write_buffer_limit waited: pause until the writable callback
  closed      // the client is gone or the response has ended; nothing was taken
};

class Exchange {
 public:
  class Passkey {
    friend class Connection;
    Passkey() = default;
  };
  // `fields`: header fields that the response carries whatever it is, each with its line end.
  Exchange(Passkey, Connection& connection, Request request, bool keep_alive, std::string fields);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // May be moved from: nothing in here needs it after the handler was called.
  Request& request() { return request_; }

  // A whole response with Content-Length. An empty content_type sends none. HEAD, 204 and 304 send
  // no body. Ignored when a response was begun before.
  void respond(int status, std::string_view content_type, std::string_view body,
               const std::vector<Header>& headers = {});

  // respond() with an OpenAI-shaped error; see error_body.h.
  void respond_error(int status, std::string_view message, std::string_view code,
                     const std::vector<Header>& headers = {});

  // The head of a response of unknown length: chunked for HTTP/1.1, ended by closing for HTTP/1.0.
  // Ignored when a response was begun before.
  void begin_stream(int status, std::string_view content_type,
                    const std::vector<Header>& headers = {});

  // Adds to the stream. Everything written in one round of the loop leaves in one write. A stream
  // that stays congested for write_stall_timeout, or would exceed write_buffer_ceiling, is closed
  // as if the client had left.
  Flow write(std::string_view data);

  // Ends the stream; the connection goes on to its next request.
  void end();

  // Resets the connection, so that the client can tell a broken stream from a finished one. Fires
  // no on_close: the caller knows.
  void abort();

  // Called once if the client leaves, or is closed for not reading, before the response has ended.
  // Called at once when that has already happened. Replaces the previous callback.
  void set_on_close(std::function<void()> callback);

  // Called each time a congested stream has drained to half of write_buffer_limit and flows again.
  void set_on_writable(std::function<void()> callback);

  // True while the client is there and the response has not ended.
  bool is_open() const { return connection_ != nullptr; }

  // Bytes of this connection that the kernel has not taken yet.
  size_t buffered() const;

 private:
  friend class Connection;
  enum class State { waiting, streaming, ended };

  template <typename Work>
  void attempt(Work work);
  bool begin(int status, std::string_view content_type, const std::vector<Header>& headers,
             std::optional<size_t> content_length);
  void finish();
  void connection_lost();  // by Connection, which has already forgotten this exchange
  void writable();         // by Connection

  Connection* connection_;  // null once the response has ended or the client is gone
  Request request_;
  const std::string fields_;
  std::function<void()> on_close_;
  std::function<void()> on_writable_;
  State state_ = State::waiting;
  bool keep_alive_;
  const bool head_only_;
  const bool http_1_0_;
  bool body_allowed_ = true;
  bool chunked_ = false;
  bool lost_ = false;
};

}  // namespace halogen::http
