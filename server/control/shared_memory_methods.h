// SharedMemoryMethods: the methods by which clients register their own memory.
#pragma once

#include "server/entry/method_table.h"
#include "server/regions/client_regions.h"

namespace mpsd {

// Adds Register, Unregister and Status of system shared memory and of CUDA shared memory, six
// methods of the inference service. `regions` outlives the table; it holds the regions, decides
// what fits, and has every bound. The methods only translate.
//
//   Register    opens the memory and gives it a name, for the requests of this connection
//   Unregister  forgets the name, or every name of the kind when it is empty; OK where there is
//               none. Requests that use the memory keep it open until they have ended
//   Status      the caller's own regions of the kind; NOT_FOUND for a name that is not registered
//
// A client sees the regions of its own connection and no others: CallerInfo::connection is the key.
// All run on the queue thread of their call and do not block. Only CudaSharedMemoryRegister is a
// deferred method, since a device may take seconds to open memory: the thread `device-copies`
// answers.
//
// Where the config allows no regions of a kind, which is decided here once, each method for that
// kind answers UNIMPLEMENTED and tells the client to send tensors in raw_input_contents; only an
// Unregister without a name is OK, since nothing is registered.
void AddSharedMemoryMethods(ClientRegions* regions, MethodTable* table);

}  // namespace mpsd
