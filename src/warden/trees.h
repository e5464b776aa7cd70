// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "jail/image.h"
#include "util/settings.h"

namespace rookery::warden {

// The warden's own root, a tmpfs mounted on the sessions root, which it is started in: proc/, sessions/ (the host's
// directory), image/NAME/, exporter/ and empty/ (the server's root). Until it is the root it is the working directory, so that
// nobody needs the right to come by the path to it, which in a home directory only its owner has.
struct Trees {
  std::string root;
  std::vector<jail::Image> images;  // the first is the default, from the host's root; then those of SANDBOX_IMAGES
};

// Throws std::system_error or std::runtime_error with what to do.
Trees build_trees(const util::Settings& settings);

}  // namespace rookery::warden
