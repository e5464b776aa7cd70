// SPDX-License-Identifier: Apache-2.0
#include "warden/pool.h"

#include <algorithm>
#include <utility>

#include "log/log.h"
#include "util/random.h"
#include "warden/handover.h"

namespace rookery::warden {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kBuildsAtOnce = 4;
constexpr auto kStartDeadline = std::chrono::seconds(60);  // a start of Python under software emulation takes 20
constexpr auto kRetry = std::chrono::milliseconds(20);  // for cgroups that the kernel still holds
constexpr auto kQuiet = std::chrono::milliseconds(8);  // without a lease or release, before the chores
constexpr std::size_t kMostOver = 16;

enum class Event : std::uint64_t { kEnded = 0, kWardenChannel = 1, kReplChannel = 2 };
constexpr std::uint64_t kTagBase = 1u << 16;

std::uint64_t tag(std::uint32_t slot, Event event) { return kTagBase + slot * 4u + static_cast<std::uint64_t>(event); }

}  // namespace

Pool::Pool(const JailContext& context, Poller& poller, Answers& answers, const std::vector<jail::Image>& images,
           const std::optional<ZygoteRecipe>& recipe)
    : context_(context),
      poller_(poller),
      answers_(answers),
      slots_(slot_count(*context.settings)),
      node_(context.settings->node_id.empty() ? util::random_hex(4) : context.settings->node_id) {
  for (auto slot = static_cast<std::uint32_t>(slots_.size()); slot-- > 0;) free_.push_back(slot);
  const Zygotes::Answer answer = [this](const ZygoteProcess::Forked& forked) { on_forked(forked); };
  for (const jail::Image& image : images) images_.add(image, *context.settings, recipe, poller, answer);
}

sys::UniqueFd Pool::restart_interpreter(JailProcess& jail) {
  sys::UniqueFd channel = jail.new_channel();
  supply_interpreter(jail);
  return channel;
}

// From the zygote where there is one, else by exec in the jail.
void Pool::supply_interpreter(JailProcess& jail) {
  const std::uint64_t nonce = (std::uint64_t{jail.generation} << 32) | jail.slot();
  std::optional<Zygotes>& zygotes = slots_[jail.slot()].of->zygotes;
  if (zygotes && zygotes->fork(nonce, jail.inner_uid(), context_.nested, jail.fork_descriptors())) return;
  jail.exec_interpreter();
}

void Pool::on_forked(const ZygoteProcess::Forked& forked) {
  Slot& slot = slots_[static_cast<std::uint32_t>(forked.nonce) % slots_.size()];
  // The jail may have ended, or got another interpreter, while the zygote was at work.
  if (!slot.jail || slot.jail->generation != forked.nonce >> 32 || slot.jail->state == JailProcess::State::kDead) return;
  try {
    if (forked.pid < 0) {
      slot.jail->exec_interpreter();
    } else {
      slot.jail->adopt_interpreter(forked.pid);
    }
  } catch (const std::exception& error) {
    log::warning("an interpreter could not be started", {{"session_id", log::shortened(slot.jail->id())}, {"error", error.what()}});
    slot.jail->kill();
    return;
  }
  if (slot.jail->interpreter_ready && slot.jail->state == JailProcess::State::kStarting) on_ready(slot);
}

void Pool::lease(std::uint64_t nonce, std::size_t index) {
  ImagePool& image = images_.at(index);
  image.waiting.push_back(nonce);
  serve_waiting(image);
  if (!image.waiting.empty()) image.demand.missed(Clock::now());
  if (image.demand.urgent(image.ready.size())) {
    refill(image);
  } else {
    postpone();
  }
}

void Pool::postpone() noexcept { chores_due_ = Clock::now() + kQuiet; }

void Pool::do_chores() {
  chores_due_.reset();
  for (const std::uint32_t index : std::exchange(over_, {})) drop(index);
  refill();
}

