// SPDX-License-Identifier: Apache-2.0
#include "server/privileges.h"

#include <poll.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "server/http/http_server.h"
#include "sys/confinement.h"
#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/mount.h"
#include "util/embedded.h"
#include "wire/children.h"

namespace rookery::server {

namespace {

// To write into workspaces whose owner is the session: read and write any file there, hand new ones over.
constexpr cap_value_t kCapabilities[] = {CAP_DAC_OVERRIDE, CAP_CHOWN, CAP_FOWNER};

// A root without anything but a proc of its own PID namespace, which linkat(2) of unnamed files goes through.
void enter_empty_root() {
  const std::string root = "./empty";  // it is started in the warden's root
  sys::make_private();
  sys::mount_fs("tmpfs", root, MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755,size=64k,nr_inodes=16");
  sys::check(::mkdir((root + "/proc").c_str(), 0755), "make the server's /proc");
  sys::mount_fs("proc", root + "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, "subset=pid");
  sys::restrict_mount(root, MOUNT_ATTR_RDONLY);
  sys::enter_root(root);
}

// Bytes of private writable memory that this process has mapped: proc(5), statm, "data".
rlim_t mapped_data() {
  std::ifstream file("/proc/self/statm");
  rlim_t size = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
  if (!(file >> size >> resident >> shared >> text >> library >> data)) throw std::runtime_error("cannot read /proc/self/statm");
  return data * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

// The last line, when every bound on requests has failed: more memory of its own than all threads with their largest JSON bodies
// can need ends the server, not the machine. What is uploaded is the workspaces' memory and does not count here.
void limit_resources(const util::Settings& settings) {
  constexpr rlim_t kStack = rlim_t{8} << 20;
  constexpr rlim_t kRest = rlim_t{1} << 30;
  const http::Limits http;
  const rlim_t most = mapped_data() + (settings.max_threads + http.reserved_threads) * (kStack + http.max_json_body) + kRest;
  const rlimit data{most, most};
  const rlimit none{0, 0};
  sys::check(::setrlimit(RLIMIT_DATA, &data), "limit the server's memory");
  sys::check(::setrlimit(RLIMIT_CORE, &none), "forbid core files of the server");
}

}  // namespace

// The order is the security property: what a step needs goes in a later one.
void give_up_privileges(const util::Settings& settings) {
  enter_empty_root();
  limit_resources(settings);
  const uid_t uid = settings.weaker.shared_uid ? 0 : wire::kServerUid;
  sys::take_ids(uid, uid);
  sys::confine(kCapabilities, util::embedded_file("policy/seccomp/server.json"));
}

void wait_for_start(int warden_channel) {
  pollfd fds[] = {{warden_channel, POLLIN, 0}};
  char go = 0;
  while (::poll(fds, 1, -1) < 0) {
  }
  if (::recv(warden_channel, &go, 1, 0) != 1) throw std::runtime_error("the warden went away");
}

}  // namespace rookery::server
