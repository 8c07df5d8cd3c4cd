// The methods by which clients register their shared memory.
#pragma once

#include "server/accept/method_table.h"
#include "server/regions/client_regions.h"

namespace mpsd {

// Adds the methods to the table. `regions` outlives the table. If the daemon takes no regions of a
// kind, each method for that kind answers UNIMPLEMENTED and says what to do instead.
void AddSharedMemoryMethods(ClientRegions* regions, MethodTable* table);

}  // namespace mpsd
