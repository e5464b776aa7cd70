// SPDX-License-Identifier: Apache-2.0
#include "warden/trees.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "jail/init_protocol.h"
#include "sys/error.h"
#include "sys/mount.h"
#include "sys/unique_fd.h"
#include "util/embedded.h"

namespace rookery::warden {

namespace {

namespace fs = std::filesystem;

// The programs of rookery, and the copies that jail/image_tree.h allows.
constexpr std::size_t kSpacePerImage = 64u << 20;  // bytes
constexpr std::size_t kInodesPerImage = 16384;

void write_program(const std::string& at, std::string_view content, mode_t mode) {
  const sys::UniqueFd fd(sys::check(::open(at.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "create " + at));
  if (::write(fd.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) sys::throw_errno("write " + at);
  sys::check(::fchmod(fd.get(), mode), "chmod " + at);
}

// The init and the driver, which every image shows at /opt/rookery.
void write_programs(const std::string& image_root) {
  for (const util::EmbeddedFile& file : util::embedded_files()) {
    if (!file.name.starts_with("repl/")) continue;
    const fs::path at = image_root + "/opt/rookery/" + std::string(file.name.substr(5));
    fs::create_directories(at.parent_path());
    write_program(at, file.content, 0444);
  }
  write_program(image_root + jail::kInitPath, util::embedded_file("init"), 0711);
}

jail::Image build(const std::string& trees, jail::ImageRequest request) {
  request.root = trees + "/image/" + request.name;
  request.filesystem_policy = util::embedded_file("policy/filesystem.json");
  fs::create_directories(request.root);
  write_programs(request.root);
  return jail::build_image(request);
}

jail::Image build_named(const std::string& trees, const util::ImageSource& image) {
  try {
    jail::ImageRequest request;
    request.name = image.name;
    request.source = fs::canonical(image.root).string();
    return build(trees, request);
  } catch (const std::exception& error) {
    throw std::runtime_error("SANDBOX_IMAGES: " + image.name + " cannot be used: " + error.what());
  }
}

}  // namespace

Trees build_trees(const util::Settings& settings) {
  sys::make_private();
  const sys::UniqueFd sessions = sys::clone_mount(AT_FDCWD, ".", true);
  Trees trees;
  trees.root = ".";
  const std::size_t images = 1 + settings.images.size();
  const sys::UniqueFd tmpfs = sys::detached_tmpfs(images * kSpacePerImage, images * kInodesPerImage, "0755");
  sys::attach(tmpfs.get(), ".");
  sys::check(::fchdir(tmpfs.get()), "go to the warden's root");
  for (const char* directory : {"/proc", "/sessions", "/image", "/empty", "/exporter"}) fs::create_directories(trees.root + directory);
  sys::attach(sessions.get(), trees.root + "/sessions");
  // The warden's own PID namespace; a proc for a jail can be mounted only while one like it is in sight.
  sys::mount_fs("proc", trees.root + "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC);

  jail::ImageRequest host;
  host.name = util::kDefaultImage;
  host.python = settings.python;
  host.preload = settings.preload;
  trees.images.push_back(build(trees.root, host));
  for (const util::ImageSource& image : settings.images) trees.images.push_back(build_named(trees.root, image));
  return trees;
}

}  // namespace rookery::warden
