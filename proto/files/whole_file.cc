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

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path, uint64_t bytes_max) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot open ", path, ": ", ErrnoText()));
  std::string content;
  while (file) {
    const size_t before = content.size();
    content.resize(before + kChunkBytes);
    file.read(content.data() + before, kChunkBytes);
    content.resize(before + static_cast<size_t>(file.gcount()));
    if (content.size() > bytes_max) {
      return absl::OutOfRangeError(absl::StrCat(path, " has more than ", bytes_max, " bytes"));
    }
  }
  if (file.bad()) return absl::DataLossError(absl::StrCat("cannot read ", path, ": ", ErrnoText()));
  return content;
}

absl::StatusOr<std::string> ReadRegularFile(const std::string& path, uint64_t bytes_max) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) {
    return absl::NotFoundError(absl::StrCat("cannot open ", path, ": ", ErrnoText()));
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is no file"));
  }
  std::string content;
  content.reserve(std::min(static_cast<uint64_t>(status.st_size), bytes_max) + kChunkBytes);
  for (ssize_t count = 1; count > 0;) {
    const size_t before = content.size();
    content.resize(before + kChunkBytes);
    do {
      count = read(file.get(), content.data() + before, kChunkBytes);
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

absl::Status WriteWholeFile(const std::string& path, absl::string_view content) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) return absl::DataLossError(absl::StrCat("cannot write ", path, ": ", ErrnoText()));
  return absl::OkStatus();
}

}  // namespace mpsd
