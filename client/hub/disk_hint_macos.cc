#include "client/hub/disk_hint.h"

namespace mpsd::hub {

void BeginToStore(int, uint64_t, uint64_t) {}

}  // namespace mpsd::hub
