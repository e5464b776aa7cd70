// SPDX-License-Identifier: Apache-2.0
// No path reads, lists or writes anything outside of the workspace, whatever links stand in it.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "server/files/client_path.h"
#include "server/files/file_reader.h"
#include "server/files/upload_file.h"

using namespace rookery::server;
namespace fs = std::filesystem;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// A workspace with links of every kind, and a file beside it that must stay as it is.
struct Place {
  fs::path root;
  int workspace = -1;

  Place() {
    // Built anew after every write, so it should be a file system in memory, as a real workspace is.
    std::string name = fs::is_directory("/dev/shm") ? "/dev/shm/rookery-fuzz-XXXXXX" : "/tmp/rookery-fuzz-XXXXXX";
    require(::mkdtemp(name.data()) != nullptr);
    root = name;
    std::ofstream(root / "outside") << "OUTSIDE";
    build();
  }
  ~Place() { fs::remove_all(root); }

  void build() {
    const fs::path inside = root / "workspace";
    fs::remove_all(inside);
    fs::create_directories(inside / "d" / "e");
    std::ofstream(inside / "f") << "f";
    std::ofstream(inside / "d" / "f") << "f";
    fs::create_symlink("d", inside / "l");
    fs::create_symlink("..", inside / "u");
    fs::create_symlink("/", inside / "r");
    fs::create_symlink("../outside", inside / "o");
    fs::create_symlink("../../u/outside", inside / "d" / "e" / "o");
    fs::create_symlink("s", inside / "s");
    fs::create_symlink("../f", inside / "d" / "b");
    fs::create_symlink("d/new", inside / "n");
    if (workspace >= 0) ::close(workspace);
    workspace = ::open(inside.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(workspace >= 0);
  }
};

bool is_status(int status) {
  for (const int known : {400, 403, 404, 409, 413}) {
    if (status == known) return true;
  }
  return false;
}

template <typename T>
bool accepted(const FileResult<T>& result) {
  const auto* refused = std::get_if<FileError>(&result);
  require(refused == nullptr || is_status(refused->status));
  return refused == nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Place place;
  const std::string_view path(reinterpret_cast<const char*>(data), size);
  const auto parsed = parse_client_path(path);
  if (accepted(parsed)) {
    const auto& client = std::get<ClientPath>(parsed);
    require(!client.relative.empty() && client.relative.front() != '/');
    require(client.relative.find("//") == std::string::npos);
    require(normalise(client.relative).relative == client.relative);
  }

  const auto opened = open_for_read(place.workspace, path);
  if (accepted(opened)) {
    struct stat status {};
    struct stat outside {};
    require(::fstat(std::get<OpenedFile>(opened).fd.get(), &status) == 0);
    require(::stat((place.root / "outside").c_str(), &outside) == 0);
    require(S_ISREG(status.st_mode) && status.st_ino != outside.st_ino);
  }
  const auto listed = list_files(place.workspace, path);
  if (accepted(listed)) {
    for (const auto& file : std::get<FileListing>(listed).files) require(accepted(open_for_read(place.workspace, file.path)));
  }

  auto begun = UploadFile::begin(place.workspace, path);
  if (accepted(begun)) {
    require(accepted(std::get<UploadFile>(begun).commit()));
    require(accepted(open_for_read(place.workspace, path)));
    place.build();
  }
  std::string kept;
  std::getline(std::ifstream(place.root / "outside") >> std::ws, kept);
  require(kept == "OUTSIDE");
  std::size_t beside = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(place.root)) ++beside;
  require(beside == 2);
  return 0;
}
