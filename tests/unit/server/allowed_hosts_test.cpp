// SPDX-License-Identifier: Apache-2.0
#include "server/allowed_hosts.h"

#include <doctest/doctest.h>

using rookery::server::AllowedHosts;

TEST_CASE("on loopback only loopback's names are answered to") {
  const AllowedHosts hosts{rookery::util::Settings{}};
  for (const char* name : {"localhost", "127.0.0.1", "[::1]", ""}) CHECK(hosts.contains(name));
  for (const char* name : {"evil.example", "127.0.0.1.nip.io", "localhost.", "0.0.0.0", "127.1", "2130706433"}) CHECK_FALSE(hosts.contains(name));
}

TEST_CASE("over a unix socket, which no web page reaches, any name, unless the operator lists some") {
  rookery::util::Settings settings;
  settings.listen_host.clear();
  settings.listen_path = "/run/rookery.sock";
  CHECK(AllowedHosts(settings).contains("rookery"));
  settings.allowed_hosts = "other";
  CHECK_FALSE(AllowedHosts(settings).contains("rookery"));
}

TEST_CASE("elsewhere any name, unless the operator lists some") {
  rookery::util::Settings settings;
  settings.listen_host = "0.0.0.0";
  CHECK(AllowedHosts(settings).contains("rookery.internal"));
  settings.allowed_hosts = "Rookery.internal,other";
  CHECK(AllowedHosts(settings).contains("rookery.internal"));
  CHECK(AllowedHosts(settings).contains("other"));
  CHECK_FALSE(AllowedHosts(settings).contains("evil.example"));
}

TEST_CASE("what a stranger's name server can say is not the server's own name") {
  rookery::util::Settings settings;
  settings.listen_host = "0.0.0.0";
  const AllowedHosts any(settings);
  for (const char* host : {"localhost", "127.0.0.1", "10.0.0.7", "[fd00::7]"}) CHECK(any.is_own(host));
  for (const char* host : {"evil.example", "10.0.0.7.nip.io", "rookery.internal", ""}) CHECK_FALSE(any.is_own(host));
  settings.allowed_hosts = "rookery.internal";
  const AllowedHosts listed(settings);
  CHECK(listed.is_own("rookery.internal"));
  for (const char* host : {"evil.example", "10.0.0.7"}) CHECK_FALSE(listed.is_own(host));
}
