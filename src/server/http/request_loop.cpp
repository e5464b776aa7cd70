// SPDX-License-Identifier: Apache-2.0
#include "server/http/request_loop.h"

#include "server/http/body_reader.h"
#include "server/http/fixed_response.h"
#include "server/http/policy.h"
#include "util/random.h"

namespace rookery::server::http {

namespace {
constexpr Milliseconds kDrainPatience{100};
}

bool asks_for_cheap_route(const Connection& connection) {
  const HeadScanner& scanner = connection.scanner();
  if (scanner.error().status != 0) return false;
  const auto head =
      parse_request_head(connection.buffered().substr(scanner.skipped(), scanner.length() - scanner.skipped()));
  if (!std::holds_alternative<RequestHead>(head)) return false;
  const auto match = match_route(std::get<RequestHead>(head));
  return std::holds_alternative<RouteMatch>(match) && is_cheap(std::get<RouteMatch>(match).route);
}

RequestLoop::RequestLoop(const Hooks& hooks, const Limits& limits, Poller& poller, const std::atomic<bool>& stopping)
    : hooks_(hooks), limits_(limits), poller_(poller), stopping_(stopping), bridge_(hooks, limits) {}

void RequestLoop::converse(WorkerPool::Worker& worker, std::unique_ptr<Connection> connection) {
  for (;;) {
    const After after = answer(*connection, worker.alone());
    worker.end_request();
    if (after == After::kClose) return;
    if (after == After::kLeave) return poller_.leave(std::move(connection));

    HeadScanner::Result next = connection->scan();
    if (next == HeadScanner::Result::kMore && limits_.linger.count() > 0 && worker.may_linger()) {
      // The usual client sends its next request as soon as it has the answer: wait for it here, so that it
      // costs one recv() and no hand-over. The socket's receive timeout is limits_.linger.
      const Io io = connection->receive(0);
      if (io == Io::kClosed) return;
      if (io == Io::kDone) next = connection->scan();
    }
    if (next == HeadScanner::Result::kMore) return poller_.park(std::move(connection));
    if (!worker.begin_request(connection->fd(), false) &&
        !(asks_for_cheap_route(*connection) && worker.begin_request(connection->fd(), true))) {
      begin();
      const HttpError busy = HttpError::with_detail(503, "server busy", {{"Retry-After", "1"}});
      connection->send_now(fixed_response(busy, true, false, notes_.request_id));
      log(nullptr, nullptr, 503, true);
      return poller_.leave(std::move(connection));
    }
  }
}

void RequestLoop::begin() {
  notes_ = {};
  notes_.arrived = RequestNotes::Clock::now();
  notes_.request_id = util::random_hex(32);
}

RequestLoop::After RequestLoop::answer(Connection& connection, bool alone) {
  begin();
  try {
    const auto head = connection.take_head();
    if (const auto* error = std::get_if<HeadError>(&head)) {
      return refuse(connection, HttpError::with_detail(error->status, error->detail), nullptr, false);
    }
    return answer(connection, std::get<RequestHead>(head), alone);
  } catch (const std::exception& error) {
    // Memory, most likely. What the client got so far is unknown.
    if (hooks_.log_error) hooks_.log_error(error.what());
    return After::kClose;
  }
}

RequestLoop::After RequestLoop::answer(Connection& connection, const RequestHead& head, bool alone) {
  if (is_request_id(head.request_id)) notes_.request_id = head.request_id;
  notes_.trace = parse_traceparent(head.traceparent);
  if (hooks_.trace_every_request && notes_.trace.trace_id.empty()) notes_.trace.trace_id = util::random_hex(32);
  const bool keep = head.keep_alive && !stopping_.load(std::memory_order_relaxed);
  const auto admitted = admit(head, hooks_, limits_);
  if (const auto* error = std::get_if<HttpError>(&admitted)) return refuse(connection, *error, &head, keep);
  const RouteMatch& match = std::get<RouteMatch>(admitted);
  const bool may_pin = alone && match.route == Route::kExec;
  if (!may_pin) pin_.release();
  const Served served = bridge_.run(connection, head, match, notes_, keep, may_pin ? &pin_ : nullptr);
  log(&head, &match, served.status, served.sent);
  if (!served.sent) return After::kClose;
  if (served.reuse) return After::kReuse;
  return After::kLeave;
}

RequestLoop::After RequestLoop::refuse(Connection& connection, const HttpError& error, const RequestHead* head,
                                       bool keep) {
  const Pace pace{limits_.body_stall, limits_.transfer_floor, limits_.transfer_rate};
  if (keep) {
    BodyReader body(connection, *head, limits_.max_drain, pace);
    keep = error.status() != 413 && body.drain(limits_.max_drain, kDrainPatience);
  }
  Pace write_pace{limits_.write_stall, limits_.transfer_floor, limits_.transfer_rate};
  const bool head_only = head != nullptr && head->method == Method::kHead;
  const bool sent = connection.send(fixed_response(error, !keep, head_only, notes_.request_id), {}, write_pace) == Io::kDone;
  log(head, nullptr, error.status(), sent);
  if (!sent) return After::kClose;
  return keep ? After::kReuse : After::kLeave;
}

void RequestLoop::log(const RequestHead* head, const RouteMatch* route, int status, bool completed) const {
  if (!hooks_.access) return;
  const auto elapsed = RequestNotes::Clock::now() - notes_.arrived;
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count();
  hooks_.access({head, route, status, static_cast<std::uint64_t>(microseconds), completed, &notes_});
}

}  // namespace rookery::server::http
