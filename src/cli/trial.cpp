// SPDX-License-Identifier: Apache-2.0
#include "cli/trial.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "sys/cgroup.h"
#include "sys/error.h"
#include "sys/unique_fd.h"
#include "warden/setup_times.h"

namespace rookery::cli {

namespace {

constexpr int kTrials = 5;
constexpr const char* kSelf = "ROOKERY_SELF";

// With cgroup v2 a start has to be the only process of its cgroup, in which this one is, too, and the trial as its child: it waits
// in a cgroup below while the trial lasts. Where that cannot be done the trial goes on, and says what is missing.
class OutOfTheWay {
 public:
  OutOfTheWay() noexcept {
    try {
      const sys::CgroupLayout layout = sys::CgroupLayout::discover();
      if (layout.unified()) step_aside(layout);
    } catch (const std::exception&) {
    }
  }
  ~OutOfTheWay() {
    if (!procs_) return;
    if (::write(procs_.get(), "0", 1) != 1 || ::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR) != 0) {
      std::fprintf(stderr, "rookery: the cgroup %s is left behind\n", name_.c_str());
    }
  }
  OutOfTheWay(const OutOfTheWay&) = delete;
  OutOfTheWay& operator=(const OutOfTheWay&) = delete;

 private:
  void step_aside(const sys::CgroupLayout& layout) {
    const std::string& own = layout.own_directories().front();
    parent_ = sys::UniqueFd(sys::check(::open(own.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + own));
    sys::UniqueFd procs(sys::check(::openat(parent_.get(), "cgroup.procs", O_WRONLY | O_CLOEXEC), "open cgroup.procs"));
    const sys::Cgroup aside = sys::Cgroup::create_below_own(layout, name_);
    try {
      aside.add(::getpid());
      procs_ = std::move(procs);
    } catch (...) {
      ::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR);
      throw;
    }
  }

  const std::string name_ = "rookery-check-" + std::to_string(::getpid());
  sys::UniqueFd parent_, procs_;
};

// "setup", name, nanoseconds (warden/setup_times.h).
bool take_step(std::string_view line, Trial& trial) {
  constexpr std::string_view kPrefix = "setup\t";
  const std::size_t tab = line.rfind('\t');
  long long time = 0;
  if (!line.starts_with(kPrefix) || tab < kPrefix.size() ||
      std::from_chars(line.data() + tab + 1, line.data() + line.size(), time).ec != std::errc()) {
    return false;
  }
  trial.steps.emplace_back(line.substr(kPrefix.size(), tab - kPrefix.size()), time);
  return true;
}

}  // namespace

Trial try_a_jail() {
  Trial trial;
  ::setenv(kSelf, std::filesystem::read_symlink("/proc/self/exe").c_str(), 1);
  ::setenv(warden::SetupTimes::kVariable, "1", 1);
  int ends[2];
  sys::check(::pipe2(ends, O_CLOEXEC), "make a pipe");
  sys::UniqueFd hear(ends[0]), wait(ends[1]);
  sys::check(::dup2(hear.get(), STDIN_FILENO), "replace the standard input");
  const auto close = [](std::FILE* stream) { ::pclose(stream); };
  // It begins at the end of its input.
  std::unique_ptr<std::FILE, decltype(close)> output(::popen("read begin; exec \"$ROOKERY_SELF\" run -c pass 2>&1 </dev/null", "re"), close);
  ::unsetenv(kSelf);
  ::unsetenv(warden::SetupTimes::kVariable);
  if (!output) {
    trial.error = "it could not be started";
    return trial;
  }
  const OutOfTheWay aside;
  wait.reset();
  std::array<char, 4096> buffer;
  while (std::fgets(buffer.data(), buffer.size(), output.get()) != nullptr) {
    std::string_view line(buffer.data());
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (take_step(line, trial)) continue;
    if (line.find("jails are made flat") != std::string_view::npos) trial.flat = true;
    trial.error = line;
  }
  const int status = ::pclose(output.release());
  trial.good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (trial.good) trial.error.clear();
  return trial;
}

int print_timing() {
  std::vector<Trial> trials;
  for (int i = 0; i < kTrials; ++i) {
    trials.push_back(try_a_jail());
    if (trials.back().good && !trials.back().steps.empty()) continue;
    std::fprintf(stderr, "rookery: no jail could be made: %s\n", trials.back().error.c_str());
    return 1;
  }
  std::printf("\nset-up of a jail, median of %d, in ms; steps of the jail's own are part of the warden's wait for its init\n", kTrials);
  for (std::size_t step = 0; step < trials.front().steps.size(); ++step) {
    std::vector<long long> times;
    for (const Trial& trial : trials) {
      if (step < trial.steps.size()) times.push_back(trial.steps[step].second);
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    std::printf("  %-52s %9.3f\n", trials.front().steps[step].first.c_str(), static_cast<double>(*middle) / 1e6);
  }
  return 0;
}

}  // namespace rookery::cli
