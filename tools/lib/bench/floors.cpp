// SPDX-License-Identifier: Apache-2.0
// floors: a bare cpp-httplib with behind it what no backend can do without: a process that answers a packet, one that makes namespaces, one
// that executes bash. Prints its port and serves as long as its parent lives. Its one session is called "floor".
#include <httplib.h>
#include <linux/sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <semaphore>
#include <string>
#include <system_error>
#include <thread>

namespace {

constexpr std::size_t kPrinted = 900'000;  // bytes
constexpr std::size_t kThreads = 80;       // more than tools/bench has connections: each has one

long check(long result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

// Stands for an interpreter: a forked process that is sent a packet, writes to a pipe if it is to print much, and sends the packet back.
class Interpreter {
 public:
  Interpreter() {
    int ends[2], out[2];
    check(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), "socketpair");
    check(::pipe(out), "pipe");
    if (check(::fork(), "fork") == 0) serve(ends[1], out[1]);
    ::close(ends[1]);
    ::close(out[1]);
    channel_ = ends[0];
    out_ = out[0];
  }
  // What it printed.
  std::string call(std::size_t size) const {
    check(::send(channel_, &size, sizeof size, 0), "send");
    std::string printed(size, '1');
    for (std::size_t got = 0; size > 1 && got < size;) got += static_cast<std::size_t>(check(::read(out_, &printed[got], size - got), "read"));
    check(::recv(channel_, &size, sizeof size, 0), "recv");
    return printed;
  }

 private:
  [[noreturn]] static void serve(int channel, int out) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const std::string text(kPrinted, 'x');
    for (std::size_t size; ::recv(channel, &size, sizeof size, 0) > 0;) {
      if (size > 1 && ::write(out, text.data(), size) < 0) break;
      if (::send(channel, &size, sizeof size, 0) < 0) break;
    }
    ::_exit(0);
  }
  int channel_, out_;
};

// A process in the namespaces of a jail (src/warden/jail_process.cpp), and its end.
void make_jail() {
  clone_args arguments{};
  arguments.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  arguments.exit_signal = SIGCHLD;
  const auto pid = static_cast<pid_t>(check(::syscall(SYS_clone3, &arguments, sizeof arguments), "clone3 into new namespaces"));
  if (pid == 0) ::_exit(0);
  check(::waitpid(pid, nullptr, 0), "waitpid");
}

void run_bash() {
  const char* const arguments[] = {"bash", "-c", "true", nullptr};
  pid_t pid;
  if (::posix_spawn(&pid, "/bin/bash", nullptr, nullptr, const_cast<char**>(arguments), environ) != 0) throw std::runtime_error("no /bin/bash");
  check(::waitpid(pid, nullptr, 0), "waitpid");
}

}  // namespace

int main() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  make_jail();  // where that is not possible, nothing is served
  std::counting_semaphore<8> places(8), jails(0);  // made ahead, as by a backend with a pool
  std::thread([&] {
    for (;; jails.release()) places.acquire(), make_jail();
  }).detach();
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_keep_alive_max_count(~std::size_t{0});
  server.set_keep_alive_timeout(3600);
  server.set_tcp_nodelay(true);
  server.Post("/sessions/floor/exec", [](const httplib::Request& request, httplib::Response& response) {
    thread_local const Interpreter interpreter;
    if (request.body.find("bash_code_execution") != std::string::npos) run_bash();
    const std::size_t size = request.body.find("900_000") != std::string::npos ? kPrinted : 1;
    response.set_content(R"({"tool_use_id":"srvtoolu_880d07f07d91e34e44765965","result_block":{"type":"code_execution_tool_result","tool_use_id":)"
                         R"("srvtoolu_880d07f07d91e34e44765965","content":{"type":"code_execution_result","stdout":")" + interpreter.call(size) +
                         R"(","stderr":"","return_code":0,"content":[]}},"execution_time_ms":0})", "application/json");
  });
  server.Post("/sessions", [&](const httplib::Request&, httplib::Response& response) {
    jails.acquire();
    places.release();
    response.status = 201;
    response.set_content(R"({"session_id":"floor"})", "application/json");
  });
  server.Delete("/sessions/floor", [](const httplib::Request&, httplib::Response& response) { response.status = 204; });
  server.Get("/health", [](const httplib::Request&, httplib::Response& response) { response.set_content("{}", "application/json"); });
  std::printf("%d\n", server.bind_to_any_port("127.0.0.1"));
  std::fflush(stdout);
  return server.listen_after_bind() ? 0 : 1;
}
