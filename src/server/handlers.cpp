// SPDX-License-Identifier: Apache-2.0
#include "server/handlers.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "contract/json.h"
#include "contract/openapi.h"
#include "log/log.h"
#include "metrics/family.h"
#include "server/jail_call.h"
#include "server/refusal.h"

namespace rookery::server {

namespace {

using std::chrono::steady_clock;

http::HttpError busy(std::string_view detail) { return refusal(503, detail, {{"Retry-After", "1"}}); }

constexpr std::uint64_t kPage = 100;
constexpr std::uint64_t kMaxPage = 1000;

// A query parameter that is a whole number in a range. 422 for anything else.
std::optional<std::uint64_t> number_parameter(const http::Request& request, std::string_view name, std::uint64_t least, std::uint64_t most) {
  const auto found = request.head.query.find(name);
  if (found == request.head.query.end()) return std::nullopt;
  const std::string& text = found->second;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    const std::string allowed = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    throw http::HttpError(422, contract::error_json({{{"query", std::string(name)}, "Input should be " + allowed, "int_parsing"}}));
  }
  return value;
}

}  // namespace

void Handlers::handle(http::Request& request, http::Response& response) {
  const log::Scope scope({{"request_id", request.notes.request_id},
                          {"session_id", log::shortened(request.session_id)},
                          {"trace_id", request.notes.trace.trace_id}});
  switch (request.route) {
    case http::Route::kCreateSession: return create_session(request, response);
    case http::Route::kGetSession: return get_session(request, response);
    case http::Route::kDeleteSession: return delete_session(request, response);
    case http::Route::kExec: return exec(request, response);
    case http::Route::kPutFile: return put_file(request, response);
    case http::Route::kGetFile: return get_file(request, response);
    case http::Route::kListFiles: return list_files(request, response);
    case http::Route::kHealth: return health(response);
    case http::Route::kReady: return ready(response);
    case http::Route::kDrain: return drain(request, response);
    case http::Route::kOpenApi: response.body = contract::openapi_json(); return;
    case http::Route::kStatusPage: return status(request, response);
    case http::Route::kDocsPage:
    case http::Route::kDocsScript:
    case http::Route::kPageStyle: return page(request.route, response);
    case http::Route::kMetrics: return metrics(response);
    case http::Route::kListSessions: return list_sessions(request, response);
  }
}

std::shared_ptr<Session> Handlers::session(const http::Request& request) const {
  auto found = sessions_.find(request.session_id, access_.tenant(request.head));
  if (!found) throw refusal(404, "session not found");
  return found;
}

void Handlers::create_session(http::Request& request, http::Response& response) {
  const auto wanted = valid(contract::parse_create_session(request.body.read_all(kMaxJsonBody)));
  std::shared_ptr<Session> created;
  const auto asked = steady_clock::now();
  try {
    created = sessions_.create(wanted, access_.tenant(request.head));
  } catch (const std::exception& error) {
    log::warning("no session could be leased", {{"error", error.what()}});
    metrics_.leases_refused.add("failed");
    throw busy("no session can be had at the moment");
  }
  if (!created && sessions_.draining()) {
    metrics_.leases_refused.add("draining");
    throw busy("draining: this node takes no new sessions");
  }
  if (!created) {
    metrics_.leases_refused.add("capacity");
    throw busy("at capacity: " + std::to_string(settings_.max_sessions) + " sessions exist");
  }
  request.notes.stages.push_back({"lease", asked, steady_clock::now()});
  response.status = 201;
  response.body = contract::to_json(created->handle());
}

void Handlers::get_session(const http::Request& request, http::Response& response) const {
  response.body = contract::to_json(session(request)->status(settings_));
}

void Handlers::list_sessions(const http::Request& request, http::Response& response) const {
  const std::uint64_t after = number_parameter(request, "after", 0, ~std::uint64_t{0}).value_or(0);
  const auto limit = static_cast<std::size_t>(number_parameter(request, "limit", 1, kMaxPage).value_or(kPage));
  SessionTable::Page page = sessions_.list(after, limit, access_.tenant(request.head));
  std::vector<contract::SessionStatus> entries;
  for (const auto& listed : page.sessions) {
    entries.push_back(listed->status(settings_));
    // Whoever has an id has the session: a list tells as much of it as the log does.
    entries.back().handle.session_id = log::shortened(listed->id());
  }
  response.body = contract::to_json(entries, page.next);
}

void Handlers::metrics(http::Response& response) const {
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = metrics::prometheus_text(monitor_.families());
}

