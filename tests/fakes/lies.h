// Lies: what a hostile worker does to the memory that it shares with the front end.
#pragma once

#include <string>

#include "proto/shm/layout.h"
#include "worker/execute/batch.h"

namespace mpsd {

// Spoils an honest completion record in the way that `lie` names. False when `lie` does not name a
// lie about records. Thread-safe.
bool SpoilRecord(const std::string& lie, const Batch& batch, CompletionRecord* record);

// Spoils the words of the rings after an honest completion was published. False when `lie` does not
// name a lie about rings. `other` is the report of another lane, or of the same one if there is
// only one.
bool SpoilRings(const std::string& lie, uint32_t slot, LaneReport* report, LaneReport* other);

}  // namespace mpsd
