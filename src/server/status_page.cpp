// SPDX-License-Identifier: Apache-2.0
#include "server/status_page.h"

#include <array>
#include <ctime>
#include <initializer_list>

#include "server/session.h"
#include "util/embedded.h"
#include "util/findings.h"

namespace rookery::server {

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string tile(std::string_view what, std::string_view value) {
  return "<div><dt>" + escaped(what) + "</dt><dd>" + escaped(value) + "</dd></div>";
}

std::string row(std::string_view what, std::string_view value, const char* style) {
  return "<tr><th scope=\"row\">" + escaped(what) + "</th><td class=\"" + style + "\">" + escaped(value) + "</td></tr>";
}

std::string finding_row(const util::FindingRow& found) {
  const char* style = found.state == "ok" ? "good" : found.state == "off" ? "warn" : "bad";
  return "<tr><th scope=\"row\">" + escaped(found.what) + "</th><td class=\"" + style + "\">" + escaped(found.state) + "</td><td>" +
         escaped(found.text) + "</td></tr>";
}

// The id is cut to what the log shows too: whoever has a whole one has the session.
std::string session_row(const contract::SessionStatus& session) {
  constexpr std::size_t kShown = 12;
  const double idle = posix_now() - session.handle.last_activity_at;
  std::string cells = "<tr><th scope=\"row\"><code>" + escaped(session.handle.session_id.substr(0, kShown)) + "…</code></th><td>" + escaped(session.state) + "</td>";
  for (const std::uint64_t number : {session.calls, session.memory_bytes >> 20, session.processes, static_cast<std::uint64_t>(idle > 0 ? idle : 0)}) {
    cells += "<td class=\"number\">" + std::to_string(number) + "</td>";
  }
  return cells + "</tr>";
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 64> text{};
  return std::string(text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts));
}

// Puts each value where its name stands in {{}}. What a value holds is not looked at again.
std::string filled(std::string_view page, std::initializer_list<std::pair<std::string_view, std::string>> values) {
  std::string out;
  for (std::size_t open; (open = page.find("{{")) != std::string_view::npos;) {
    const std::size_t close = page.find("}}", open);
    const std::string_view name = page.substr(open + 2, close - open - 2);
    out += page.substr(0, open);
    for (const auto& [key, value] : values) {
      if (key == name) out += value;
    }
    page.remove_prefix(close + 2);
  }
  return out += page;
}

}  // namespace

std::string status_page(const Status& status) {
  std::string tiles = tile("sessions", std::to_string(status.sessions)) + tile("at most", std::to_string(status.max_sessions));
  if (status.jails) {
    tiles += tile("jails ready", std::to_string(status.jails->ready)) + tile("jails in all", std::to_string(status.jails->jails));
  }
  std::string sessions;
  for (const contract::SessionStatus& session : status.first_sessions) sessions += session_row(session);
  std::string limits;
  for (const auto& [limit, hits] : status.limits) limits += row(limit, std::to_string(hits), "number");

  std::string hardening;
  std::string versions;
  for (const util::FindingRow& found : util::read_findings(status.findings)) {
    if (found.state == "version") {
      versions += row(found.what, found.text, "");
    } else if (found.what == "jail" && status.jails) {
      // What was found possible later than at the start counts.
      hardening += status.jails->nested ? finding_row({"ok", "jail", "in a user namespace of its own"})
                                        : finding_row({"off", "jail", "flat: without a user namespace of its own"});
    } else {
      hardening += finding_row(found);
    }
  }
  return filled(util::embedded_file("pages/status.html"),
                {{"tiles", tiles}, {"sessions", sessions}, {"limits", limits}, {"hardening", hardening}, {"versions", versions}, {"time", now()}});
}

}  // namespace rookery::server
