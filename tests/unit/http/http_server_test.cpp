// SPDX-License-Identifier: Apache-2.0
// Many connections and time: keep-alive, slow clients, overload, stop.
#include "server/http/http_server.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>
#include <vector>

#include "loopback.h"

using namespace rookery::server::http;
using namespace rookery::server::http::testing;
using namespace std::chrono_literals;

namespace {

const std::string kHealth = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";

// A handler whose exec calls block until they are let go.
struct Gate {
  std::atomic<int> inside{0};
  std::atomic<bool> open{false};

  Hooks hooks() {
    Hooks result;
    result.handler = [this](Request& request, Response& response) {
      response.body = "{}";
      if (request.route != Route::kExec) return;
      ++inside;
      while (!open) std::this_thread::sleep_for(1ms);
      --inside;
    };
    return result;
  }
  void wait_for(int count) {
    while (inside < count) std::this_thread::sleep_for(1ms);
  }
};

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

}  // namespace

TEST_CASE("a call may keep its thread on a processor only while no other request runs") {
  std::atomic<int> with{0}, without{0};
  Gate gate;
  Hooks hooks = gate.hooks();
  hooks.handler = [&, wait = hooks.handler](Request& request, Response& response) {
    if (request.route == Route::kExec) ++(request.pin != nullptr ? with : without);
    CHECK((request.route == Route::kExec || request.pin == nullptr));
    wait(request, response);
  };
  TestServer server({}, hooks);
  Client first(server), second(server);
  CHECK(first.exchange(kHealth).starts_with("HTTP/1.1 200"));
  first.send(exec_request("1"));
  gate.wait_for(1);
  CHECK(with == 1);
  second.send(exec_request("1"));
  gate.wait_for(2);
  CHECK(with == 1);
  CHECK(without == 1);
  gate.open = true;
  first.response();
  second.response();
  CHECK(server.settles(&Counters::busy, 0));
  CHECK(second.exchange(exec_request("1")).starts_with("HTTP/1.1 200"));
  CHECK(with == 2);
}

TEST_CASE("pipelined requests are answered in order") {
  TestServer server;
  Client client(server);
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += exec_request(std::to_string(i));
  client.send(requests);
  for (int i = 0; i < 50; ++i) CHECK(client.response().ends_with("\r\n\r\n" + std::to_string(i)));
}

TEST_CASE("a connection is kept over many requests and pauses") {
  TestServer server;
  Client client(server);
  for (int i = 0; i < 5; ++i) {
    CHECK(status(client.exchange(kHealth)) == 200);
    std::this_thread::sleep_for(40ms);  // longer than a worker lingers: back through the poller
  }
  client.send(kHealth.substr(0, 10));
  std::this_thread::sleep_for(40ms);
  CHECK(status(client.exchange(kHealth.substr(10))) == 200);
  CHECK(server->counters().connections == 1);
}

TEST_CASE("idle and slow connections end at their deadlines") {
  Limits limits;
  limits.idle_timeout = 300ms;
  limits.header_timeout = 200ms;
  limits.body_stall = 200ms;
  TestServer server(limits);
  Client silent(server);
  Client slow_head(server);
  Client slow_body(server);
  Client idle(server);
  slow_head.send("GET /health HTTP/1.1\r\nHo");
  slow_body.send("POST /sessions/s/exec HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n{");
  CHECK(status(idle.exchange(kHealth)) == 200);
  CHECK(silent.closes());
  CHECK(status(slow_head.response()) == 408);
  CHECK(slow_head.closes());
  CHECK(status(slow_body.response()) == 408);
  CHECK(slow_body.closes());
  CHECK(idle.closes());
}

TEST_CASE("a trickle does not extend the deadlines") {
  Limits limits;
  limits.header_timeout = 300ms;
  limits.transfer_floor = 300ms;
  TestServer server(limits);
  Client head(server);
  Client body(server);
  body.send("POST /sessions/s/exec HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n");
  head.send("GET /health HTTP/1.1\r\n");
  for (int i = 0; i < 30; ++i) {
    head.send("X: y\r\n");
    body.send(" ");
    std::this_thread::sleep_for(20ms);
  }
  CHECK(status(head.response()) == 408);
  CHECK(status(body.response()) == 408);
}

