// SPDX-License-Identifier: Apache-2.0
#include "cli/check.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/trial.h"
#include "jail/interpreter.h"
#include "sys/cgroup.h"
#include "sys/credentials.h"
#include "sys/landlock.h"
#include "sys/unique_fd.h"
#include "sys/whole_proc.h"
#include "util/container_advice.h"
#include "util/findings.h"
#include "warden/id_range.h"
#include "warden/launch.h"
#include "warden/rootless.h"

namespace rookery::cli {

namespace {

struct Finding {
  bool good = true;
  bool required = true;
  std::string text;
};

const char* state(const Finding& finding) { return finding.good ? "ok" : finding.required ? "MISSING" : "off"; }

// Runs `test` in a child, so that what it changes ends with it. Its result: 0 or errno.
int in_child(const std::function<int()>& test) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(test() & 255);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

Finding root() {
  if (::geteuid() == 0) return {true, true, "started as root; given up for good after the start"};
  return {false, false, "an ordinary user: becomes root of a user namespace of its own for the start"};
}

Finding capabilities() {
  if (::geteuid() != 0) return {true, true, "an ordinary user has all in a user namespace of its own"};
  const std::string lacking = sys::lacking_capabilities(warden::kStartCapabilities);
  if (lacking.empty()) return {true, true, "what the start takes is there; given up for good after it"};
  return {false, true, "the start lacks " + lacking + " (in a container: --cap-add)"};
}

Finding user_ids(const util::Settings& settings) {
  if (::geteuid() == 0) {
    try {
      const warden::IdRange ids = warden::choose_id_range(settings.sessions_root);
      return {true, true, std::to_string(ids.count) + " of rookery's own, from " + std::to_string(ids.first)};
    } catch (const std::exception& error) {
      return {false, true, error.what()};
    }
  }
  const warden::Ranges ranges = warden::find_ranges();
  if (ranges.complete()) return {true, true, std::to_string(ranges.uids->count) + " subordinate ones, from " + std::to_string(ranges.uids->first)};
  if (settings.allow_weaker.shared_uid) return {false, false, "shared-uid: every process has this user's id and groups; " + ranges.why_not};
  return {false, true, ranges.why_not + "; or SANDBOX_ALLOW_WEAKER=shared-uid, see SECURITY.md"};
}

Finding user_namespaces() {
  const int error = in_child([] { return ::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP) == 0 ? 0 : errno; });
  if (error == 0) return {true, true, "user, mount, pid, net, ipc, uts and cgroup namespaces can be made"};
  return {false, true,
          std::string("cannot make namespaces: ") + std::strerror(error) +
              " (see /proc/sys/user/max_user_namespaces; in Docker --security-opt seccomp=docker-seccomp.json or --privileged; a "
              "chroot'ed process cannot)" + util::restriction_advice()};
}

Finding mounts() {
  const int error = in_child([] {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return errno;
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return errno;
    return ::mount("tmpfs", "/tmp", "tmpfs", 0, "size=64k") == 0 ? 0 : errno;
  });
  if (error == 0) return {true, true, "file systems can be mounted"};
  return {false, true, std::string("cannot mount: ") + std::strerror(error) + " (AppArmor? in Docker --security-opt apparmor=unconfined or the profile in container/apparmor)" + util::restriction_advice()};
}

Finding find_cgroups() {
  try {
    const sys::CgroupLayout layout = sys::CgroupLayout::discover();
    std::string text = layout.unified() ? "v2 at " : "v1 at ";
    for (const std::string& directory : layout.own_directories()) {
      if (::access(directory.c_str(), W_OK) != 0) {
        return {false, true, directory + " is not this user's: start in a cgroup that is"};
      }
      text += directory + " ";
    }
    return {true, true, text + "(memory, pids, cpu)"};
  } catch (const std::exception& error) {
    return {false, true, error.what()};
  }
}

Finding cgroups(const util::Settings& settings) {
  Finding finding = find_cgroups();
  if (!finding.good && settings.allow_weaker.no_cgroup) return {false, false, "no-cgroup: rlimits alone limit a session; " + finding.text};
  if (!finding.good) finding.text += "; or SANDBOX_ALLOW_WEAKER=no-cgroup, see SECURITY.md";
  return finding;
}

Finding seccomp() {
  const unsigned action = SECCOMP_RET_KILL_PROCESS;
  if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0) return {true, true, "filters with kill_process"};
  return {false, true, "the kernel lacks seccomp filters (CONFIG_SECCOMP_FILTER)"};
}

