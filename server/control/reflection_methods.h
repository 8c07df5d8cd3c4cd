// ReflectionMethods: grpc.reflection, the services' descriptors for clients without .proto files.
#pragma once

#include "server/http/calls/method_table.h"

namespace mpsd {

// Callers that may read the descriptors. A value of the config.
enum class ReflectionAccess {
  kOff,    // the methods do not exist: UNIMPLEMENTED
  kLocal,  // callers on this host; others get PERMISSION_DENIED
  kOn,     // every caller that the gate lets in
};

// Adds ServerReflectionInfo under v1 and under v1alpha, which older clients ask for, unless access
// is off. Tools such as grpcurl then call the server by name alone.
//
// A conversation: one response for each request of the stream, in order, on the call's queue
// thread. The descriptors are those that the binary was built with. They are collected here, once,
// never change, and are shared by both methods. A file is answered with all files that it imports,
// so that a client needs one round trip. A missing item is an error message with code NOT_FOUND,
// and does not end the stream. `access` is judged after the gate, which knows the role
// "reflection". REQUIRES: the table does not have the methods yet.
void AddReflectionMethods(ReflectionAccess access, MethodTable* table);

}  // namespace mpsd
