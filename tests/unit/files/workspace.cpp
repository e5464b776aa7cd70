// SPDX-License-Identifier: Apache-2.0
#include "workspace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "sys/error.h"

namespace rookery::test {

namespace fs = std::filesystem;

Workspace::Workspace() {
  std::string name = "/tmp/rookery-files-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) sys::throw_errno("mkdtemp");
  root_ = name;
  fs::create_directory(path());
  std::ofstream(outside()) << "OUTSIDE";
  fd_ = sys::UniqueFd(sys::check(::open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open workspace"));
}

Workspace::~Workspace() { fs::remove_all(root_); }

void Workspace::write(std::string_view name, std::string_view content) const {
  fs::create_directories(path(name).parent_path());
  std::ofstream file(path(name), std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
}

std::string Workspace::read(std::string_view name) const {
  std::ifstream file(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Workspace::link(std::string_view target, std::string_view name) const { fs::create_symlink(target, path(name)); }

void Workspace::fifo(std::string_view name) const { sys::check(::mkfifo(path(name).c_str(), 0644), "mkfifo"); }

void Workspace::socket(std::string_view name) const {
  const sys::UniqueFd fd(sys::check(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path(name).string().copy(address.sun_path, sizeof(address.sun_path) - 1);
  sys::check(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), "bind");
}

std::vector<std::string> Workspace::all() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(path())) {
    names.push_back(entry.path().lexically_relative(path()).string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace rookery::test
