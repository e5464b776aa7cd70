// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <httplib.h>

#include <string>
#include <string_view>

#include "server/http/connection.h"

namespace rookery::server::http {

// The connection as cpp-httplib sees it during one request. It reads a head that we wrote (see
// HttplibBridge) and then the end; what it writes is collected, so that a small response leaves in one packet.
class HttplibStream final : public httplib::Stream {
 public:
  HttplibStream(Connection& connection, std::string_view head, const Pace& pace) noexcept
      : connection_(connection), head_(head), pace_(pace) {}

  [[nodiscard]] bool is_readable() const override { return true; }
  [[nodiscard]] bool is_writable() const override { return !broken_; }
  ssize_t read(char* to, size_t size) override;
  ssize_t write(const char* from, size_t size) override;
  using httplib::Stream::write;
  // Its log would want these; ours has the client from elsewhere.
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  // Old versions refuse descriptors from FD_SETSIZE on, and use it for nothing else.
  [[nodiscard]] socket_t socket() const override { return INVALID_SOCKET; }

  // Sends what is left. False: some of the response was lost.
  [[nodiscard]] bool flush() noexcept;

 private:
  Connection& connection_;
  std::string_view head_;
  Pace pace_;
  std::string out_;
  bool broken_ = false;
};

}  // namespace rookery::server::http
