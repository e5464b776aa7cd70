// SPDX-License-Identifier: Apache-2.0
#include "server/access.h"

#include <poll.h>
#include <sys/socket.h>

#include <stdexcept>

#include "log/log.h"
#include "server/credentials.h"
#include "wire/supervisor_messages.h"

namespace rookery::server {

namespace {

using wire::SupervisorMessage;

constexpr std::size_t kMostTenantBytes = 256;

// A start that gets no answer ends.
constexpr int kPatienceMs = 30'000;

wire::FromSupervisor expect(int supervisor, SupervisorMessage kind) {
  pollfd fds[] = {{supervisor, POLLIN, 0}};
  if (::poll(fds, 1, kPatienceMs) != 1) throw std::runtime_error("the supervisor, or its token reader, says nothing");
  auto message = wire::receive_from_supervisor(supervisor);
  if (!message) throw std::runtime_error("the supervisor went away");
  if (message->kind == SupervisorMessage::kProblem) throw std::runtime_error(message->text);
  if (message->kind != kind) throw std::runtime_error("the supervisor said something out of turn");
  return std::move(*message);
}

}  // namespace

Access::Access(util::Settings& settings, sys::UniqueFd supervisor) : settings_(settings), supervisor_(std::move(supervisor)) {
  settings.auth_token = expect(supervisor_.get(), SupervisorMessage::kOneToken).text;
  if (!settings.auth_token_file.empty()) {
    tokens_ = std::make_shared<AccessTokens>(expect(supervisor_.get(), SupervisorMessage::kTokens).text);
    follower_ = std::thread([this] { follow(); });
  } else if (!settings.auth_token.empty()) {
    tokens_ = std::make_shared<AccessTokens>(settings.auth_token);
  }
}

Access::~Access() {
  ::shutdown(supervisor_.get(), SHUT_RDWR);
  if (follower_.joinable()) follower_.join();
}

// What cannot be used changes nothing: whoever had access keeps it, and nobody gets it.
void Access::follow() {
  while (const auto message = wire::receive_from_supervisor(supervisor_.get())) {
    if (message->kind == SupervisorMessage::kProblem) {
      log::warning("the access tokens stay as they were", {{"error", message->text}});
      continue;
    }
    try {
      auto fresh = std::make_shared<AccessTokens>(message->text);
      log::info("access tokens read again", {{"valid", static_cast<std::int64_t>(fresh->count())}});
      const std::lock_guard lock(mutex_);
      tokens_ = std::move(fresh);
    } catch (const std::exception& error) {
      log::warning("the access tokens stay as they were", {{"error", error.what()}});
    }
  }
}

std::shared_ptr<const AccessTokens> Access::tokens() const {
  const std::lock_guard lock(mutex_);
  return tokens_;
}

http::Decision Access::authorize(const http::RequestHead& head, const http::RouteMatch* route) const {
  if (head.segments.size() == 1 && (head.segments.front() == "health" || head.segments.front() == "ready")) return {};
  if (const auto valid = tokens(); valid != nullptr && !valid->contains(bearer_token(head.authorization))) {
    const bool page = route != nullptr && http::is_page(route->route);
    const auto password = page ? basic_password(head.authorization) : std::nullopt;
    if (!password || !valid->contains(*password)) return {.allowed = false, .offers_basic = page};
  }
  if (!settings_.require_tenant) return {};
  const std::string_view tenant = head.field(settings_.tenant_header);
  if (tenant.empty() || tenant.size() > kMostTenantBytes) return {.allowed = false, .detail = "No tenant"};
  return {};
}

std::string_view Access::tenant(const http::RequestHead& head) const {
  return settings_.require_tenant ? head.field(settings_.tenant_header) : std::string_view{};
}

void Access::tell_ready() const { wire::send_to_supervised(supervisor_.get(), SupervisorMessage::kReady); }

}  // namespace rookery::server
