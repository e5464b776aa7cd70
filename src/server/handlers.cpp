// SPDX-License-Identifier: Apache-2.0
#include "server/handlers.h"

#include <algorithm>
#include <chrono>

#include "contract/json.h"
#include "contract/openapi.h"
#include "server/jail_call.h"
#include "server/log.h"
#include "server/refusal.h"

namespace rookery::server {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kHealthPatience{50};
constexpr std::size_t kMaxJsonBody = 16u << 20;

http::HttpError busy(std::string_view detail) { return refusal(503, detail, {{"Retry-After", "1"}}); }

template <typename T>
T valid(contract::Parsed<T> parsed) {
  if (auto* errors = std::get_if<std::vector<contract::FieldError>>(&parsed)) {
    throw http::HttpError(422, contract::error_json(*errors));
  }
  return std::get<T>(std::move(parsed));
}

}  // namespace

void Handlers::handle(http::Request& request, http::Response& response) {
  switch (request.route) {
    case http::Route::kCreateSession: return create_session(request, response);
    case http::Route::kGetSession: return get_session(request, response);
    case http::Route::kDeleteSession: return delete_session(request, response);
    case http::Route::kExec: return exec(request, response);
    case http::Route::kPutFile: return put_file(request, response);
    case http::Route::kGetFile: return get_file(request, response);
    case http::Route::kListFiles: return list_files(request, response);
    case http::Route::kHealth: return health(response);
    case http::Route::kOpenApi: response.body = contract::openapi_json(); return;
    case http::Route::kDocsPage:
    case http::Route::kDocsScript:
    case http::Route::kPageStyle: return page(request.route, response);
  }
}

std::shared_ptr<Session> Handlers::session(const http::Request& request) const {
  auto found = sessions_.find(request.session_id);
  if (!found) throw refusal(404, "session not found");
  return found;
}

void Handlers::create_session(http::Request& request, http::Response& response) {
  const auto wanted = valid(contract::parse_create_session(request.body.read_all(kMaxJsonBody)));
  std::shared_ptr<Session> created;
  try {
    created = sessions_.create(wanted);
  } catch (const std::exception& error) {
    log_warning(std::string("no session could be leased: ") + error.what());
    throw busy("no session can be had at the moment");
  }
  if (!created) throw busy("at capacity: " + std::to_string(settings_.max_sessions) + " sessions exist");
  log_event("session created", created->id());
  response.status = 201;
  response.body = contract::to_json(created->handle());
}

void Handlers::get_session(const http::Request& request, http::Response& response) const {
  response.body = contract::to_json(session(request)->handle());
}

void Handlers::delete_session(const http::Request& request, http::Response& response) {
  if (sessions_.destroy(request.session_id)) log_event("session released", request.session_id);
  response.status = 204;
}

void Handlers::exec(http::Request& request, http::Response& response) {
  const auto target = session(request);
  const Session::Activity activity(*target);
  const auto call = valid(contract::parse_exec(request.body.read_all(kMaxJsonBody)));
  const std::uint64_t wanted = call.timeout_seconds.value_or(settings_.default_timeout_s);
  const auto granted = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, settings_.max_timeout_s));

  const auto arrived = steady_clock::now();
  switch (target->queue.enter(std::chrono::seconds(settings_.queue_timeout_s))) {
    case CallQueue::Entry::kEntered: break;
    case CallQueue::Entry::kTimedOut: throw busy("another call of this session is still running");
    case CallQueue::Entry::kFull: throw busy("too many calls of this session are waiting");
    case CallQueue::Entry::kClosed: throw refusal(404, "session not found");
  }
  const auto queued = std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - arrived).count();
  contract::CallOutcome outcome;
  try {
    outcome = run(*target, call, std::chrono::seconds(granted), request.client_fd);
  } catch (const std::exception& error) {
    target->queue.leave();
    if (target->closed()) throw refusal(404, "session not found");  // released before the call could start
    log_error(std::string("a call could not be run: ") + error.what());
    throw busy("the session's jail is not available at the moment");
  }
  target->queue.leave();
  outcome.queued_ms = static_cast<std::uint64_t>(queued);
  if (granted < wanted) outcome.timeout_in_force_s = granted;
  response.body = contract::to_json(call, outcome);
}

contract::CallOutcome Handlers::run(Session& session, const contract::ExecRequest& call, std::chrono::seconds timeout, int client_fd) {
  if (call.tool == contract::Tool::kTextEditor) {
    const auto started = steady_clock::now();
    contract::CallOutcome outcome = session.editor.run(session.workspace(), call.editor, session.snapshot.recorder());
    outcome.execution_time_ms =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - started).count());
    return outcome;
  }
  JailCall jail_call(settings_, warden_, session, client_fd);
  contract::CallOutcome outcome = jail_call.run(call.tool, call.source, timeout);
  if (session.closed()) return outcome;
  auto produced = session.snapshot.update(session.workspace());
  outcome.files = std::move(produced.files);
  outcome.files_total = produced.total;
  return outcome;
}

// One question at a time; who comes meanwhile, or finds the warden busy, gets the last answer.
std::optional<WardenClient::Statistics> Handlers::warden_statistics() const {
  const std::unique_lock asking(statistics_mutex_, std::try_to_lock);
  if (asking.owns_lock()) {
    try {
      const auto fresh = warden_.statistics(kHealthPatience);
      const std::lock_guard lock(last_statistics_mutex_);
      last_statistics_ = fresh;
    } catch (const std::exception&) {
      // A warden that is busy for a moment says nothing of the server's own health.
    }
  }
  const std::lock_guard lock(last_statistics_mutex_);
  return last_statistics_;
}

void Handlers::health(http::Response& response) const {
  response.body = "{\"status\":\"ok\",\"session_count\":" + std::to_string(sessions_.count()) +
                  ",\"max_sessions\":" + std::to_string(settings_.max_sessions);
  if (const auto statistics = warden_statistics()) {
    response.body += ",\"ready_sessions\":" + std::to_string(statistics->ready) +
                     (statistics->nested ? ",\"jail\":\"nested\"" : ",\"jail\":\"flat\"");
  }
  response.body += "}";
}

}  // namespace rookery::server