// Jails of a burst that is over. One stays in any case, which a run without a pool takes.
void Pool::dismiss_surplus(ImagePool& image) noexcept {
  while (image.ready.size() > std::max(1u, image.demand.ahead())) {
    slots_[image.ready.back()].jail->kill();
    image.ready.pop_back();
  }
}

// A lease's number holds its slot in the low bits.
Pool::Slot* Pool::find(std::uint64_t lease) noexcept {
  const auto index = static_cast<std::size_t>(lease & 0xffff);
  return index < slots_.size() && slots_[index].leased && slots_[index].lease == lease ? &slots_[index] : nullptr;
}

void Pool::rebuild(std::uint64_t nonce, std::uint64_t lease) {
  Slot* slot = find(lease);
  if (slot == nullptr || slot->pending) {
    answers_.failed(nonce, slot == nullptr ? "no such lease" : "the session is being released or rebuilt already");
    return;
  }
  slot->pending = Request{nonce, wire::Type::kKilled};
  if (slot->jail->state == JailProcess::State::kDead) {
    build(slot->jail->slot());
  } else {
    slot->jail->kill();
  }
}

void Pool::release(std::uint64_t nonce, std::uint64_t lease) {
  Slot* slot = find(lease);
  if (slot == nullptr || (slot->pending && slot->pending->type == wire::Type::kReleased)) {
    answers_.failed(nonce, "no such lease");
    return;
  }
  // A rebuild that is under way loses against the release of the session.
  if (slot->pending) answers_.failed(slot->pending->nonce, "the session was released");
  slot->pending = Request{nonce, wire::Type::kReleased};
  if (slot->jail->state == JailProcess::State::kDead) {
    finish_release(slot->jail->slot());
  } else {
    slot->jail->kill();
  }
}

JailProcess* Pool::leased(std::uint64_t lease) noexcept {
  Slot* slot = find(lease);
  return slot != nullptr && !slot->pending ? slot->jail.get() : nullptr;
}

void Pool::refill(ImagePool& image) {
  if (shutting_down_) return;
  if (free_.empty() && !over_.empty()) do_chores();
  while (image.starting < kBuildsAtOnce && image.there() < image.wanted() && !free_.empty() && image.failures_in_a_row < 3) {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    ++count_;
    slots_[slot].of = &image;
    build(slot);
  }
  if (image.waiting.empty() || image.starting > 0) return;
  // Nothing is on its way: either every slot is taken or jails cannot be built at the moment.
  const std::string why = free_.empty() ? "every jail is in use" : image.last_failure;
  for (const std::uint64_t nonce : std::exchange(image.waiting, {})) answers_.failed(nonce, why);
  image.failures_in_a_row = 0;
}

void Pool::build(std::uint32_t index) {
  Slot& slot = slots_[index];
  ++slot.of->starting;
  try {
    if (slot.jail) {
      slot.jail->start();
    } else {
      slot.jail = std::make_unique<JailProcess>(context_, slot.of->image, index, "sbx_" + node_ + util::random_hex(32));
    }
    watch(*slot.jail);
  } catch (const std::exception& error) {
    fail_start(index, error.what());
  }
}

void Pool::watch(JailProcess& jail) {
  poller_.add(jail.pidfd(), tag(jail.slot(), Event::kEnded));
  poller_.add(jail.warden_channel(), tag(jail.slot(), Event::kWardenChannel));
  poller_.add(jail.repl_channel(), tag(jail.slot(), Event::kReplChannel));
}

// Before its descriptors are closed: a process that is being cloned holds copies of them for a moment, and as long as
// there is a copy the poller would go on telling of it.
void Pool::unwatch(const JailProcess& jail) noexcept {
  for (const int fd : {jail.pidfd(), jail.warden_channel(), jail.repl_channel()}) {
    if (fd >= 0) poller_.remove(fd);
  }
}

