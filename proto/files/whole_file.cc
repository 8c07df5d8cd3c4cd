#include "proto/files/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/base/fd.h"

namespace mpsd {
namespace {

constexpr size_t kChunkBytes = 1 << 20;

std::string ErrnoText() { return std::generic_category().message(errno); }

// Errors name `path`.
absl::StatusOr<std::string> ReadOpened(const UniqueFd& fd, const std::string& path,
                                       uint64_t bytes_expected, uint64_t bytes_max) {
  std::string content;
  content.reserve(std::min(bytes_expected, bytes_max) + kChunkBytes);
  for (ssize_t count = 1; count > 0;) {
    const size_t before = content.size();
    content.resize(before + kChunkBytes);
    do {
      count = read(fd.get(), content.data() + before, kChunkBytes);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
      return absl::DataLossError(absl::StrCat("cannot read ", path, ": ", ErrnoText()));
    }
    content.resize(before + static_cast<size_t>(count));
    if (content.size() > bytes_max) {
      return absl::OutOfRangeError(absl::StrCat(path, " has more than ", bytes_max, " bytes"));
    }
  }
  return content;
}

// `flags` beside the usual ones.
absl::StatusOr<UniqueFd> OpenToRead(const std::string& path, int flags) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  if (fd.valid()) return fd;
  return absl::NotFoundError(absl::StrCat("cannot open ", path, ": ", ErrnoText()));
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path, uint64_t bytes_max) {
  const absl::StatusOr<UniqueFd> fd = OpenToRead(path, 0);
  if (!fd.ok()) return fd.status();
  return ReadOpened(*fd, path, /*bytes_expected=*/0, bytes_max);
}

absl::StatusOr<std::string> ReadRegularFile(const std::string& path, uint64_t bytes_max) {
  const absl::StatusOr<UniqueFd> fd = OpenToRead(path, O_NONBLOCK);
  if (!fd.ok()) return fd.status();
  struct stat status {};
  if (fstat(fd->get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is no file"));
  }
  return ReadOpened(*fd, path, static_cast<uint64_t>(status.st_size), bytes_max);
}

absl::Status WriteWholeFile(const std::string& path, absl::string_view content) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) return absl::DataLossError(absl::StrCat("cannot write ", path, ": ", ErrnoText()));
  return absl::OkStatus();
}

}  // namespace mpsd
