// The calls that register shared memory of clients, which this server does not take.
#pragma once

#include "server/accept/method_table.h"

namespace mpsd {

// Adds the methods to the table. Each of them answers UNIMPLEMENTED and says what to do instead.
void AddSharedMemoryMethods(MethodTable* table);

}  // namespace mpsd