void Pool::on_event(std::uint64_t event_tag) {
  if (event_tag >= Zygotes::first_tag(0)) {
    images_.on_zygote_event(event_tag);
    return;
  }
  const auto index = static_cast<std::uint32_t>((event_tag - kTagBase) / 4);
  const auto event = static_cast<Event>((event_tag - kTagBase) % 4);
  if (index >= slots_.size() || !slots_[index].jail) return;
  Slot& slot = slots_[index];
  JailProcess& jail = *slot.jail;
  if (jail.state == JailProcess::State::kDead) return;  // an event of the same round, for what has ended meanwhile
  switch (event) {
    case Event::kEnded:
      on_end(index);
      break;
    case Event::kWardenChannel:
      switch (jail.read_warden_channel()) {
        case JailProcess::News::kNone:
          break;
        case JailProcess::News::kInitReady:
          if (jail.state == JailProcess::State::kStarting && jail.awaits_interpreter()) supply_interpreter(jail);
          break;
        case JailProcess::News::kFailed:
          poller_.remove(jail.warden_channel());
          jail.kill();
          break;
      }
      break;
    case Event::kReplChannel:
      if (jail.state == JailProcess::State::kLeased) break;  // the server listens now
      // It says that it is ready, and nothing else; its end, or whatever else it says, is the jail's.
      if (!jail.interpreter_ready && jail.read_repl_channel()) {
        jail.interpreter_ready = true;
        if (jail.interpreter_known) on_ready(slot);
      } else {
        poller_.remove(jail.repl_channel());
        jail.kill();
      }
      break;
  }
}

void Pool::on_ready(Slot& slot) {
  if (slot.pending && slot.pending->type == wire::Type::kReleased) return;  // it was killed as it became ready
  slot.jail->interpreter_came();
  if (context_.timed) {
    std::fputs(slot.jail->times().lines().c_str(), stdout);
    std::fflush(stdout);
  }
  ImagePool& image = *slot.of;
  --image.starting;
  image.failures_in_a_row = 0;
  image.had_success = true;
  const auto took = std::chrono::duration<double, std::milli>(Clock::now() - slot.jail->started());
  log::write_as("init", log::Level::kDebug, "jail started", {{"session_id", log::shortened(slot.jail->id())}, {"duration_ms", took.count()}});
  if (slot.leased) {
    if (slot.pending) hand_over(slot, slot.pending->nonce, wire::Type::kKilled);
    slot.pending.reset();
  } else {
    slot.jail->state = JailProcess::State::kReady;
    image.ready.push_back(slot.jail->slot());
    serve_waiting(image);
    dismiss_surplus(image);
  }
  refill(image);
}

void Pool::serve_waiting(ImagePool& image) {
  while (!image.waiting.empty() && !image.ready.empty()) {
    Slot& slot = slots_[image.ready.front()];
    image.ready.pop_front();
    slot.leased = true;
    slot.lease = (++last_lease_ << 16) | slot.jail->slot();
    hand_over(slot, image.waiting.front(), wire::Type::kLeased);
    image.waiting.pop_front();
  }
}

void Pool::hand_over(Slot& slot, std::uint64_t nonce, wire::Type type) {
  JailProcess& jail = *slot.jail;
  jail.state = JailProcess::State::kLeased;
  answers_.leased(nonce, type, slot.lease, jail);
  poller_.remove(jail.repl_channel());
  jail.forget_lease();
}

void Pool::on_end(std::uint32_t index) {
  Slot& slot = slots_[index];
  const JailProcess::State state = slot.jail->state;
  unwatch(*slot.jail);
  if (state == JailProcess::State::kStarting) {
    slot.jail->read_warden_channel();
    std::string why = slot.jail->failure();
    if (why.empty()) {
      const bool late = Clock::now() - slot.jail->started() > kStartDeadline;
      why = late ? "it was not ready within " + std::to_string(kStartDeadline.count()) + " seconds" : "the jail ended while it was set up";
    }
    slot.jail->ended();
    fail_start(index, why);
    return;
  }
  slot.jail->ended();
  const bool asked_for = slot.pending.has_value() || shutting_down_;
  log::write_as("init", asked_for ? log::Level::kDebug : log::Level::kWarning, asked_for ? "jail ended" : "a jail ended by itself",
                {{"session_id", log::shortened(slot.jail->id())}});
  if (state == JailProcess::State::kReady) {
    ImagePool& image = *slot.of;
    std::erase(image.ready, index);
    drop(index);
    refill(image);
  } else if (!slot.pending) {
    answers_.answer(0, wire::Type::kJailDied, slot.lease);
  } else if (slot.pending->type == wire::Type::kReleased) {
    finish_release(index);
  } else {
    build(index);
  }
}

