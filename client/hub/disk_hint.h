// BeginToStore: tells the disk early of what a file will have to keep.
#pragma once

#include <cstdint>

namespace mpsd::hub {

// So that an fsync() has less to wait for. Without effect where the system has no such call.
// Thread-safe.
void BeginToStore(int fd, uint64_t offset, uint64_t bytes);

}  // namespace mpsd::hub