void Handlers::delete_session(const http::Request& request, http::Response& response) {
  sessions_.destroy(request.session_id, access_.tenant(request.head));
  response.status = 204;
}

void Handlers::exec(http::Request& request, http::Response& response) {
  const auto target = session(request);
  const Session::Activity activity(*target);
  const auto call = valid(contract::parse_exec(request.body.read_all(kMaxJsonBody)));
  const std::uint64_t wanted = call.timeout_seconds.value_or(settings_.default_timeout_s);
  const auto granted = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, settings_.max_timeout_s));

  ++target->calls;
  request.notes.tool = contract::name(call.tool);
  request.notes.outcome = "refused";
  const auto arrived = steady_clock::now();
  const CallQueue::Entry entry = target->queue.enter(std::chrono::seconds(settings_.queue_timeout_s));
  const auto entered = steady_clock::now();
  request.notes.stages.push_back({"queue wait", arrived, entered});
  switch (entry) {
    case CallQueue::Entry::kEntered: break;
    case CallQueue::Entry::kTimedOut: throw busy("another call of this session is still running");
    case CallQueue::Entry::kFull: throw busy("too many calls of this session are waiting");
    case CallQueue::Entry::kClosed: throw refusal(404, "session not found");
  }
  const auto queued = std::chrono::duration_cast<std::chrono::milliseconds>(entered - arrived).count();
  contract::CallOutcome outcome;
  try {
    outcome = run(*target, call, std::chrono::seconds(granted), request);
  } catch (const std::exception& error) {
    target->queue.leave();
    request.notes.outcome = "failed";
    if (target->closed()) throw refusal(404, "session not found");  // released before the call could start
    log::error("a call could not be run", {{"error", error.what()}});
    throw busy("the session's jail is not available at the moment");
  }
  target->queue.leave();
  request.notes.stages.push_back({"execution", entered, steady_clock::now()});
  request.notes.limit = contract::name(outcome.limit);
  if (outcome.limit != contract::Limit::kNone) log::warning("limit reached", {{"limit", request.notes.limit}, {"tool", request.notes.tool}});
  outcome.queued_ms = static_cast<std::uint64_t>(queued);
  if (granted < wanted) outcome.timeout_in_force_s = granted;
  response.body = contract::to_json(call, outcome);
}

contract::CallOutcome Handlers::run(Session& session, const contract::ExecRequest& call, std::chrono::seconds timeout, http::Request& request) {
  if (call.tool == contract::Tool::kTextEditor) {
    const auto started = steady_clock::now();
    contract::CallOutcome outcome = session.editor.run(session.workspace(), call.editor, session.snapshot.recorder());
    request.notes.outcome = outcome.return_code == 0 ? "ok" : "error";
    if (session.editor.refused_path()) violation("path_outside", request.notes.tool, 1);
    outcome.execution_time_ms =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - started).count());
    return outcome;
  }
  JailCall jail_call(settings_, warden_, session, request.client_fd, request.pin);
  contract::CallOutcome outcome = jail_call.run(call.tool, call.source, timeout);
  const JailCall::Report report = jail_call.report(outcome);
  request.notes.outcome = report.ending;
  metrics_.interpreter_restarts.add(report.interpreter_restarts);
  metrics_.jail_rebuilds.add(report.jail_rebuilds);
  if (report.seccomp_kill) violation("seccomp_kill", request.notes.tool, 1);
  if (report.forged_messages > 0) violation("forged_message", request.notes.tool, report.forged_messages);
  if (session.closed()) return outcome;
  auto produced = session.snapshot.update(session.workspace());
  outcome.files = std::move(produced.files);
  outcome.files_total = produced.total;
  return outcome;
}

void Handlers::violation(std::string_view kind, std::string_view tool, unsigned count) {
  metrics_.violations.add(kind, count);
  log::warning("policy violation", {{"kind", kind}, {"tool", tool}, {"count", std::int64_t{count}}});
}

void Handlers::health(http::Response& response) const {
  response.body = std::string("{\"status\":\"") + (sessions_.draining() ? "draining" : "ok") + "\",\"session_count\":" + std::to_string(sessions_.count()) +
                  ",\"max_sessions\":" + std::to_string(settings_.max_sessions);
  if (const auto statistics = monitor_.warden_statistics()) {
    response.body += ",\"ready_sessions\":" + std::to_string(statistics->ready) +
                     (statistics->nested ? ",\"jail\":\"nested\"" : ",\"jail\":\"flat\"");
  }
  if (settings_.weaker.any()) response.body += ",\"weaker\":\"" + settings_.weaker.text() + "\"";
  response.body += "}";
}

}  // namespace rookery::server
