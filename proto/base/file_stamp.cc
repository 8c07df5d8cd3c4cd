#include "proto/base/file_stamp.h"

#include <sys/stat.h>

#include "proto/base/platform.h"

namespace mpsd {

FileStamp StampOf(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {static_cast<uint64_t>(status.st_ino), static_cast<uint64_t>(status.st_size),
          platform::ModifiedNs(status)};
}

}  // namespace mpsd
