// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warden/image_pool.h"
#include "warden/jail_process.h"
#include "warden/poller.h"
#include "wire/message.h"

namespace rookery::warden {

// All jails of the warden, by slot: built ahead of demand, leased, ended. Never waits for a jail; everything that
// takes time is an event of the poller. Answers go through `Answers`, in whatever order they become due.
class Pool {
 public:
  class Answers {
   public:
    virtual ~Answers() = default;
    virtual void leased(std::uint64_t nonce, wire::Type type, std::uint64_t lease, const JailProcess& jail) = 0;
    virtual void answer(std::uint64_t nonce, wire::Type type, std::uint64_t lease) = 0;
    virtual void failed(std::uint64_t nonce, const std::string& why) = 0;
  };

  // `images` outlives the pool; the first is the default. `recipe`: for the zygotes of fork mode, one an image, whose place in
  // it the pool fills in; nullopt for exec mode.
  Pool(const JailContext& context, Poller& poller, Answers& answers, const std::vector<jail::Image>& images,
       const std::optional<ZygoteRecipe>& recipe);

  // Requests of the server. Each is answered once, with its nonce.
  void lease(std::uint64_t nonce, std::size_t image);  // image < images().size()
  void rebuild(std::uint64_t nonce, std::uint64_t lease);  // ends the jail and builds it anew on the same files
  void release(std::uint64_t nonce, std::uint64_t lease);
  // Starts a new interpreter in a leased jail; the server's end of its channel. Throws std::system_error.
  sys::UniqueFd restart_interpreter(JailProcess& jail);
  [[nodiscard]] JailProcess* leased(std::uint64_t lease) noexcept;  // nullptr unless it is leased and stays so

  // Builds ahead what is missing, of each image. Between requests that follow each other closely it is put off, because whoever leases a
  // session calls it next and the processors are his then; so is the clearing away of released sessions.
  void refill() {
    for (const auto& image : images_) refill(*image);
  }
  // Ends all jails; done() once none is left.
  void shut_down() noexcept;
  [[nodiscard]] bool done() const noexcept { return count_ == 0 && stale_cgroups_.empty(); }

  // An event whose tag is one of tag().
  void on_event(std::uint64_t tag);
  // Milliseconds until on_timer() wants to be called; -1: no need.
  [[nodiscard]] int timeout_ms() const;
  void on_timer();

  [[nodiscard]] bool nested() const noexcept { return context_.nested; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] const ImagePools& images() const noexcept { return images_; }
  void forget_failures() noexcept { images_.forget_failures(); }

 private:
  struct Request {
    std::uint64_t nonce;
    wire::Type type;
  };
  struct Slot {
    std::unique_ptr<JailProcess> jail;
    ImagePool* of = nullptr;  // while the slot is in use
    std::optional<Request> pending;  // a rebuild or release that waits for the jail's end, or a rebuild for its start
    bool leased = false;
    std::uint64_t lease = 0;  // its number while it is leased
  };
  [[nodiscard]] Slot* find(std::uint64_t lease) noexcept;

  void build(std::uint32_t slot);
  void watch(JailProcess& jail);
  void unwatch(const JailProcess& jail) noexcept;
  void supply_interpreter(JailProcess& jail);
  void on_forked(const ZygoteProcess::Forked& forked);
  void on_ready(Slot& slot);
  void on_end(std::uint32_t index);
  void fail_start(std::uint32_t index, const std::string& why);
  void finish_release(std::uint32_t index);
  void drop(std::uint32_t index) noexcept;
  void refill(ImagePool& image);
  void serve_waiting(ImagePool& image);
  void hand_over(Slot& slot, std::uint64_t nonce, wire::Type type);  // to the server, which asked with `nonce`
  void postpone() noexcept;
  void do_chores();
  void dismiss_surplus(ImagePool& image) noexcept;

  const JailContext& context_;
  Poller& poller_;
  Answers& answers_;
  ImagePools images_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> over_;  // slots to be dropped
  std::vector<std::uint32_t> stale_cgroups_;
  std::optional<Demand::Clock::time_point> chores_due_;
  std::uint64_t last_lease_ = 0;
  std::uint32_t count_ = 0;
  bool shutting_down_ = false;
  std::string node_;
};

}  // namespace rookery::warden