TEST_CASE("a client that does not read is abandoned") {
  Limits limits;
  limits.write_stall = 200ms;
  Hooks hooks;
  std::atomic<bool> incomplete{false};
  hooks.access = [&](const AccessRecord& record) { incomplete = incomplete || !record.completed; };
  hooks.handler = [](Request&, Response& response) {
    response.stream = StreamedBody{1 << 30, [](std::uint64_t, std::uint64_t, const Sink& sink) {
                                     return sink(std::string(1 << 20, 'x'));
                                   }};
  };
  TestServer server(limits, hooks);
  Client client(server);
  client.send(kHealth);
  for (int i = 0; i < 500 && !incomplete; ++i) std::this_thread::sleep_for(10ms);
  CHECK(incomplete);
  CHECK(server.settles(&Counters::busy, 0));
}

TEST_CASE("hundreds of idle and unfinished connections cost no thread") {
  TestServer server;
  std::vector<Client> clients;
  for (int i = 0; i < 600; ++i) {
    clients.emplace_back(server);
    if (i % 3 == 1) clients.back().send("GET / HT");
    if (i % 3 == 2) clients.back().half_close();
  }
  const auto start = std::chrono::steady_clock::now();
  CHECK(status(ask(server, kHealth)) == 200);
  CHECK(std::chrono::steady_clock::now() - start < 1s);
  std::this_thread::sleep_for(100ms);  // accepting them is work
  const double before = cpu_seconds();
  std::this_thread::sleep_for(500ms);
  CHECK(cpu_seconds() - before < 0.25);  // nothing spins
  CHECK(server->counters().threads <= 2);
  CHECK(server.settles(&Counters::connections, 401));
  for (Client& client : clients) client.reset();
  CHECK(server.settles(&Counters::connections, 0));
}

TEST_CASE("beyond the threads: 503 at once, and health is still served") {
  Gate gate;
  Limits limits;
  limits.max_threads = 3;
  limits.reserved_threads = 2;  // a thread is free again a moment after its response arrived
  limits.thread_idle = 50ms;
  TestServer server(limits, gate.hooks());
  std::vector<Client> running;
  for (int i = 0; i < 3; ++i) {
    running.emplace_back(server);
    running.back().send(exec_request("{}"));
  }
  gate.wait_for(3);
  const std::string busy = ask(server, exec_request("{}"));
  CHECK(status(busy) == 503);
  CHECK(busy.find("Retry-After: 1\r\n") != std::string::npos);
  CHECK(busy.find("Connection: close\r\n") != std::string::npos);
  CHECK(status(ask(server, kHealth)) == 200);
  CHECK(status(ask(server, kHealth)) == 200);
  gate.open = true;
  for (Client& client : running) CHECK(status(client.response()) == 200);
  CHECK(status(ask(server, exec_request("{}"))) == 200);
  CHECK(server.settles(&Counters::threads, 0));  // the pool shrinks
}

TEST_CASE("threads that linger on quiet connections do not keep others out") {
  Limits limits;
  limits.max_threads = 2;
  limits.reserved_threads = 0;
  limits.linger = 20ms;
  TestServer server(limits);
  std::vector<Client> clients;
  for (int i = 0; i < 8; ++i) clients.emplace_back(server);
  for (int round = 0; round < 20; ++round) {
    for (Client& client : clients) {
      CHECK(status(client.exchange(exec_request("{}"))) == 200);
      // A thread that has sent its answer may still count as busy for a moment, and two of those are the bound.
      REQUIRE(server.settles(&Counters::busy, 0));
    }
  }
}

TEST_CASE("many clients at once each get their own answers") {
  TestServer server;
  std::vector<std::jthread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      Client client(server);
      for (int i = 0; i < 300; ++i) {
        const std::string body = std::to_string(t * 1000 + i);
        if (!client.exchange(exec_request(body)).ends_with("\r\n\r\n" + body)) ++wrong;
      }
    });
  }
  threads.clear();
  CHECK(wrong == 0);
}

