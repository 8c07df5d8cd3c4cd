// SharedMemoryMethods: the methods by which clients register their own memory.
#pragma once

#include "server/entry/method_table.h"
#include "server/regions/client_regions.h"

namespace mpsd {

// Adds Register, Unregister and Status of system and CUDA shared memory, six methods of the
// inference service. They only translate: `regions`, which outlives the table, holds the regions,
// decides what fits, and has every bound.
//
//   Register    opens the memory and gives it a name, for the requests of this connection
//   Unregister  forgets the name, or every name of the kind when it is empty; OK where there is
//               none. Requests that use the memory keep it open until they have ended
//   Status      the caller's own regions of the kind; NOT_FOUND for a name that is not registered
//
// A client sees only its own connection's regions: CallerInfo::connection is the key. All run on
// the thread of their call and do not block. Only CudaSharedMemoryRegister is deferred, since a
// device may take seconds to open memory: the thread `device-copies` answers.
//
// If the config allows no regions of a kind (decided here once), that kind's methods answer
// UNIMPLEMENTED and tell the client to use raw_input_contents. Only an Unregister without a name is
// OK, since nothing is registered.
void AddSharedMemoryMethods(ClientRegions* regions, MethodTable* table);

}  // namespace mpsd
