// SPDX-License-Identifier: Apache-2.0
#include "jail/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

namespace rookery::jail {

namespace {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  bool dead = false;  // a zombie that its parent has not reaped
};

// proc(5), /proc/pid/stat: "pid (name) state ppid ..."; the name may hold anything, so look behind the last ')'.
bool read_stat(pid_t pid, Process& process) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[512];
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (size <= 0) return false;
  text[size] = '\0';
  const char* rest = std::strrchr(text, ')');
  char state = 0;
  int parent = 0;
  if (rest == nullptr || std::sscanf(rest, ") %c %d", &state, &parent) != 2) return false;
  process = {pid, parent, state == 'Z' || state == 'X'};
  return true;
}

std::vector<Process> living() {
  std::vector<Process> processes;
  DIR* directory = ::opendir("/proc");
  if (directory == nullptr) return processes;
  while (const dirent* entry = ::readdir(directory)) {
    const int pid = std::atoi(entry->d_name);
    Process process;
    if (pid > 1 && read_stat(pid, process) && !process.dead) processes.push_back(process);
  }
  ::closedir(directory);
  return processes;
}

bool descends_from(const std::vector<Process>& all, const Process& process, pid_t ancestor) {
  pid_t parent = process.parent;
  for (std::size_t steps = 0; steps <= all.size(); ++steps) {
    if (parent == ancestor) return true;
    const auto up = std::find_if(all.begin(), all.end(), [&](const Process& other) { return other.pid == parent; });
    if (up == all.end()) return false;
    parent = up->parent;
  }
  return false;
}

void pause_briefly() {
  const timespec wait{0, 1'000'000};
  ::nanosleep(&wait, nullptr);
}

void reap_all_but(pid_t spared) {
  // Zombies count against the pids limit. The spared one's status is somebody else's to read, so look first.
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0 || info.si_pid == spared) return;
    ::waitpid(info.si_pid, nullptr, WNOHANG);
  }
}

}  // namespace

bool any_child_besides(pid_t spared, pid_t other) {
  const auto counts = [&](const Process& process) { return process.pid != spared && process.pid != other && !process.dead; };
  // proc(5): the pids, each followed by a space. Not every kernel has it.
  char text[256];
  const int fd = ::open("/proc/1/task/1/children", O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const std::vector<Process> all = living();
    return std::any_of(all.begin(), all.end(), [&](const Process& process) { return process.parent == 1 && counts(process); });
  }
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (size == sizeof text - 1) return true;
  text[std::max<ssize_t>(size, 0)] = '\0';
  char* rest = text;
  for (long pid; (pid = std::strtol(rest, &rest, 10)) > 0;) {
    Process process{static_cast<pid_t>(pid), 1, false};
    // Zombies are children, too, until they are reaped.
    if (counts(process) && read_stat(process.pid, process) && counts(process)) return true;
  }
  return false;
}

bool end_all_besides(pid_t spared, bool spare_descendants) {
  constexpr int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<Process> all = living();
    bool clean = true;
    for (const Process& process : all) {
      if (process.pid == spared || (spare_descendants && spared > 0 && descends_from(all, process, spared))) continue;
      clean = false;
      ::kill(process.pid, SIGKILL);
    }
    reap_all_but(spared);
    if (clean) return true;
    if (round > 1) pause_briefly();
  }
  return false;
}

void end_everything() {
  for (;;) {
    // One pass of the kernel over all processes of the namespace; a fork in flight sees the signal and fails.
    ::kill(-1, SIGKILL);
    int waited;
    while ((waited = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (waited < 0) return;  // ECHILD: orphans come to pid 1, so no child means no process
    pause_briefly();
  }
}

}  // namespace rookery::jail
