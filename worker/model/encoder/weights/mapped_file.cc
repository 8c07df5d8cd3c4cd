#include "worker/model/encoder/weights/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

absl::Status CannotRead(int error) {
  if (error == ENOENT) return absl::NotFoundError("is not there");
  return absl::PermissionDeniedError(absl::StrCat("cannot be read: ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return CannotRead(errno);
  struct stat info {};
  const bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  const auto size = static_cast<size_t>(info.st_size);
  void* data = nullptr;
  int error = 0;
  if (is_file && size > 0) {
    data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) error = errno;
  }
  close(fd);
  if (!is_file) return absl::NotFoundError("is no file");
  if (error != 0) return CannotRead(error);
  return MappedFile(static_cast<const char*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

}  // namespace mpsd
