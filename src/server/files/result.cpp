// SPDX-License-Identifier: Apache-2.0
#include "server/files/result.h"

#include <cerrno>

namespace rookery::server {

namespace {

struct Meaning {
  int status;
  std::string_view text;
};

Meaning meaning_of(int error) noexcept {
  switch (error) {
    case ENOENT:
      return {404, "file not found"};
    case EXDEV:
      return {403, "path escapes workspace"};
    case ELOOP:
      return {403, "too many symbolic links"};
    case EACCES:
    case EPERM:
    case EROFS:
      return {403, "permission denied"};
    case ENAMETOOLONG:
      return {400, "path is too long or too deep"};
    case EINVAL:
    case EILSEQ:
      return {400, "not a usable file name"};
    case EISDIR:
      return {400, "is a directory"};
    case ENOTDIR:
      return {409, "a parent is not a directory"};
    case EEXIST:
      return {409, "already exists"};
    case ENXIO:
    case ENODEV:
    case EOPNOTSUPP:
      return {409, "not a regular file"};
    case EAGAIN:
    case EBUSY:
    case ETXTBSY:
      return {409, "file is busy"};
    case ENOSPC:
    case EDQUOT:
      return {413, "workspace is full"};
    case EFBIG:
    case EOVERFLOW:
      return {413, "file is too large"};
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return {503, "server is out of resources"};
    default:
      return {500, "cannot be accessed"};
  }
}

}  // namespace

FileError file_error(int error, std::string_view shown) {
  const Meaning meaning = meaning_of(error);
  return {meaning.status, std::string(meaning.text) + ": " + std::string(shown)};
}

}  // namespace rookery::server
