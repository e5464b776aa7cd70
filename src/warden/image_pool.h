// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jail/image.h"
#include "util/settings.h"
#include "warden/demand.h"
#include "warden/zygotes.h"

namespace rookery::warden {

// What the pool keeps for each image apart: its zygote, the jails built ahead, the leases that wait for one.
struct ImagePool {
  ImagePool(const jail::Image& of, std::uint32_t pool_size) : image(of), demand(pool_size) {}

  const jail::Image& image;
  Demand demand;
  std::optional<Zygotes> zygotes;     // fork mode
  std::deque<std::uint32_t> ready;    // slots
  std::deque<std::uint64_t> waiting;  // nonces of leases
  std::uint32_t starting = 0;
  std::uint32_t failures_in_a_row = 0;
  bool had_success = false;
  std::string last_failure;

  // How many jails are to be there or on their way. At least one at the start, to prove that they can be had.
  [[nodiscard]] std::uint32_t wanted() const noexcept {
    const std::uint32_t ahead = had_success ? demand.ahead() : std::max(1u, demand.ahead());
    return ahead + static_cast<std::uint32_t>(waiting.size());
  }
  [[nodiscard]] std::uint32_t there() const noexcept { return static_cast<std::uint32_t>(ready.size()) + starting; }
};

// Those of all images, in the order of the settings; the first is the default image's.
class ImagePools {
 public:
  // `recipe`: nullopt without a zygote; its image is set here. The rest as for Zygotes.
  void add(const jail::Image& image, const util::Settings& settings, const std::optional<ZygoteRecipe>& recipe, Poller& poller,
           const Zygotes::Answer& on_forked);
  [[nodiscard]] ImagePool& at(std::size_t index) const { return *pools_.at(index); }
  [[nodiscard]] std::size_t size() const noexcept { return pools_.size(); }
  [[nodiscard]] auto begin() const noexcept { return pools_.begin(); }
  [[nodiscard]] auto end() const noexcept { return pools_.end(); }

  [[nodiscard]] std::uint32_t ready() const noexcept;  // jails
  [[nodiscard]] std::uint32_t zygote_starts() const noexcept;
  [[nodiscard]] bool any_starting() const noexcept;
  // When one of them wants to be looked at again; time_point::max(): no need.
  [[nodiscard]] Demand::Clock::time_point due(Demand::Clock::time_point now) const noexcept;
  // Whether a first zygote is still importing; jails that are built meanwhile get exec'd interpreters.
  [[nodiscard]] bool warming_up() const noexcept;
  // Whether a jail of any image, and of every image, has come up.
  [[nodiscard]] bool had_success() const noexcept;
  [[nodiscard]] bool all_had_success() const noexcept;
  // Of the first image that has one; "" while there is none.
  [[nodiscard]] std::string last_failure() const;
  void forget_failures() noexcept;
  // An event of one of the zygotes.
  void on_zygote_event(std::uint64_t tag);

 private:
  std::vector<std::unique_ptr<ImagePool>> pools_;
};

}  // namespace rookery::warden
