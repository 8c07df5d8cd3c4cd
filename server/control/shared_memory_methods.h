// The calls that register shared memory of clients.
#pragma once

#include "server/accept/method_table.h"
#include "server/regions/client_regions.h"

namespace mpsd {

// Adds the methods to the table. `regions` outlives it. Where the daemon takes no regions of a
// kind, each of its methods answers UNIMPLEMENTED and says what to do instead.
void AddSharedMemoryMethods(ClientRegions* regions, MethodTable* table);

}  // namespace mpsd
