// How a client wants an answer, beyond the bytes of its outputs.
#pragma once

#include <deque>
#include <string>

#include "absl/status/status.h"
#include "server/accept/request_regions.h"
#include "server/accept/request_wire.h"
#include "server/request/reply.h"

namespace mpsd {

inline bool HasWishes(const RequestWire& wire, const RequestRegions& regions) {
  return !wire.classes().empty() || regions.has_outputs();
}

// Replaces outputs by their largest elements, whose bytes `storage` keeps, and puts those that are
// to lie in the client's memory there. A status ends the request. Thread-safe.
inline absl::Status GrantWishes(const RequestWire& wire, const RequestRegions& regions,
                                bool batches, Answer* answer, std::deque<std::string>* storage) {
  const absl::Status status = Classify(wire.classes(), batches, answer, storage);
  return status.ok() ? regions.Store(answer) : status;
}

}  // namespace mpsd
