// MappedFile: the bytes of a file, mapped read-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// Maps on construction and unmaps on destruction. Made by WeightFiles while a model is loaded, and
// gone before the model serves. If a file is cut short under its mapping, reading it kills the
// process, so a weight is copied out at once. Thread-compatible.
class MappedFile {
 public:
  // NOT_FOUND when `path` is no regular file, PERMISSION_DENIED when it cannot be read. The text is
  // the end of a sentence that begins with the path.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  // Maps the first `bytes` of an open file, which stays the caller's. NOT_FOUND when it has fewer.
  static absl::StatusOr<MappedFile> OfDescriptor(int fd, uint64_t bytes);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // The whole file. The bytes stay where they are when the object moves.
  absl::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile(const char* data, size_t size) : data_(data), size_(size) {}

  const char* data_;  // null if size_ is 0
  size_t size_;
};

}  // namespace mpsd
