// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sys/unique_fd.h"
#include "wire/message.h"

namespace rookery::server {

// What a lease or a rebuild brings.
struct Lease {
  std::uint64_t number = 0;  // names the lease to the warden
  std::string session_id;
  std::string image;
  std::vector<sys::UniqueFd> descriptors;  // by wire::LeaseDescriptor
};

// The server's end of the channel to the warden (wire/warden_messages.h). Thread-safe; each call waits for its own
// answer, at most `kPatience`.
class WardenClient {
 public:
  static constexpr std::chrono::seconds kPatience{35};

  // `on_lost` is called once, from the reading thread, when the warden is gone.
  WardenClient(sys::UniqueFd channel, std::function<void()> on_lost);
  ~WardenClient();
  WardenClient(const WardenClient&) = delete;
  WardenClient& operator=(const WardenClient&) = delete;

  // Each throws std::runtime_error with the warden's reason, or when no answer came.
  Lease lease(std::uint32_t image, std::chrono::milliseconds patience = kPatience);
  Lease rebuild(std::uint64_t lease);
  sys::UniqueFd restart_interpreter(std::uint64_t lease);
  // Returns once every process of the jail is dead and nothing leads to its files any more.
  void release(std::uint64_t lease);
  struct Statistics {
    std::uint32_t ready = 0;  // jails built ahead
    std::uint32_t jails = 0;  // all
    bool nested = true;       // in user namespaces of their own
    std::uint32_t zygote_starts = 0;
    bool exporter_up = false;
    std::uint32_t exporter_restarts = 0;
  };
  Statistics statistics(std::chrono::milliseconds patience);

 private:
  struct Answer {
    wire::Type type{};
    std::string payload;
    std::vector<sys::UniqueFd> descriptors;
  };
  struct Waiting {
    std::optional<Answer> answer;
  };

  Answer ask(wire::Writer message, std::uint64_t nonce, wire::Type expected, std::size_t descriptors,
             std::chrono::milliseconds patience = kPatience);
  std::uint64_t next_nonce();
  Lease read_lease(Answer answer);
  void give_back(std::string_view leased);
  void read_answers();

  sys::UniqueFd channel_;
  std::function<void()> on_lost_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::map<std::uint64_t, Waiting> waiting_;
  std::uint64_t last_nonce_ = 0;
  bool lost_ = false;
  sys::UniqueFd stop_;  // eventfd
  std::thread reader_;
};

}  // namespace rookery::server
