#include <fcntl.h>

#include "client/hub/disk_hint.h"

namespace mpsd::hub {

void BeginToStore(int fd, uint64_t offset, uint64_t bytes) {
  sync_file_range(fd, static_cast<off64_t>(offset), static_cast<off64_t>(bytes),
                  SYNC_FILE_RANGE_WRITE);
}

}  // namespace mpsd::hub
