// WaitingLedger: how much waits for its turn, of each tenant, against the limits.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace mpsd {

// Part of a SequenceTable, which counts each turn that comes and goes. Turns of sequences that have
// no lane yet get at most half of the room: nobody knows how long those wait, and they must not
// lock out the sequences that are open and could go on. Where callers are told apart (tenant is not
// 0) one tenant has at most as much as is left for all others, of the requests, of that half and of
// the bytes.
// Holds no request. Thread-compatible: guarded by the table's owner.
class WaitingLedger {
 public:
  struct Limits {
    uint32_t requests = 0;
    uint64_t bytes = 0;  // of their inputs
  };

  // What is counted of a turn.
  struct Entry {
    uint32_t tenant = 0;
    uint64_t bytes = 0;
    bool has_lane = false;  // its sequence
  };

  explicit WaitingLedger(const Limits& limits) : limits_(limits) {}

  // Whether this new turn may wait.
  bool HasRoom(const Entry& entry) const;

  // A turn has come. The table may add one that found no room, where it begins at once.
  void Add(const Entry& entry);

  // A turn has gone. REQUIRES: it is counted as it was added, but for a lane that came since.
  void Remove(const Entry& entry);

  // So many turns of that tenant have a lane from now on. REQUIRES: they are counted without one.
  void HaveLane(uint32_t tenant, uint32_t count);

 private:
  struct Sum {
    uint32_t requests = 0;
    uint64_t bytes = 0;
    uint32_t without_lane = 0;  // of the requests

    void Add(const Entry& entry, int sign);
  };

  uint32_t most_without_lane() const { return limits_.requests - limits_.requests / 2; }
  Sum Of(uint32_t tenant) const;

  const Limits limits_;
  Sum all_;
  absl::flat_hash_map<uint32_t, Sum> tenants_;  // those of which a turn waits
};

}  // namespace mpsd
