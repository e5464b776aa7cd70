// SPDX-License-Identifier: Apache-2.0
#include "warden/zygotes.h"

#include <algorithm>
#include <cstdio>

namespace rookery::warden {

namespace {

constexpr auto kMaxAge = std::chrono::hours(1);
constexpr unsigned kMaxRetrySeconds = 60;

}  // namespace

Zygotes::Zygotes(ZygoteRecipe recipe, std::uint32_t max_forks, Poller& poller, Answer on_forked)
    : recipe_(std::move(recipe)), max_forks_(max_forks), poller_(poller), on_forked_(std::move(on_forked)) {
  start();
}

Zygotes::Entry* Zygotes::current() noexcept {
  const auto found = std::find_if(entries_.rbegin(), entries_.rend(), [](const Entry& entry) { return entry.process->ready(); });
  return found == entries_.rend() ? nullptr : &*found;
}

bool Zygotes::ready() const noexcept {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.process->ready(); });
}

bool Zygotes::fork(std::uint64_t nonce, uid_t uid, bool nested, const std::vector<int>& descriptors) {
  Entry* entry = current();
  if (entry == nullptr) return false;
  try {
    entry->process->fork(nonce, uid, nested, descriptors);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rookery: %s\n", error.what());
    return false;
  }
  entry->asked.insert(nonce);
  const bool replacement_on_its_way = &entries_.back() != entry;
  if (entry->process->forks() >= max_forks_ && !replacement_on_its_way) start();
  return true;
}

void Zygotes::on_event(std::uint64_t tag) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& candidate) { return candidate.tag == tag; });
  if (entry == entries_.end()) return;
  try {
    const auto forked = entry->process->read();
    if (!forked) {
      failures_ = 0;
      retire();
      return;
    }
    entry->asked.erase(forked->nonce);
    retire();
    on_forked_(*forked);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rookery: %s; interpreters are started without it meanwhile\n", error.what());
    lose(*entry);
  }
}

void Zygotes::lose(Entry& entry) noexcept {
  const std::set<std::uint64_t> unanswered = std::move(entry.asked);
  poller_.remove(entry.process->channel());
  const std::uint64_t tag = entry.tag;
  std::erase_if(entries_, [&](const Entry& candidate) { return candidate.tag == tag; });
  for (const std::uint64_t nonce : unanswered) on_forked_({nonce, -1, "the zygote ended"});
  if (!entries_.empty()) return;
  retry_at_ = Clock::now() + std::chrono::seconds(std::min(1u << std::min(failures_, 6u), kMaxRetrySeconds));
  ++failures_;
}

// Ends those that a newer one has replaced and that owe no answer.
void Zygotes::retire() noexcept {
  const Entry* in_use = current();
  if (in_use == nullptr) return;
  const std::uint64_t tag = in_use->tag;
  std::erase_if(entries_, [&](const Entry& entry) {
    const bool done = entry.tag < tag && entry.asked.empty();
    if (done) poller_.remove(entry.process->channel());
    return done;
  });
}

void Zygotes::start() noexcept {
  try {
    Entry entry;
    entry.tag = next_tag_++;
    entry.process = std::make_unique<ZygoteProcess>(recipe_);
    poller_.add(entry.process->channel(), entry.tag);
    entries_.push_back(std::move(entry));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rookery: no zygote can be started: %s\n", error.what());
    retry_at_ = Clock::now() + std::chrono::seconds(kMaxRetrySeconds);
  }
}

void Zygotes::on_timer() {
  if (entries_.empty()) {
    if (Clock::now() >= retry_at_) start();
    return;
  }
  const Entry* in_use = current();
  if (in_use != nullptr && &entries_.back() == in_use && Clock::now() - in_use->process->started() > kMaxAge) start();
}

int Zygotes::timeout_ms() const {
  if (entries_.empty()) return 1000;
  // Its age is looked at whenever the warden wakes, and now and then when nothing else happens.
  return 600'000;
}

}  // namespace rookery::warden
