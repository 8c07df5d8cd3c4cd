// ResourceTable: the resources that lanes of all models share, and whose turn it is.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/pool/schedule/tenant_shares.h"
#include "server/request/lane_needs.h"
#include "server/telemetry/resource_sample.h"

namespace mpsd {

// One pool's needs on one device, per batch. Owned by the table.
struct ResourceClaim;

// The only way in which pools wait for each other. Owned by the daemon, outlives all pools.
// Thread-safe: its mutex is a leaf, taken under a pool's, and held no longer than a walk over the
// claims. It wakes nobody: the caller has the other pools ask again (PoolKeeper::WakePools).
//
//   pool a ─ TryTake ─▶ held 2 of 3 ─▶ runs ─▶ GiveBack ─▶ "others wait": their pools ask again
//   pool b ─ TryTake ─▶ needs 2: waits, in its turn
//
//   pool c ─ TryTake ─▶ needs 1, which is free; but b waits for it and is earlier: waits
//
// A claim takes all that it needs at once, or nothing: no batch holds a resource while it waits for
// another. Turns follow TenantShares; between equals, the claim that has waited longest is first. A
// claim may not take a resource that an earlier claim is waiting for. Otherwise small claims would
// starve a large one. Two kinds of claims share no resources, and a batch costs differently:
//
//   named resources  the claim's priority: turns are counted
//   by weight        lane time divided by the weight: a claim takes one of the device's
//                    kWeightedLanes. Until a batch's time is known, the last batch's counts.
//
// Invariants:
//   1. Claims never hold more of a resource than its limit, unless the limit was lowered after they
//      took it.
//   2. Each resource's limit is at least the largest need of any single claim.
//   3. A waiting claim is first, or waits for an earlier claim or for a held resource. So its turn
//      comes after a bounded number of batches, each of which ends or is killed.
class ResourceTable {
 public:
  // The resource of claims by weight. No config can use this name.
  static constexpr std::string_view kWeightedLanes = "weighted lanes";

  explicit ResourceTable(ResourceLimits limits = {}, DeviceLimits devices = {});
  ~ResourceTable();

  // A resource that is held already stays held.
  void SetLimits(ResourceLimits limits, DeviceLimits devices) ABSL_LOCKS_EXCLUDED(mu_);

  // REQUIRES: `needs` are not empty.
  ResourceClaim* Enter(const LaneNeeds& needs, const std::string& device, uint32_t lanes)
      ABSL_LOCKS_EXCLUDED(mu_);

  // REQUIRES: the claim holds nothing.
  void Leave(ResourceClaim* claim) ABSL_LOCKS_EXCLUDED(mu_);

  // False: nothing was taken, and the claim now waits.
  bool TryTake(ResourceClaim* claim) ABSL_LOCKS_EXCLUDED(mu_);

  // One batch ends, after `lane_ns`. REQUIRES: the claim holds its resources.
  void GiveBack(ResourceClaim* claim, int64_t lane_ns) ABSL_LOCKS_EXCLUDED(mu_);

  // A batch does not start after all, which counts as no turn. True: a claim has begun to wait
  // meanwhile, so others may have to ask again. REQUIRES: the claim holds its resources.
  bool PutBack(ResourceClaim* claim) ABSL_LOCKS_EXCLUDED(mu_);

  // The claim has nothing to run any more.
  void StopWaiting(ResourceClaim* claim) ABSL_LOCKS_EXCLUDED(mu_);

  // Ask after each success of the calls above: another claim may have waited for what changed.
  bool has_waiting() const { return waiting_.load(std::memory_order_relaxed) > 0; }

  std::vector<ResourceSample> Samples() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Resource {
    uint64_t limit = 0;
    uint64_t held = 0;
  };
  using Key = std::pair<std::string, std::string>;  // name, device

  uint64_t LimitOf(const Key& key, uint64_t least) const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  bool Fits(const ResourceClaim& claim) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  bool HasOthersBefore(const ResourceClaim& claim) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  bool IsBefore(const ResourceClaim& claim, const ResourceClaim& other) const
      ABSL_SHARED_LOCKS_REQUIRED(mu_);
  void SetWaiting(ResourceClaim* claim, bool waits) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns its charge.
  int64_t Free(ResourceClaim* claim) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FitLimits() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  uint32_t FreeNumber() const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  std::atomic<uint32_t> waiting_{0};

  mutable absl::Mutex mu_;
  ResourceLimits limits_ ABSL_GUARDED_BY(mu_);
  DeviceLimits devices_ ABSL_GUARDED_BY(mu_);
  std::map<Key, Resource> resources_ ABSL_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<ResourceClaim>> claims_ ABSL_GUARDED_BY(mu_);
  // By ResourceClaim::number: one for named resources, and one per device for claims by weight.
  TenantShares turns_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, TenantShares> turns_on_ ABSL_GUARDED_BY(mu_);
  uint64_t waits_begun_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace mpsd
