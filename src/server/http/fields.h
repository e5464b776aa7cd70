// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/request_head.h"

// The field section of a head: what of it this server reads, each field checked as it comes.
namespace rookery::server::http {

class FieldReader {
 public:
  // `line` without CRLF.
  [[nodiscard]] std::optional<HeadError> line(std::string_view line);
  // After the last line, with head.minor_version set: checks what belongs together and fills `head`.
  [[nodiscard]] std::optional<HeadError> finish(RequestHead& head) const;

 private:
  [[nodiscard]] std::optional<HeadError> framing(RequestHead& head) const;
  [[nodiscard]] std::optional<HeadError> host(RequestHead& head) const;

  std::size_t count_ = 0;
  bool close_ = false;
  std::vector<std::pair<std::string_view, std::string_view>> others_;
  std::optional<std::string_view> host_, content_length_, transfer_encoding_, content_encoding_, expect_,
      content_type_, authorization_, origin_, sec_fetch_site_;
  // Fields that only name the request: a repeated one names nothing.
  struct Name {
    std::string_view value;
    int count = 0;
    [[nodiscard]] std::string_view once() const noexcept { return count == 1 ? value : std::string_view(); }
  };
  Name traceparent_, request_id_;
};

}  // namespace rookery::server::http
