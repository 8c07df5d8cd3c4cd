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
#include "proto/base/fd.h"

namespace mpsd {
namespace {

absl::Status CannotRead(int error) {
  if (error == ENOENT) return absl::NotFoundError("is not there");
  return absl::PermissionDeniedError(absl::StrCat("cannot be read: ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return CannotRead(errno);
  struct stat info {};
  const bool is_file = fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode);
  if (!is_file) return absl::NotFoundError("is no file");
  return OfDescriptor(fd.get(), static_cast<uint64_t>(info.st_size));
}

absl::StatusOr<MappedFile> MappedFile::OfDescriptor(int fd, uint64_t bytes) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return CannotRead(errno);
  if (static_cast<uint64_t>(info.st_size) < bytes) return absl::NotFoundError("is cut short");
  if (bytes == 0) return MappedFile(nullptr, 0);
  void* const data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return CannotRead(errno);
  return MappedFile(static_cast<const char*>(data), bytes);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

}  // namespace mpsd
