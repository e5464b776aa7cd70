// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "cli/run_collector.h"
#include "sys/error.h"
#include "sys/file.h"
#include "sys/socket.h"
#include "warden/launch.h"
#include "wire/message.h"

namespace rookery::cli {

namespace {

// Two descriptors of each wait in the channel until the runner starts.
constexpr std::size_t kMostInputs = 100;

std::string source_text(const RunOptions& options) {
  if (options.code) return *options.code;
  if (options.program == "-") return sys::read_all(STDIN_FILENO);
  return sys::read_file(options.program);
}

void send(int runner, wire::Writer& message, int fd = -1) {
  const std::span<const int> descriptors(&fd, fd < 0 ? 0 : 1);
  if (!sys::send_packet(runner, message.packet(), descriptors)) sys::throw_errno("hand the program to its runner");
}

void send_inputs(int runner, const std::vector<std::string>& files) {
  if (files.size() > kMostInputs) throw std::invalid_argument("--file: at most " + std::to_string(kMostInputs) + " files");
  std::set<std::string> names;
  for (const std::string& path : files) {
    const sys::UniqueFd file(sys::check(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC), "open " + path));
    struct stat info{};
    sys::check(::fstat(file.get(), &info), "look at " + path);
    if (!S_ISREG(info.st_mode)) throw std::invalid_argument("--file " + path + " is no regular file");
    const std::string name = std::filesystem::path(path).filename().string();
    if (!names.insert(name).second) throw std::invalid_argument("--file: two files are called " + name);
    wire::Writer message(wire::Type::kRunInput, 0);
    send(runner, message.text(name), file.get());
  }
}

sys::UniqueFd open_output(const std::string& path) {
  if (path.empty()) return {};
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  return sys::UniqueFd(sys::check(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open --out " + path));
}

// A sessions root of its own, in /tmp, or where that is read-only (a container) beside the server's; removed by descriptor at the end,
// when there is no right left but that (supervise.h).
class OwnRoot {
 public:
  explicit OwnRoot(const std::string& servers) {
    const std::string parent = ::access("/tmp", W_OK) == 0 ? "/tmp" : std::filesystem::path(servers).parent_path().string();
    parent_.reset(sys::check(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + parent));
    path_ = parent + "/rookery-run-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) sys::throw_errno("make a directory in " + parent);
  }
  ~OwnRoot() { ::unlinkat(parent_.get(), path_.substr(path_.rfind('/') + 1).c_str(), AT_REMOVEDIR); }
  OwnRoot(const OwnRoot&) = delete;
  OwnRoot& operator=(const OwnRoot&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  sys::UniqueFd parent_;
  std::string path_;
};

}  // namespace

int run(Configuration configuration, const RunOptions& options) {
  util::Settings& settings = configuration.settings;
  settings.max_sessions = 1;
  settings.pool_size = 0;
  settings.telemetry_enabled = false;
  // The imports of a zygote pay with the second interpreter only.
  if (!configuration.sources.contains("SANDBOX_SPAWN")) settings.spawn = util::SpawnMode::kExec;
  // What the server would log of itself is not the program's output.
  if (!configuration.sources.contains("LOG_LEVEL")) settings.log_level = "WARNING";
  if (!options.image.empty() && options.image != util::kDefaultImage && util::image_index(settings, options.image) == 0) {
    throw std::invalid_argument("--image " + options.image + " is none of SANDBOX_IMAGES: allowed are its names and " + util::kDefaultImage);
  }
  const std::string source = source_text(options);
  const sys::UniqueFd out = open_output(options.out);
  auto [command, runner] = sys::seqpacket_pair();
  wire::Writer program(wire::Type::kRunProgram, 0);
  program.u32(options.bash ? 1 : 0).u32(options.timeout_s != 0 ? options.timeout_s : settings.default_timeout_s).text(options.image);
  send(command.get(), program, sys::sealed_memfd("program", source).get());
  send_inputs(command.get(), options.files);
  wire::Writer start(wire::Type::kRunStart, 0);
  send(command.get(), start);
  const OwnRoot root(settings.sessions_root);
  settings.sessions_root = root.path();
  return warden::launch_run(settings, {std::move(runner), std::move(command), [&out](int channel) { return collect(channel, out.get()); }});
}

}  // namespace rookery::cli
