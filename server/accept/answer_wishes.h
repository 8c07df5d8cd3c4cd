// How a client wants an answer, beyond the bytes of its outputs.
#pragma once

#include <deque>
#include <string>

#include "absl/status/status.h"
#include "server/regions/request_regions.h"
#include "server/request/reply.h"
#include "server/wire/request_wire.h"

namespace mpsd {

inline bool HasWishes(const RequestWire& wire, const RequestRegions& regions) {
  return !wire.classes().empty() || regions.has_outputs();
}

// Replaces outputs by their largest elements, whose bytes `storage` keeps, and puts those that are
// to lie in the client's memory there, but for devices' memory, which is still to be written. A
// status ends the request. Answers of one request come one after the other, from any thread.
inline absl::Status GrantWishes(const RequestWire& wire, RequestRegions* regions, bool batches,
                                Answer* answer, std::deque<std::string>* storage) {
  const absl::Status status = Classify(wire.classes(), batches, answer, storage);
  return status.ok() ? regions->Store(answer) : status;
}

}  // namespace mpsd
