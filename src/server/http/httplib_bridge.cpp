// SPDX-License-Identifier: Apache-2.0
#include "server/http/httplib_bridge.h"

#include <algorithm>
#include <array>

#include "server/http/httplib_stream.h"
#include "server/http/policy.h"
#include "server/http/syntax.h"

namespace rookery::server::http {

namespace {

constexpr Milliseconds kDrainPatience{100};

// What the handler may set; framing and connection fields are the transport's.
bool is_allowed_field(std::string_view name, std::string_view value) {
  constexpr std::string_view kOurs[] = {"Content-Length", "Content-Type", "Transfer-Encoding", "Connection",
                                        "Keep-Alive", "X-Request-Id"};
  return is_token(name) && is_field_value(value) &&
         std::none_of(std::begin(kOurs), std::end(kOurs),
                      [&](std::string_view ours) { return equals_ignoring_case(name, ours); });
}

std::string synthetic_head(const RequestHead& head) {
  std::string text(name(head.method));
  text += " / HTTP/1.1\r\n\r\n";
  return text;
}

void error_to_response(const HttpError& error, Response& response) {
  response = Response{};
  response.status = error.status();
  response.body = error.body();
  response.fields = error.fields();
}

}  // namespace

struct HttplibBridge::Exchange {
  Connection& connection;
  const RequestHead& head;
  const RouteMatch& match;
  RequestNotes& notes;
  BodyReader& body;
  bool keep;
  sys::CpuPin* pin;
  int status = 0;
};

HttplibBridge::HttplibBridge(const Hooks& hooks, const Limits& limits) : hooks_(hooks), limits_(limits) {
  // In place of cpp-httplib's own routing: a regular expression a request.
  set_pre_routing_handler([this](const httplib::Request&, httplib::Response& to) {
    respond(to);
    return HandlerResponse::Handled;
  });
  set_default_headers({{"X-Content-Type-Options", "nosniff"}});
  set_post_routing_handler([this](const httplib::Request&, httplib::Response& to) { finish_fields(to); });
  // Without it, cpp-httplib would put the exception's text into a header field.
  set_exception_handler([this](const httplib::Request&, httplib::Response& to, const std::exception_ptr&) {
    fault("cannot build a response");
    exchange_->status = to.status = 500;
    to.body = detail_json("internal error");
    to.set_header("Content-Type", "application/json");
  });
  // cpp-httplib takes a server without a listening socket for one that is stopping, and would cut streamed
  // responses. The value is compared with INVALID_SOCKET, never used.
  svr_sock_ = 0;
}

Served HttplibBridge::run(Connection& connection, const RequestHead& head, const RouteMatch& match, RequestNotes& notes, bool keep,
                          sys::CpuPin* pin) {
  const Pace read_pace{limits_.body_stall, limits_.transfer_floor, limits_.transfer_rate};
  const Pace write_pace{limits_.write_stall, limits_.transfer_floor, limits_.transfer_rate};
  BodyReader body(connection, head, body_limit(match.route, limits_), read_pace);
  Exchange exchange{connection, head, match, notes, body, keep, pin};
  exchange_ = &exchange;
  const std::string text = synthetic_head(head);
  HttplibStream stream(connection, text, write_pace);
  bool closed = false;
  // Versions from 0.15 on take the addresses as arguments.
  const auto process = [&](auto& self) {
    if constexpr (requires { self.process_request(stream, std::string(), 0, std::string(), 0, false, closed, nullptr); }) {
      return self.process_request(stream, std::string(), 0, std::string(), 0, false, closed, nullptr);
    } else {
      return self.process_request(stream, false, closed, nullptr);
    }
  };
  const bool processed = process(static_cast<HttplibBridge&>(*this));
  exchange_ = nullptr;
  const bool sent = stream.flush() && processed;
  return {exchange.status, sent, sent && exchange.keep};
}

void HttplibBridge::fault(std::string_view text) const {
  if (hooks_.log_error) hooks_.log_error(text);
}

void HttplibBridge::call_handler(Request& request, Response& response) {
  try {
    hooks_.handler(request, response);
    for (const auto& [name, value] : response.fields) {
      if (!is_allowed_field(name, value)) throw std::invalid_argument("response field not allowed: " + name);
    }
    if (!is_field_value(response.content_type)) throw std::invalid_argument("content type not allowed");
    return;
  } catch (const HttpError& error) {
    error_to_response(error, response);
    return;
  } catch (const std::exception& error) {
    fault(error.what());
  } catch (...) {
    fault("unknown exception");
  }
  error_to_response(HttpError::with_detail(500, "internal error"), response);
}

void HttplibBridge::respond(httplib::Response& to) {
  Request request{exchange_->match.route, exchange_->match.session_id, exchange_->head, exchange_->body,
                  exchange_->notes, exchange_->connection.fd(), exchange_->pin};
  Response response;
  call_handler(request, response);
  exchange_->status = response.status;
  translate(response, to);
}

void HttplibBridge::translate(Response& response, httplib::Response& to) {
  to.status = response.status;
  for (const auto& [name, value] : response.fields) to.headers.emplace(name, value);
  if (response.stream && response.stream->size > 0) {
    // Both "nothing written" and "more than asked" would break the promised length.
    to.set_content_provider(
        static_cast<std::size_t>(response.stream->size), response.content_type,
        [provide = std::move(response.stream->provide)](std::size_t offset, std::size_t length,
                                                        httplib::DataSink& sink) {
          std::size_t written = 0;
          const Sink bounded = [&](std::string_view bytes) {
            if (bytes.size() > length - written || !sink.write(bytes.data(), bytes.size())) return false;
            written += bytes.size();
            return true;
          };
          return provide(offset, length, bounded) && written > 0;
        });
    return;
  }
  to.body = std::move(response.body);
  if (response.stream || !to.body.empty()) to.set_header("Content-Type", response.content_type);
}

// The last word before the head is written.
void HttplibBridge::finish_fields(httplib::Response& to) {
  exchange_->keep = exchange_->keep && exchange_->body.drain(limits_.max_drain, kDrainPatience);
  to.headers.emplace("X-Request-Id", exchange_->notes.request_id);
  to.headers.erase("Keep-Alive");
  to.headers.erase("Accept-Ranges");  // ranges are not served
  to.headers.erase("Connection");
  if (!exchange_->keep) to.headers.emplace("Connection", "close");
  if (to.status == 204) to.headers.erase("Content-Length");  // RFC 9110 8.6
}

}  // namespace rookery::server::http