TEST_CASE("over the connection limit the oldest idle one gives way") {
  Limits limits;
  limits.max_connections = 3;
  TestServer server(limits);
  Client oldest(server);
  CHECK(status(oldest.exchange(kHealth)) == 200);
  std::this_thread::sleep_for(40ms);
  Client second(server);
  Client third(server);
  CHECK(status(second.exchange(kHealth)) == 200);
  CHECK(status(third.exchange(kHealth)) == 200);
  std::this_thread::sleep_for(40ms);
  Client fourth(server);
  CHECK(status(fourth.exchange(kHealth)) == 200);
  CHECK(oldest.closes());
  CHECK(status(third.exchange(kHealth)) == 200);
}

TEST_CASE("a handler sees that its client is gone") {
  TestServer server;
  Client client(server);
  client.send(exec_request("\"wait\""));
  while (server->counters().busy == 0) std::this_thread::sleep_for(1ms);
  const auto start = std::chrono::steady_clock::now();
  client.reset();
  CHECK(server.settles(&Counters::busy, 0));
  CHECK(std::chrono::steady_clock::now() - start < 3s);
  CHECK(status(ask(server, kHealth)) == 200);
}

TEST_CASE("no descriptors left: no spinning, and service goes on afterwards") {
  TestServer server;
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  std::vector<Client> clients;
  for (int i = 0; i < 20; ++i) clients.emplace_back(server);
  CHECK(status(clients[19].exchange(kHealth)) == 200);
  while (server->counters().connections < 20) std::this_thread::sleep_for(1ms);
  std::vector<rookery::sys::UniqueFd> fill;
  fill.emplace_back(::dup(0));  // the lowest free one
  REQUIRE(fill[0]);
  const rlimit low{static_cast<rlim_t>(fill[0].get() + 3), limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  for (int fd; (fd = ::dup(0)) >= 0;) fill.emplace_back(fd);
  // One descriptor for a client, none for its other end: what is oldest makes room.
  fill.pop_back();
  Client late(server);
  CHECK(status(late.exchange(kHealth)) == 200);
  fill.clear();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(status(ask(server, kHealth)) == 200);
}

TEST_CASE("stop lets running requests finish, and closes the rest") {
  Gate gate;
  TestServer server({}, gate.hooks());
  Client idle(server);
  Client running(server);
  CHECK(status(idle.exchange(kHealth)) == 200);
  running.send(exec_request("{}"));
  gate.wait_for(1);
  std::jthread stopper([&] { server->stop(); });
  CHECK(idle.closes());
  gate.open = true;
  const std::string response = running.response();
  CHECK(status(response) == 200);
  CHECK(running.closes());
  stopper.join();
  CHECK(server->counters().connections == 0);
  CHECK(server->counters().threads == 0);
}

TEST_CASE("stop ends requests that take too long through their client_fd") {
  Limits limits;
  limits.stop_timeout = 100ms;
  TestServer server(limits);
  Client client(server);
  client.send(exec_request("\"wait\""));
  while (server->counters().busy == 0) std::this_thread::sleep_for(1ms);
  const auto start = std::chrono::steady_clock::now();
  server->stop();
  CHECK(std::chrono::steady_clock::now() - start < 3s);
}

TEST_CASE("garbage is answered 400 or dropped, and never holds a connection (H38)") {
  Limits limits;
  limits.header_timeout = 300ms;
  TestServer server(limits);
  std::uint32_t seed = 1;
  for (int i = 0; i < 200; ++i) {
    Client client(server);
    std::string bytes;
    for (int k = 0; k < 300; ++k) {
      seed = seed * 1664525 + 1013904223;
      bytes.push_back(static_cast<char>(seed >> 24));
    }
    client.send(bytes);
    const std::string response = client.response();
    CHECK((response.empty() || status(response) == 400 || status(response) == 408));
  }
  CHECK(status(ask(server, "*1\r\n$4\r\nPING\r\n\r\n")) == 400);
  CHECK(status(ask(server, kHealth)) == 200);
}
