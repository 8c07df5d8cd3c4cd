// WaitingLedger: how much waits for its turn, by tenant, against the limits.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace mpsd {

// Part of a SequenceTable, which counts each turn that comes and goes. Turns of sequences without a
// lane get at most half of the room. Nobody knows how long they wait, and they must not lock out
// open sequences that could go on. One known tenant (not 0) may use at most as much as is left for
// all others: of the requests, of that half and of the bytes. Holds no request. Thread-compatible:
// guarded by the table's owner.
class WaitingLedger {
 public:
  struct Limits {
    uint32_t requests = 0;
    uint64_t bytes = 0;  // bytes of their inputs
  };

  // A turn's counted values.
  struct Entry {
    uint32_t tenant = 0;
    uint64_t bytes = 0;
    bool has_lane = false;  // its sequence has one
  };

  explicit WaitingLedger(const Limits& limits) : limits_(limits) {}

  bool HasRoom(const Entry& entry) const;

  // A turn has come. The table may add one without room, if it begins at once.
  void Add(const Entry& entry);

  // A turn has gone. REQUIRES: `entry` is as it was added, except for a lane that came since.
  void Remove(const Entry& entry);

  // So many turns of that tenant have a lane from now on. REQUIRES: they count as without one.
  void HaveLane(uint32_t tenant, uint32_t count);

 private:
  struct Sum {
    uint32_t requests = 0;
    uint64_t bytes = 0;
    uint32_t without_lane = 0;  // requests without a lane

    void Add(const Entry& entry, int sign);
  };

  uint32_t most_without_lane() const { return limits_.requests - limits_.requests / 2; }
  Sum Of(uint32_t tenant) const;

  const Limits limits_;
  Sum all_;
  absl::flat_hash_map<uint32_t, Sum> tenants_;  // tenants with waiting turns
};

}  // namespace mpsd
