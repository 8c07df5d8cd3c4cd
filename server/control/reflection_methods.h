// grpc.reflection: the descriptors of the services, for clients without .proto files.
#pragma once

#include "server/accept/method_table.h"

namespace mpsd {

// Who may read the descriptors.
enum class ReflectionAccess {
  kOff,
  kLocal,  // callers on this host
  kOn,
};

// Adds the method to the table under v1 and v1alpha, unless it is off.
void AddReflectionMethods(ReflectionAccess access, MethodTable* table);

}  // namespace mpsd
