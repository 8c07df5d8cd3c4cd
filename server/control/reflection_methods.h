// ReflectionMethods: grpc.reflection, the descriptors of the services for clients without .proto
// files.
#pragma once

#include "server/entry/method_table.h"

namespace mpsd {

// Who may read the descriptors. A value of the config.
enum class ReflectionAccess {
  kOff,    // the methods do not exist: UNIMPLEMENTED
  kLocal,  // callers on this host; others get PERMISSION_DENIED
  kOn,     // everybody whom the gate lets in
};

// Adds ServerReflectionInfo under v1 and v1alpha, the name that older clients ask for, unless
// access is off. Tools such as grpcurl then call the server by name alone.
//
// A conversation: one response for each request of the stream, in order, on the queue thread of the
// call. The descriptors are those that the binary was built with. They are collected here, once,
// and never change; the two methods share them. A file is answered together with all files that it
// imports, so that a client needs one round trip. Whatever is not found is an error message of the
// response, with the code NOT_FOUND, and does not end the stream. `access` is judged after the
// gate, which knows the role "reflection". REQUIRES: the table does not have the methods yet.
void AddReflectionMethods(ReflectionAccess access, MethodTable* table);

}  // namespace mpsd
