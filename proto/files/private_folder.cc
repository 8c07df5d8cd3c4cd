#include "proto/files/private_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "proto/base/fd.h"

namespace mpsd {

absl::Status MakePrivateFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make the folder ", path));
  }
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid() && (errno == ELOOP || errno == ENOTDIR)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is a link or a file; it must be a folder"));
  }
  struct stat status {};
  if (!fd.valid() || fstat(fd.get(), &status) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open the folder ", path));
  }
  if (status.st_uid != geteuid()) {
    return absl::FailedPreconditionError(absl::StrCat(path, " belongs to user ", status.st_uid,
                                                      "; it must belong to user ", geteuid(),
                                                      ", who runs this"));
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("other users may write to ", path, "; take that away: chmod go-w ", path));
  }
  return absl::OkStatus();
}

}  // namespace mpsd
