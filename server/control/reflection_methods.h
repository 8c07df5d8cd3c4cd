// ReflectionMethods: the services' descriptors for clients without .proto files.
#pragma once

#include "server/http/calls/method_table.h"

namespace mpsd {

// Callers that may read the descriptors. A value of the config.
enum class ReflectionAccess {
  kOff,    // UNIMPLEMENTED
  kLocal,  // callers on this host; others get PERMISSION_DENIED
  kOn,     // every caller that the gate lets in
};

// ServerReflectionInfo under v1 and, for older clients, v1alpha, unless access is off.
//
// Answers each request of the stream in order, on the call's thread. The descriptors are the
// binary's, collected once. A file comes with all files that it imports, for one round trip. A
// missing item is NOT_FOUND in a message, and does not end the stream. `access` is judged after the
// gate, which knows the role "reflection". REQUIRES: the table does not have the methods yet.
void AddReflectionMethods(ReflectionAccess access, MethodTable* table);

}  // namespace mpsd