Finding landlock() {
  const int abi = sys::landlock_abi();
  if (abi > 0) return {true, false, "ABI " + std::to_string(abi)};
  return {false, false, "the kernel has none (CONFIG_SECURITY_LANDLOCK and lsm=...,landlock); mounts and ids protect alone"};
}

Finding openat2() {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const sys::UniqueFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const sys::UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, root.get(), ".", &how, sizeof how)));
  if (fd) return {true, true, "openat2 with RESOLVE_BENEATH"};
  return {false, true, std::string("openat2: ") + std::strerror(errno) + " (needs Linux 5.6)"};
}

Finding python(const util::Settings& settings) {
  try {
    return {true, true, jail::find_interpreter("", settings.python).path};
  } catch (const std::exception& error) {
    return {false, true, error.what()};
  }
}

Finding image(const util::ImageSource& image) {
  try {
    return {true, true, jail::find_interpreter(image.root, "").path + " in " + image.root};
  } catch (const std::exception& error) {
    return {false, true, error.what()};
  }
}

Finding proc() {
  const int error = sys::try_fresh_proc();
  if (error == 0) return {true, true, "a fresh proc can be mounted"};
  if (sys::lacking_capabilities(std::array{CAP_SYS_ADMIN}).empty()) return {true, true, "parts of /proc are masked; the start mounts a whole one"};
  return {false, true, std::string("cannot mount a fresh proc: ") + std::strerror(error) +
                           " (parts of /proc are masked; Docker: --security-opt systempaths=unconfined)"};
}

std::vector<std::pair<std::string, Finding>> examine(const util::Settings& settings) {
  std::vector<std::pair<std::string, Finding>> rows = {
      {"root", root()},
      {"capabilities", capabilities()},
      {"user ids", user_ids(settings)},
      {"namespaces", user_namespaces()},
      {"mounts", mounts()},
      {"proc", proc()},
      {"cgroups", cgroups(settings)},
      {"seccomp", seccomp()},
      {"landlock", landlock()},
      {"openat2", openat2()},
      {"python", python(settings)},
      {"jail", {true, false, settings.jail_userns == util::JailUserns::kFlat ? "flat (SANDBOX_JAIL_USERNS)" : "in a user namespace of its own"}}};
  for (const util::ImageSource& source : settings.images) rows.push_back({"image " + source.name, image(source)});
  return rows;
}

Finding trial() {
  const Trial trial = try_a_jail();
  if (!trial.good) return {false, true, "a jail was tried, and failed: " + trial.error};
  return {true, true, std::string("a jail was made, Python ran in it, and all of it was removed") + (trial.flat ? "; flat, because this host refuses a user namespace of its own" : "")};
}

}  // namespace

int check(const util::Settings& settings, bool timing) {
  bool good = true;
  const auto print = [&](const std::string& what, const Finding& finding) {
    std::printf("%-18s %-8s %s\n", what.c_str(), state(finding), finding.text.c_str());
    good &= finding.good || !finding.required;
  };
  for (const auto& [what, finding] : examine(settings)) print(what, finding);
  // What it takes for a jail is one thing, a jail another. `rookery run` needs root.
  if (good && ::geteuid() == 0) {
    util::export_settings(settings);
    print("trial", trial());
  }
  std::puts(good ? "rookery can serve here." : "rookery cannot serve here: see MISSING above.");
  if (good && timing) return print_timing();
  return good ? 0 : 1;
}

std::string findings(const util::Settings& settings) {
  std::vector<util::FindingRow> rows;
  for (const auto& [what, finding] : examine(settings)) rows.push_back({state(finding), what, finding.text});
  utsname system{};
  ::uname(&system);
  rows.push_back({"version", "rookery", ROOKERY_VERSION});
  rows.push_back({"version", "contract", "1"});
  rows.push_back({"version", system.sysname, std::string(system.release) + " " + system.machine});
  return util::write_findings(rows);
}

}  // namespace rookery::cli
