#include "proto/base/file_stamp.h"

#include <sys/stat.h>

#include "proto/base/clock.h"

namespace mpsd {

FileStamp StampOf(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
#if defined(__APPLE__)
  const timespec& modified = status.st_mtimespec;
#else
  const timespec& modified = status.st_mtim;
#endif
  return {static_cast<uint64_t>(status.st_ino), static_cast<uint64_t>(status.st_size),
          modified.tv_sec * kNsPerSecond + modified.tv_nsec};
}

}  // namespace mpsd
