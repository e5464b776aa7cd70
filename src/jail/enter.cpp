// SPDX-License-Identifier: Apache-2.0
#include "jail/enter.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "jail/confine.h"
#include "jail/init_protocol.h"
#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/file.h"
#include "sys/mount.h"
#include "sys/signals.h"
#include "sys/socket.h"
#include "wire/message.h"

namespace rookery::jail {

namespace {

// The parent has mapped the ids when its byte arrives.
void wait_for_parent() {
  char go = 0;
  if (::recv(kWardenChannel, &go, 1, 0) != 1) throw std::runtime_error("the warden went away");
}

void enter_cgroup_namespace() {
  // After the move: on v1 an earlier one would show "/../name" in /proc/self/cgroup.
  sys::check(::unshare(CLONE_NEWCGROUP), "unshare the cgroup namespace");
}

void raise_loopback() {
  const sys::UniqueFd socket(sys::check(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  sys::check(::ioctl(socket.get(), SIOCSIFFLAGS, &request), "raise the loopback interface");
}

void name_host() { sys::check(::sethostname("sandbox", 7), "set the host name"); }

void forbid_inner_user_namespaces(const Entry& entry) {
  // The filter refuses them too; this one is the kernel's own switch. In flat mode the warden sets it for all of Z.
  if (entry.nested) sys::write_file(entry.image->root + "/proc/sys/user/max_user_namespaces", "0");
}

void mount_proc(const Entry& entry) {
  const std::string proc = entry.image->root + "/proc";
  sys::mount_fs("proc", proc, MS_NOSUID | MS_NODEV | MS_NOEXEC);
  forbid_inner_user_namespaces(entry);
  for (const std::string& name : entry.image->proc_masked_files) sys::bind(entry.image->root + "/dev/null", proc + "/" + name);
  for (const std::string& name : entry.image->proc_masked_directories) {
    sys::bind(entry.image->root + "/var/empty", proc + "/" + name);
  }
  for (const std::string& name : entry.image->proc_read_only) {
    sys::bind(proc + "/" + name, proc + "/" + name);
    sys::restrict_mount(proc + "/" + name, MOUNT_ATTR_RDONLY);
  }
}

void mount_session(const Entry& entry) {
  const std::string& root = entry.image->root;
  const std::string staging = root + "/mnt";
  sys::attach(kSessionTree, staging);
  sys::restrict_mount(staging, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);  // a plain directory's mount has neither
  sys::bind(staging + "/workspace", root + "/workspace");
  sys::bind(staging + "/tmp", root + "/tmp");
  sys::bind(staging + "/shm", root + "/dev/shm");
  sys::bind(staging + "/sessions", root + "/var/sandbox/sessions");
  sys::restrict_mount(root + "/var/sandbox/sessions", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC);
  // The image's know uid 1000; in a flat jail the session has another.
  for (const char* file : {"passwd", "group"}) {
    if (entry.nested) continue;
    sys::bind(staging + "/" + file, root + "/etc/" + file);
    sys::restrict_mount(root + "/etc/" + file, MOUNT_ATTR_RDONLY);
  }
  sys::detach(staging);
}

void mount_root(const Entry& entry) {
  sys::make_private();
  // A copy in this namespace: what came along with the clone is locked and cannot become a root.
  sys::bind(entry.image->root, entry.image->root, true);
}

void mount_devpts(const Entry& entry) {
  sys::mount_fs("devpts", entry.image->root + "/dev/pts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,max=64");
}

void enter_root(const Entry& entry) {
  sys::enter_root(entry.image->root);
  sys::check(::chdir("/workspace"), "chdir /workspace");
}

// The listed descriptors take the places the init expects; every other one is closed.
void arrange_descriptors(const Entry& entry) {
  const int sources[] = {entry.warden_channel, entry.server_channel, entry.standard_output, entry.standard_error,
                         entry.session_tree};
  constexpr int count = 5;
  int moved[count];
  for (int i = 0; i < count; ++i) moved[i] = sys::check(::fcntl(sources[i], F_DUPFD_CLOEXEC, 64), "move a descriptor");
  for (int i = 0; i < count; ++i) {
    const bool inherited = kWardenChannel + i < kSessionTree;
    sys::check(::dup3(moved[i], kWardenChannel + i, inherited ? 0 : O_CLOEXEC), "dup3");
  }
  sys::check(::close_range(kSessionTree + 1, ~0u, 0), "close all other descriptors");
}

void close_standard_descriptors() {
  const sys::UniqueFd null(sys::check(::open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null"));
  for (int fd = 0; fd < 3; ++fd) sys::check(::dup2(null.get(), fd), "dup2 /dev/null");
}

void tell_warden(int channel, wire::Type type, std::string_view text) noexcept {
  try {
    wire::Writer message(type, 0);
    message.raw(text.substr(0, 2048));
    [[maybe_unused]] const bool sent = sys::send_packet(channel, message.packet());
  } catch (const std::exception&) {
    // A set-up that failed tells by its exit; times that are lost are missing in a table.
  }
}

// Runs the steps, and knows how long each took.
class Steps {
 public:
  template <class Step>
  void operator()(const char* name, const Step& step) {
    step();
    const auto now = Clock::now();
    if (count_ < taken_.size()) taken_[count_++] = {name, now - last_};
    last_ = now;
  }
  // A line each: the name, a tab, nanoseconds.
  void tell() const {
    std::string text;
    for (std::size_t i = 0; i < count_; ++i) {
      text += taken_[i].name + ("\t" + std::to_string(std::chrono::nanoseconds(taken_[i].time).count())) + "\n";
    }
    tell_warden(kWardenChannel, wire::Type::kSetupTimes, text);
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Taken {
    const char* name;
    Clock::duration time;
  };
  std::array<Taken, 32> taken_{};
  std::size_t count_ = 0;
  Clock::time_point last_ = Clock::now();
};

[[noreturn]] void exec_init(const Entry& entry) {
  std::vector<char*> environment;
  for (const std::string& variable : entry.image->environment) environment.push_back(const_cast<char*>(variable.c_str()));
  environment.push_back(nullptr);
  const std::string open_files = std::to_string(entry.limits.open_files);
  char* arguments[] = {const_cast<char*>("rookery: init"), const_cast<char*>(entry.image->python.c_str()),
                       const_cast<char*>(open_files.c_str()), nullptr};
  ::execve(kInitPath, arguments, environment.data());
  sys::throw_errno("exec the init");
}

}  // namespace

void enter(const Entry& entry) noexcept {
  int warden_channel = entry.warden_channel;
  try {
    Steps step;
    step("signals to default", sys::reset_signals);
    // Here, not by the warden: a move can wait for the kernel's other processors, and the warden has others to serve.
    step("enter the cgroup", [&] { enter_cgroup(entry.cgroup_procs); });
    step("arrange descriptors", [&] { arrange_descriptors(entry); });
    warden_channel = kWardenChannel;
    step("wait for the id map", wait_for_parent);
    step("take the ids", [&] { sys::take_ids(entry.uid, entry.uid); });
    step("cgroup namespace", enter_cgroup_namespace);
    step("loopback up", raise_loopback);
    step("host name", name_host);
    step("root: private copy", [&] { mount_root(entry); });
    step("proc, masked", [&] { mount_proc(entry); });
    step("devpts", [&] { mount_devpts(entry); });
    step("session's directories", [&] { mount_session(entry); });
    step("pivot into the root", [&] { enter_root(entry); });
    step("standard descriptors", close_standard_descriptors);
    // Cleared by every change of ids, so it is set after them: the warden takes the jail along when it dies.
    step("parent-death signal", [] { sys::check(::prctl(PR_SET_PDEATHSIG, SIGKILL), "set the parent-death signal"); });
    step("limits, capabilities, Landlock, seccomp", [&] { confine(entry.limits, *entry.filter); });
    if (entry.timed) step.tell();
    exec_init(entry);
  } catch (const std::exception& error) {
    tell_warden(warden_channel, wire::Type::kSetupFailed, error.what());
  }
  ::_exit(70);
}

}  // namespace rookery::jail
