// SPDX-License-Identifier: Apache-2.0
#include "warden/image_pool.h"

#include <utility>

namespace rookery::warden {

void ImagePools::add(const jail::Image& image, const util::Settings& settings, const std::optional<ZygoteRecipe>& recipe, Poller& poller,
                     const Zygotes::Answer& on_forked) {
  ImagePool& pool = *pools_.emplace_back(std::make_unique<ImagePool>(image, settings.pool_size));
  if (!recipe) return;
  ZygoteRecipe own = *recipe;
  own.image = &image;
  pool.zygotes.emplace(std::move(own), Zygotes::first_tag(pools_.size() - 1), settings.zygote_max_forks, poller, on_forked);
}

std::uint32_t ImagePools::ready() const noexcept {
  std::size_t sum = 0;
  for (const auto& pool : pools_) sum += pool->ready.size();
  return static_cast<std::uint32_t>(sum);
}

std::uint32_t ImagePools::zygote_starts() const noexcept {
  std::uint32_t sum = 0;
  for (const auto& pool : pools_) sum += pool->zygotes ? pool->zygotes->starts() : 0;
  return sum;
}

bool ImagePools::any_starting() const noexcept {
  return std::any_of(begin(), end(), [](const auto& pool) { return pool->starting > 0; });
}

Demand::Clock::time_point ImagePools::due(Demand::Clock::time_point now) const noexcept {
  auto due = Demand::Clock::time_point::max();
  for (const auto& pool : pools_) {
    if (pool->starting > 0) due = std::min(due, now + std::chrono::seconds(1));
    if (pool->demand.grown()) due = std::min(due, pool->demand.until());
    if (pool->zygotes) due = std::min(due, now + std::chrono::milliseconds(pool->zygotes->timeout_ms()));
  }
  return due;
}

bool ImagePools::warming_up() const noexcept {
  return std::any_of(begin(), end(), [](const auto& pool) { return pool->zygotes && pool->zygotes->starting(); });
}

bool ImagePools::had_success() const noexcept {
  return std::any_of(begin(), end(), [](const auto& pool) { return pool->had_success; });
}

bool ImagePools::all_had_success() const noexcept {
  return std::all_of(begin(), end(), [](const auto& pool) { return pool->had_success; });
}

std::string ImagePools::last_failure() const {
  for (const auto& pool : pools_) {
    if (!pool->last_failure.empty()) return (pool == pools_.front() ? "" : "image " + pool->image.name + ": ") + pool->last_failure;
  }
  return "";
}

void ImagePools::forget_failures() noexcept {
  for (const auto& pool : pools_) {
    pool->last_failure.clear();
    pool->failures_in_a_row = 0;
  }
}

void ImagePools::on_zygote_event(std::uint64_t tag) {
  for (const auto& pool : pools_) {
    if (pool->zygotes) pool->zygotes->on_event(tag);  // each knows its own
  }
}

}  // namespace rookery::warden
