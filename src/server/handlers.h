// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "server/access.h"
#include "server/http/exchange.h"
#include "server/monitor.h"
#include "server/server_metrics.h"
#include "server/session_table.h"
#include "server/warden_client.h"
#include "util/settings.h"

namespace rookery::server {

// The contract's operations over HTTP: from a request to the session table, a jail, the editor or the files, and back.
class Handlers {
 public:
  Handlers(const util::Settings& settings, const Access& access, SessionTable& sessions, WardenClient& warden, ServerMetrics& metrics,
           const Monitor& monitor)
      : settings_(settings), access_(access), sessions_(sessions), warden_(warden), metrics_(metrics), monitor_(monitor) {}

  // Throws http::HttpError for every refusal.
  void handle(http::Request& request, http::Response& response);

 private:
  std::shared_ptr<Session> session(const http::Request& request) const;
  void create_session(http::Request& request, http::Response& response);
  void get_session(const http::Request& request, http::Response& response) const;
  void delete_session(const http::Request& request, http::Response& response);
  void exec(http::Request& request, http::Response& response);
  void put_file(http::Request& request, http::Response& response);
  void get_file(const http::Request& request, http::Response& response) const;
  void list_files(const http::Request& request, http::Response& response) const;
  void health(http::Response& response) const;
  void status(const http::Request& request, http::Response& response) const;
  static void page(http::Route route, http::Response& response);
  void metrics(http::Response& response) const;
  void list_sessions(const http::Request& request, http::Response& response) const;
  void ready(http::Response& response) const;
  void drain(http::Request& request, http::Response& response);

  contract::CallOutcome run(Session& session, const contract::ExecRequest& call, std::chrono::seconds timeout, http::Request& request);

  void violation(std::string_view kind, std::string_view tool, unsigned count);

  const util::Settings& settings_;
  const Access& access_;
  SessionTable& sessions_;
  WardenClient& warden_;
  ServerMetrics& metrics_;
  const Monitor& monitor_;
};

}  // namespace rookery::server
