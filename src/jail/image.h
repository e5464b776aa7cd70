// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace rookery::jail {

// The read-only root of a jail, prepared once in the warden's mount namespace.
struct Image {
  std::string name;                                  // "default"
  std::string root;                                  // where the tree is mounted, as the warden sees it
  std::string python;                                // the interpreter's path inside
  std::vector<std::string> environment;              // "NAME=value" of everything in the jail
  std::string preload;                               // modules that its zygote imports; "" for the driver's own list
  std::vector<std::string> proc_masked_files;        // below /proc, those that this kernel has
  std::vector<std::string> proc_masked_directories;
  std::vector<std::string> proc_read_only;
};

// Where a root file system may name the modules for its zygote, separated by spaces, commas or new lines.
inline constexpr const char* kPreloadPath = "/etc/rookery/preload";
inline constexpr std::size_t kMaxPreload = 4096;  // bytes

struct ImageRequest {
  std::string name;
  std::string source = "";      // where the image's files come from: a canonical path; "" is the host's own root
  std::string root;             // an existing empty directory to build it at
  std::string python;           // SANDBOX_PYTHON, or "" for the first python3 there is
  std::string preload;          // SANDBOX_PRELOAD; an image with a source names its own in kPreloadPath
  std::string_view filesystem_policy;  // policy/filesystem.json
  uid_t inner_uid = 1000;       // the uid that programs see
};

// Builds the tree. Throws std::system_error or std::runtime_error with what to do.
Image build_image(const ImageRequest& request);

}  // namespace rookery::jail
