// WaitingLedger: how much waits for its turn, by tenant.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace mpsd {

// Part of a SequenceTable. Turns of sequences without a lane get at most half of the room: nobody
// knows how long they wait, and they must not lock out open sequences. One known tenant (not 0) may
// use at most as much as is left for all others: of the requests, of that half and of the bytes.
// Thread-compatible: the table's owner guards it.
class WaitingLedger {
 public:
  struct Limits {
    uint32_t requests = 0;
    uint64_t bytes = 0;  // bytes of their inputs
  };

  struct Entry {
    uint32_t tenant = 0;
    uint64_t bytes = 0;
    bool has_lane = false;
  };

  explicit WaitingLedger(const Limits& limits) : limits_(limits) {}

  bool HasRoom(const Entry& entry) const;

  // The table may add a turn without room, if it begins at once.
  void Add(const Entry& entry);

  // REQUIRES: `entry` is as it was added, except for a lane that came since.
  void Remove(const Entry& entry);

  // REQUIRES: `count` turns of that tenant count as without a lane.
  void HaveLane(uint32_t tenant, uint32_t count);

 private:
  struct Sum {
    uint32_t requests = 0;
    uint64_t bytes = 0;
    uint32_t without_lane = 0;

    void Add(const Entry& entry, int sign);
  };

  uint32_t most_without_lane() const { return limits_.requests - limits_.requests / 2; }
  Sum Of(uint32_t tenant) const;

  const Limits limits_;
  Sum all_;
  absl::flat_hash_map<uint32_t, Sum> tenants_;
};

}  // namespace mpsd
