// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jail/confine.h"
#include "jail/image.h"
#include "sys/clone.h"
#include "sys/unique_fd.h"
#include "warden/output_lines.h"

namespace rookery::warden {

struct ZygoteRecipe {
  const jail::Image* image = nullptr;
  const sys::SeccompFilter* session_filter = nullptr;  // for the interpreters
  const sys::SeccompFilter* own_filter = nullptr;
  jail::Limits limits;
};

// One warm interpreter (rookery_repl/zygote.py) that others are forked from: uid 0 in Z with the capabilities that
// joining a jail takes, the image as its root, no network.
class ZygoteProcess {
 public:
  // Throws std::system_error.
  explicit ZygoteProcess(const ZygoteRecipe& recipe);
  // Ends it.
  ~ZygoteProcess();
  ZygoteProcess(const ZygoteProcess&) = delete;
  ZygoteProcess& operator=(const ZygoteProcess&) = delete;

  struct Forked {
    std::uint64_t nonce = 0;
    pid_t pid = -1;  // inside the jail; -1: it failed
    std::string failure;
  };
  // Reads one message: an answer to fork(), or nothing when it was the ready message or there is none. Throws
  // std::runtime_error when the zygote has ended.
  std::optional<Forked> read();

  // Asks for an interpreter; `descriptors` as in wire::ForkDescriptor. Throws std::system_error.
  void fork(std::uint64_t nonce, uid_t uid, bool nested, const std::vector<int>& descriptors);

  [[nodiscard]] bool ready() const noexcept { return ready_; }
  [[nodiscard]] std::uint32_t forks() const noexcept { return forks_; }
  [[nodiscard]] std::chrono::steady_clock::time_point started() const noexcept { return started_; }
  [[nodiscard]] int channel() const noexcept { return channel_.get(); }
  // What it and the modules that it imports print.
  [[nodiscard]] OutputLines& output() noexcept { return *output_; }

 private:
  sys::Cloned process_;
  sys::UniqueFd channel_;
  std::optional<OutputLines> output_;
  bool ready_ = false;
  std::uint32_t forks_ = 0;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace rookery::warden
