// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>

#include "server/http/exchange.h"
#include "server/session_table.h"
#include "server/warden_client.h"
#include "util/settings.h"

namespace rookery::server {

// The contract's operations over HTTP: from a request to the session table, a jail, the editor or the files, and back.
class Handlers {
 public:
  Handlers(const util::Settings& settings, SessionTable& sessions, WardenClient& warden)
      : settings_(settings), sessions_(sessions), warden_(warden) {}

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
  static void page(http::Route route, http::Response& response);

  contract::CallOutcome run(Session& session, const contract::ExecRequest& request, std::chrono::seconds timeout, int client_fd);

  [[nodiscard]] std::optional<WardenClient::Statistics> warden_statistics() const;

  const util::Settings& settings_;
  SessionTable& sessions_;
  WardenClient& warden_;
  mutable std::mutex statistics_mutex_;
  mutable std::mutex last_statistics_mutex_;
  mutable std::optional<WardenClient::Statistics> last_statistics_;
};

}  // namespace rookery::server
