// SPDX-License-Identifier: Apache-2.0
#include "cli/configuration.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

using namespace rookery;

namespace {

struct Environment {
  Environment(const char* variable, const char* value) : name(variable) { ::setenv(variable, value, 1); }
  ~Environment() { ::unsetenv(name); }
  const char* name;
};

struct File {
  explicit File(const std::string& text) : path("/tmp/rookery-unit-" + std::to_string(::getpid()) + ".json") { std::ofstream(path) << text; }
  ~File() { ::unlink(path.c_str()); }
  std::string path;
};

std::string complaint(std::vector<std::string> arguments) {
  try {
    cli::read_configuration(arguments);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("flags go over the environment, the environment over the file, the file over the default") {
  const File file(R"({"SANDBOX_MAX_SESSIONS": 1, "SANDBOX_POOL_SIZE": 1, "SANDBOX_MAX_THREADS": 11})");
  const Environment one("SANDBOX_MAX_SESSIONS", "2"), two("SANDBOX_POOL_SIZE", "2");
  std::vector<std::string> arguments = {"--config", file.path, "--max-sessions=3"};
  const cli::Configuration configuration = cli::read_configuration(arguments);
  CHECK(arguments.empty());
  CHECK(configuration.settings.max_sessions == 3);
  CHECK(configuration.sources.at("SANDBOX_MAX_SESSIONS") == "flag --max-sessions");
  CHECK(configuration.settings.pool_size == 2);
  CHECK(configuration.sources.at("SANDBOX_POOL_SIZE") == "environment");
  CHECK(configuration.settings.max_threads == 11);
  CHECK(configuration.sources.at("SANDBOX_MAX_THREADS") == "file " + file.path);
  CHECK(configuration.settings.nofile == 256);
  CHECK_FALSE(configuration.sources.contains("SANDBOX_RUNNER_NOFILE"));
}

TEST_CASE("an empty variable says nothing, an empty flag is refused") {
  const Environment empty("SANDBOX_MAX_SESSIONS", "");
  std::vector<std::string> none;
  CHECK(cli::read_configuration(none).settings.max_sessions == 256);
  CHECK(complaint({"--max-sessions", ""}) != "");
  CHECK(complaint({"--max-sessions="}) != "");
  CHECK(complaint({"--max-sessions"}).starts_with("--max-sessions needs a value"));
}

TEST_CASE("what is no setting is left to the command, and all after --") {
  std::vector<std::string> arguments = {"a", "--pool-size", "1", "--other=x", "--", "--pool-size", "2"};
  CHECK(cli::read_configuration(arguments).settings.pool_size == 1);
  CHECK(arguments == std::vector<std::string>{"a", "--other=x", "--", "--pool-size", "2"});
}

TEST_CASE("a wrong value is named by where it was given") {
  CHECK(complaint({"--pool-size", "x"}).starts_with("--pool-size=\"x\" is not usable"));
  const File file(R"({"SANDBOX_POOL_SIZE": 1000})");
  CHECK(complaint({"--config", file.path}).starts_with(file.path + ": SANDBOX_POOL_SIZE=\"1000\" is not usable"));
  CHECK(complaint({"--config", "/nonexistent.json"}).find("/nonexistent.json") != std::string::npos);
  const Environment wrong("LOG_LEVEL", "LOUD");
  CHECK(complaint({}).starts_with("LOG_LEVEL=\"LOUD\" is not usable"));
}
