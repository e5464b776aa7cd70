// SPDX-License-Identifier: Apache-2.0
#include "warden/zygotes.h"

#include <algorithm>

#include "log/log.h"

namespace rookery::warden {

namespace {

constexpr auto kMaxAge = std::chrono::hours(1);
constexpr unsigned kMaxRetrySeconds = 60;

}  // namespace

Zygotes::Zygotes(ZygoteRecipe recipe, std::uint64_t first_tag, std::uint32_t max_forks, Poller& poller, Answer on_forked)
    : recipe_(std::move(recipe)), max_forks_(max_forks), poller_(poller), on_forked_(std::move(on_forked)), next_tag_(first_tag) {
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
    log::warning("the zygote cannot be asked", {{"error", error.what()}});
    return false;
  }
  entry->asked.insert(nonce);
  const bool replacement_on_its_way = &entries_.back() != entry;
  if (entry->process->forks() >= max_forks_ && !replacement_on_its_way) start();
  return true;
}

void Zygotes::on_event(std::uint64_t tag) {
  const std::uint64_t of_channel = tag & ~std::uint64_t{1};
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& candidate) { return candidate.tag == of_channel; });
  if (entry == entries_.end()) return;
  if (tag != of_channel) return log_output(*entry);
  try {
    const auto forked = entry->process->read();
    if (!forked) {
      if (entry->process->ready()) {
        ++starts_;
        log::write_as("zygote", log::Level::kInfo, "zygote started");
      }
      failures_ = 0;
      retire();
      return;
    }
    entry->asked.erase(forked->nonce);
    retire();
    on_forked_(*forked);
  } catch (const std::exception& error) {
    log::warning("the zygote is lost; interpreters are started without it meanwhile", {{"error", error.what()}});
    lose(*entry);
  }
}

void Zygotes::log_output(Entry& entry) {
  const auto line = [](std::string_view text) { log::write_as("zygote", log::Level::kWarning, "printed", {{"text", text}}); };
  if (!entry.process->output().read(line)) poller_.remove(entry.process->output().fd());
}

// Before its descriptors are closed; what it printed last often says why it ended.
void Zygotes::forget(Entry& entry) noexcept {
  log_output(entry);
  poller_.remove(entry.process->channel());
  poller_.remove(entry.process->output().fd());
}

void Zygotes::lose(Entry& entry) noexcept {
  const std::set<std::uint64_t> unanswered = std::move(entry.asked);
  forget(entry);
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
  std::erase_if(entries_, [&](Entry& entry) {
    const bool done = entry.tag < tag && entry.asked.empty();
    if (done) {
      forget(entry);
      log::write_as("zygote", log::Level::kInfo, "zygote replaced", {{"forks", std::int64_t{entry.process->forks()}}});
    }
    return done;
  });
}

void Zygotes::start() noexcept {
  try {
    Entry entry;
    entry.tag = next_tag_;
    next_tag_ += 2;
    entry.process = std::make_unique<ZygoteProcess>(recipe_);
    poller_.add(entry.process->channel(), entry.tag);
    poller_.add(entry.process->output().fd(), entry.tag + 1);
    entries_.push_back(std::move(entry));
  } catch (const std::exception& error) {
    log::error("no zygote can be started", {{"error", error.what()}});
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
