// SPDX-License-Identifier: Apache-2.0
#include "server/handlers.h"
#include "server/http/peer.h"
#include "server/refusal.h"

namespace rookery::server {

// For whoever sends clients here: 404 tells HAProxy (http-check disable-on-404) that this node takes no new sessions and
// keeps those it has; a Kubernetes readiness probe takes it for "not ready". /health stays 200: the node lives.
void Handlers::ready(http::Response& response) const {
  if (sessions_.draining()) throw refusal(404, "draining: this node takes no new sessions");
  response.body = R"({"status":"ok"})";
}

// There is no way back, so it is for the machine itself alone; where there are tokens, with one, as every route.
void Handlers::drain(http::Request& request, http::Response& response) {
  if (!http::peer_is_local(request.client_fd)) {
    throw refusal(403, "draining is for the machine itself: ask over loopback, or send SIGUSR1");
  }
  valid(contract::parse_no_fields(request.body.read_all(kMaxJsonBody)));
  sessions_.drain();
  response.body = R"({"status":"draining","session_count":)" + std::to_string(sessions_.count()) + "}";
}

}  // namespace rookery::server
