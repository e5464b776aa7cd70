// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/request_head.h"
#include "server/http/request_notes.h"
#include "server/http/route.h"
#include "sys/cpu_pin.h"

// What a handler sees of one request, and what it answers.
namespace rookery::server::http {

using Fields = std::vector<std::pair<std::string, std::string>>;

// {"detail": "<text>"}. `text` is escaped.
[[nodiscard]] std::string detail_json(std::string_view text);

// Ends a request with this answer. `body` is a complete JSON document.
class HttpError : public std::exception {
 public:
  HttpError(int status, std::string body, Fields fields = {})
      : status_(status), body_(std::move(body)), fields_(std::move(fields)) {}
  // With the body {"detail": text}.
  [[nodiscard]] static HttpError with_detail(int status, std::string_view text, Fields fields = {}) {
    return HttpError(status, detail_json(text), std::move(fields));
  }

  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] const std::string& body() const noexcept { return body_; }
  [[nodiscard]] const Fields& fields() const noexcept { return fields_; }
  [[nodiscard]] const char* what() const noexcept override { return body_.c_str(); }

 private:
  int status_;
  std::string body_;
  Fields fields_;
};

// The request's body, without its framing. Nothing is read before the handler asks, and never more than
// the route's limit. Both ways throw HttpError: 413 over the limit, 408 when the client is too slow, 400
// for bad framing or a connection that ended early. Use one of the two.
class Body {
 public:
  virtual ~Body() = default;
  // The whole body. 413 when it is longer than `cap` bytes.
  virtual std::string read_all(std::size_t cap) = 0;
  // The next bytes, as many as are there; 0 at the end.
  virtual std::size_t read(std::span<char> to) = 0;
  // Bytes as declared; nullopt for a chunked body.
  [[nodiscard]] virtual std::optional<std::uint64_t> declared_size() const = 0;
};

struct Request {
  Route route{};
  std::string session_id;
  const RequestHead& head;
  Body& body;
  RequestNotes& notes;
  // For poll(2) with no events asked: POLLHUP or POLLERR mean that the client is gone or the server is
  // stopping. Never to be read, written, kept or closed. A client that only shut down its sending side
  // may still wait for the answer.
  int client_fd = -1;
  // For whoever waits in this thread for short answers of another process. It lasts beyond the request, as long as the
  // connection's next one comes at once. Null: not now, other requests run.
  sys::CpuPin* pin = nullptr;
};

// Takes the next bytes of a response; false: the client is gone or too slow, stop.
using Sink = std::function<bool(std::string_view bytes)>;

// A body that is made while it is sent. `provide(offset, length, sink)` hands at least one and at most
// `length` bytes to `sink` and returns true; it is called again for the rest. False: the promise of `size`
// bytes cannot be kept, and the connection is cut, which the client sees as an error. What `provide` owns
// lives until the response is sent. Pieces of 64 KiB and more are sent without a copy.
struct StreamedBody {
  std::uint64_t size = 0;
  std::function<bool(std::uint64_t offset, std::uint64_t length, const Sink& sink)> provide;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";  // not sent without a body
  std::string body;
  Fields fields;  // further fields; a control character in one makes the answer a 500
  std::optional<StreamedBody> stream;  // instead of `body`
};

using Handler = std::function<void(Request&, Response&)>;

}  // namespace rookery::server::http
