// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <httplib.h>

#include "server/http/body_reader.h"
#include "server/http/connection.h"
#include "server/http/exchange.h"
#include "server/http/http_server.h"
#include "server/http/route.h"

namespace rookery::server::http {

struct Served {
  int status = 0;
  bool sent = false;   // the response left whole
  bool reuse = false;  // the connection can serve another request
};

// Runs requests through cpp-httplib, one at a time: each worker has its own. cpp-httplib gets
// "<METHOD> / HTTP/1.1" and nothing else, so that neither its parser nor its pattern matching nor its ranges,
// codings and form parsing ever see what a client chose; the body is the handler's to read (BodyReader).
class HttplibBridge : private httplib::Server {
 public:
  // Both must outlive the bridge.
  HttplibBridge(const Hooks& hooks, const Limits& limits);

  // `keep`: whether the connection may stay open as far as the caller knows. `pin`: as in Request.
  Served run(Connection& connection, const RequestHead& head, const RouteMatch& match, RequestNotes& notes, bool keep,
             sys::CpuPin* pin);

 private:
  struct Exchange;

  void respond(httplib::Response& to);
  void call_handler(Request& request, Response& response);
  void translate(Response& response, httplib::Response& to);
  void finish_fields(httplib::Response& to);
  void fault(std::string_view text) const;

  const Hooks& hooks_;
  const Limits& limits_;
  Exchange* exchange_ = nullptr;  // of the request in run()
};

}  // namespace rookery::server::http
