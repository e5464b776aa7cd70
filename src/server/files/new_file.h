// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

#include "server/files/client_path.h"
#include "server/files/workspace_snapshot.h"
#include "sys/beneath.h"

namespace rookery::server {

// Where a path that may be written leads, symlinks of its last component followed.
struct WriteTarget {
  std::string parent;  // directory, relative to the workspace; need not exist
  std::string name;    // a plain name in it
  bool exists = false;
  struct stat status {};  // when it exists; any type but a symlink
};

// Follows `path` beneath `workspace`. 0, or an errno value: EXDEV when it leaves, ELOOP, EISDIR when it cannot be a file's …
[[nodiscard]] int resolve_write_target(int workspace, const ClientPath& path, WriteTarget& target);

// A file that is complete before it has a name. Its temporary is unnamed where the file system can do that, else a
// hidden file; both are gone when it is not published. Functions return 0 or an errno value. Not thread-safe.
class NewFile {
 public:
  enum class Existing { kReplace, kRefuse };

  // Keeps a duplicate of `workspace`: that descriptor's number may belong to another session by the time of publish().
  explicit NewFile(int workspace) noexcept;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  // Makes the missing parents and the temporary.
  [[nodiscard]] int open(WriteTarget target);
  // Another target for what has been written so far; parents that only the earlier one needed are removed.
  [[nodiscard]] int move_to(WriteTarget target);
  [[nodiscard]] int write(std::string_view bytes) noexcept;
  // Gives it its mode, owner and name, in this order. EEXIST with kRefuse when the name is taken.
  [[nodiscard]] int publish(mode_t mode, Existing existing, const RecordOwnWrite& record);

 private:
  [[nodiscard]] int open_temporary();
  [[nodiscard]] int give_name(Existing existing);
  [[nodiscard]] int link_as(const std::string& name);

  sys::UniqueFd workspace_;
  sys::Owner owner_;
  WriteTarget target_;
  sys::MadeDirectories parents_;
  sys::UniqueFd file_;
  std::string hidden_;  // name of the temporary in the parent; empty while it has none
  bool published_ = false;
};

}  // namespace rookery::server