void Pool::fail_start(std::uint32_t index, const std::string& why) {
  Slot& slot = slots_[index];
  ImagePool& image = *slot.of;
  --image.starting;
  // A session can spoil its own workspace, so only what failed before any client had it says something of the machine.
  if (!slot.leased) ++image.failures_in_a_row;
  image.last_failure = why;
  const bool released = slot.pending && slot.pending->type == wire::Type::kReleased;
  if (!shutting_down_ && !released) log::write_as("init", log::Level::kWarning, "a jail could not be set up", {{"error", why}});
  if (!slot.leased) {
    drop(index);
  } else if (released) {
    finish_release(index);
  } else if (slot.pending) {
    answers_.failed(slot.pending->nonce, why);
    slot.pending.reset();
  }
  refill(image);
}

// No process of the session is left and nobody can reach it: that is told at once, and the rest goes when it is quiet.
void Pool::finish_release(std::uint32_t index) {
  Slot& slot = slots_[index];
  const std::uint64_t nonce = slot.pending->nonce;
  slot.pending.reset();
  slot.leased = false;
  over_.push_back(index);
  if (nonce != 0) answers_.answer(nonce, wire::Type::kReleased, slot.lease);
  if (shutting_down_ || over_.size() >= kMostOver) {
    do_chores();
  } else {
    postpone();
  }
}

void Pool::drop(std::uint32_t index) noexcept {
  slots_[index] = {};
  --count_;
  if (JailProcess::remove_cgroup(*context_.cgroup, index)) {
    free_.push_back(index);
  } else {
    stale_cgroups_.push_back(index);
  }
}

void Pool::shut_down() noexcept {
  shutting_down_ = true;
  do_chores();
  for (std::uint32_t index = 0; index < slots_.size(); ++index) {
    Slot& slot = slots_[index];
    if (!slot.jail) continue;
    slot.pending = Request{0, wire::Type::kReleased};
    if (slot.jail->state == JailProcess::State::kDead) {
      drop(index);
    } else {
      slot.jail->kill();
    }
  }
  for (const auto& image : images_) image->ready.clear();
}

int Pool::timeout_ms() const {
  const auto now = Clock::now();
  Clock::time_point due = images_.due(now);
  if (!stale_cgroups_.empty()) due = std::min(due, now + kRetry);
  if (chores_due_) due = std::min(due, *chores_due_);
  if (due == Clock::time_point::max()) return -1;
  return static_cast<int>(std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(due - now).count()));
}

void Pool::on_timer() {
  const auto now = Clock::now();
  for (const auto& image : images_) {
    if (image->demand.settle(now)) dismiss_surplus(*image);
    if (image->zygotes && !shutting_down_) image->zygotes->on_timer();
  }
  if (chores_due_ && *chores_due_ <= now) do_chores();
  std::erase_if(stale_cgroups_, [&](std::uint32_t slot) {
    if (!JailProcess::remove_cgroup(*context_.cgroup, slot)) return false;
    free_.push_back(slot);
    return true;
  });
  if (!images_.any_starting()) return;
  for (Slot& slot : slots_) {
    if (slot.jail && slot.jail->state == JailProcess::State::kStarting && now - slot.jail->started() > kStartDeadline) {
      slot.jail->kill();
    }
  }
}

}  // namespace rookery::warden
