// MappedFile: the bytes of a file, mapped read-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// Gone before the model serves. If a file is cut short under its mapping, reading kills the
// process, so a weight is copied out at once. Thread-compatible.
class MappedFile {
 public:
  // NOT_FOUND if `path` is no regular file, PERMISSION_DENIED if it cannot be read. The text ends a
  // sentence that begins with the path.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  // The first `bytes` of an open file, which stays the caller's. NOT_FOUND if it has fewer.
  static absl::StatusOr<MappedFile> OfDescriptor(int fd, uint64_t bytes);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // The bytes stay in place when the object moves.
  absl::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile(const char* data, size_t size) : data_(data), size_(size) {}

  const char* data_;  // null if size_ is 0
  size_t size_;
};

}  // namespace mpsd
