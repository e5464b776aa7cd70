// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contract/types.h"
#include "server/warden_client.h"

namespace rookery::server {

// What the status page shows.
struct Status {
  std::size_t sessions = 0;
  std::size_t max_sessions = 0;
  std::vector<contract::SessionStatus> first_sessions;  // as many as are shown one by one
  std::optional<WardenClient::Statistics> jails;  // nullopt while the warden has not answered yet
  std::vector<std::pair<std::string_view, std::uint64_t>> limits;  // how often a call met which one
  std::string_view findings;  // of `rookery check` at the start (util/findings.h)
};

// The page `/` from behind pages/head.html: plain HTML, everything in it escaped.
[[nodiscard]] std::string status_page(const Status& status);

}  // namespace rookery::server
