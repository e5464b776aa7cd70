// SPDX-License-Identifier: Apache-2.0
#include "server/access.h"

#include <poll.h>
#include <sys/socket.h>

#include <stdexcept>

#include "log/log.h"
#include "server/http/syntax.h"
#include "util/settings_table.h"
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

// RFC 6750 2.1; the scheme's case does not matter (RFC 9110 11.1). Empty when there is none.
std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer";
  if (!http::equals_ignoring_case(authorization.substr(0, kScheme.size()), kScheme)) return {};
  const std::string_view rest = authorization.substr(kScheme.size());
  return rest.starts_with(' ') ? http::trim(rest) : std::string_view{};
}

}  // namespace

Access::Access(util::Settings& settings, sys::UniqueFd supervisor) : settings_(settings), supervisor_(std::move(supervisor)) {
  util::apply_secrets(settings, expect(supervisor_.get(), SupervisorMessage::kSecrets).text);
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

http::Decision Access::authorize(const http::RequestHead& head) const {
  if (head.segments.size() == 1 && (head.segments.front() == "health" || head.segments.front() == "ready")) return {};
  if (const auto valid = tokens(); valid != nullptr && !valid->contains(bearer_token(head.authorization))) return {false};
  if (!settings_.require_tenant) return {};
  const std::string_view tenant = head.field(settings_.tenant_header);
  if (tenant.empty() || tenant.size() > kMostTenantBytes) return {false, "No tenant"};
  return {};
}

std::string_view Access::tenant(const http::RequestHead& head) const {
  return settings_.require_tenant ? head.field(settings_.tenant_header) : std::string_view{};
}

void Access::tell_ready() const { wire::send_to_supervised(supervisor_.get(), SupervisorMessage::kReady); }

}  // namespace rookery::server
