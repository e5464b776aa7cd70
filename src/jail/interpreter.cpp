// SPDX-License-Identifier: Apache-2.0
#include "jail/interpreter.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "sys/beneath.h"

namespace rookery::jail {

namespace {

namespace fs = std::filesystem;

constexpr const char* kUsualPlaces[] = {"/opt/sandbox/venv/bin/python3", "/usr/local/bin/python3", "/usr/bin/python3"};

// The base interpreter's prefix of a virtual environment (PEP 405, "home = /usr/bin"); "" where there is none.
std::string base_prefix(const fs::path& prefix) {
  std::ifstream config(prefix / "pyvenv.cfg");
  for (std::string line; std::getline(config, line);) {
    const auto equals = line.find('=');
    if (equals == std::string::npos || line.substr(0, line.find_last_not_of(' ', equals - 1) + 1) != "home") continue;
    const auto start = line.find_first_not_of(' ', equals + 1);
    return start == std::string::npos ? "" : fs::path(line.substr(start)).parent_path().string();
  }
  return "";
}

std::string find(const std::string& wanted) {
  if (!wanted.empty()) {
    for (const std::string_view hidden : {"/tmp/", "/workspace/", "/dev/", "/proc/", "/mnt/", "/run/"}) {
      if (!wanted.starts_with(hidden)) continue;
      throw std::runtime_error("SANDBOX_PYTHON=" + wanted + ": a jail has a " + std::string(hidden) +
                               " of its own, which hides it; put the interpreter elsewhere, e.g. below /opt");
    }
    if (::access(wanted.c_str(), X_OK) != 0) {
      throw std::runtime_error("SANDBOX_PYTHON=" + wanted + " is not an executable file");
    }
    return wanted;
  }
  for (const char* path : kUsualPlaces) {
    if (::access(path, X_OK) == 0) return path;
  }
  throw std::runtime_error("no python3 found: install it (apt-get install python3) or name one in SANDBOX_PYTHON");
}

// Its own prefix, a virtual environment's base, and, of an interpreter that is a link elsewhere (pyenv, /opt), its target's.
std::vector<std::string> prefixes_of(const std::string& interpreter) {
  const fs::path prefix = fs::path(interpreter).parent_path().parent_path();
  std::vector<std::string> prefixes = {prefix};
  if (const std::string base = base_prefix(prefix); !base.empty()) prefixes.push_back(base);
  std::error_code unresolved;
  const fs::path real = fs::canonical(interpreter, unresolved);
  if (!unresolved) prefixes.push_back(real.parent_path().parent_path());
  return prefixes;
}

// A session is "others" to the files of an image.
bool executable(int root, const char* path) {
  const sys::UniqueFd file = sys::open_in_root(root, path, O_PATH);
  struct stat info{};
  return file && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & S_IXOTH) != 0;
}

std::string find_in(const std::string& source) {
  const sys::UniqueFd root(::open(source.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root || ::faccessat(AT_FDCWD, source.c_str(), R_OK | X_OK, 0) != 0) {
    throw std::runtime_error(source + ": " + std::generic_category().message(errno) +
                             "; it has to be a directory, and everybody has to be able to read it and to pass the ones above it");
  }
  if (!executable(root.get(), "/bin/bash")) throw std::runtime_error(source + " has no /bin/bash that everybody may execute: install bash in it");
  for (const char* path : kUsualPlaces) {
    if (executable(root.get(), path)) return path;
  }
  throw std::runtime_error(source + " has no python3 that everybody may execute: install it there, at one of " + kUsualPlaces[0] + ", " +
                           kUsualPlaces[1] + ", " + kUsualPlaces[2]);
}

}  // namespace

Interpreter find_interpreter(const std::string& source, const std::string& wanted) {
  Interpreter interpreter;
  interpreter.path = source.empty() ? find(wanted) : find_in(source);
  const fs::path directory = fs::path(interpreter.path).parent_path();
  if (source.empty()) interpreter.prefixes = prefixes_of(interpreter.path);

  std::string path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  if (directory != "/usr/bin" && directory != "/usr/local/bin") path = directory.string() + ":" + path;
  interpreter.environment = {
      "PATH=" + path,
      "HOME=/workspace",
      "USER=sandbox",
      "LOGNAME=sandbox",
      "SHELL=/bin/bash",
      "PWD=/workspace",
      "LANG=C.UTF-8",
      "LC_ALL=C.UTF-8",
      "TERM=dumb",
      "TMPDIR=/tmp",
      "XDG_CACHE_HOME=/tmp/.cache",
      "XDG_CONFIG_HOME=/tmp/.config",
      "MPLBACKEND=Agg",
      "MPLCONFIGDIR=/tmp/.config/matplotlib",
      "PYTHONUNBUFFERED=1",
      "PYTHONDONTWRITEBYTECODE=1",
      // One core a session: more threads than that only fight each other and eat the pids limit.
      "OPENBLAS_NUM_THREADS=1",
      "OMP_NUM_THREADS=1",
      "MKL_NUM_THREADS=1",
      "NUMEXPR_NUM_THREADS=1",
      // There is no network: fail at once instead of retrying.
      "PIP_RETRIES=0",
      "PIP_NO_INPUT=1",
      "PIP_DISABLE_PIP_VERSION_CHECK=1",
  };
  return interpreter;
}

}  // namespace rookery::jail
