// Lies: what a hostile worker does to the memory that it shares with the front end.
#pragma once

#include <string>

#include "proto/shm/layout.h"
#include "worker/execute/batch.h"

namespace mpsd {

// Spoils an honest completion record, as the lie of that name does. False when the lie is not one
// of a record. Thread-safe.
bool SpoilRecord(const std::string& lie, const Batch& batch, CompletionRecord* record);

// Spoils the rings' words after an honest completion was published. False when the lie is not one
// of the rings. `other` is the report of another lane, or of the same when there is one only.
bool SpoilRings(const std::string& lie, uint32_t slot, LaneReport* report, LaneReport* other);

}  // namespace mpsd
