// FileStamp: which contents a file had when it was looked at.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

// A file that took another's place, or was written anew, has another stamp; but for one that was
// written twice within a tick of the file system's clock.
struct FileStamp {
  uint64_t inode = 0;
  uint64_t bytes = 0;
  int64_t modified_ns = 0;

  bool operator==(const FileStamp&) const = default;
};

// The stamp of the file as it is now; all zero when there is none. Thread-safe.
FileStamp StampOf(const std::string& path);

}  // namespace mpsd
