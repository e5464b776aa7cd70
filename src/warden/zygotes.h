// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "warden/poller.h"
#include "warden/zygote_process.h"

namespace rookery::warden {

// Keeps one zygote at hand: replaces it after a number of forks or some time, in the background, so that its address
// layout is not shared for ever, and starts another when it dies. Where none is ready, interpreters are exec'd.
class Zygotes {
 public:
  using Answer = std::function<void(const ZygoteProcess::Forked&)>;

  // `on_forked` gets the answer to every fork(), also when the zygote died over it. Events have tags from `first_tag` on.
  Zygotes(ZygoteRecipe recipe, std::uint64_t first_tag, std::uint32_t max_forks, Poller& poller, Answer on_forked);

  // False when none is ready.
  bool fork(std::uint64_t nonce, uid_t uid, bool nested, const std::vector<int>& descriptors);
  [[nodiscard]] bool ready() const noexcept;
  // Whether the first one is still coming up.
  [[nodiscard]] bool starting() const noexcept { return !ready() && !entries_.empty(); }

  // How many became ready so far.
  [[nodiscard]] std::uint32_t starts() const noexcept { return starts_; }

  void on_event(std::uint64_t tag);
  void on_timer();
  [[nodiscard]] int timeout_ms() const;  // -1: no need

  // Where the tags of the one number `index` begin.
  static constexpr std::uint64_t first_tag(std::size_t index) noexcept { return (index + 1) << 32; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    std::uint64_t tag = 0;  // of its channel; the next number is that of its output
    std::unique_ptr<ZygoteProcess> process;
    std::set<std::uint64_t> asked;  // nonces without an answer
  };

  void start() noexcept;
  void lose(Entry& entry) noexcept;
  void forget(Entry& entry) noexcept;
  void log_output(Entry& entry);
  void retire() noexcept;
  [[nodiscard]] Entry* current() noexcept;

  ZygoteRecipe recipe_;
  std::uint32_t max_forks_;
  Poller& poller_;
  Answer on_forked_;
  std::vector<Entry> entries_;  // oldest first; the last one that is ready is the one in use
  std::uint64_t next_tag_;
  std::uint32_t starts_ = 0;
  unsigned failures_ = 0;
  Clock::time_point retry_at_{};
};

}  // namespace rookery::warden
