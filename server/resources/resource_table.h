// ResourceTable: what the lanes of all models share, and whose turn it is.
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
#include "server/request/lane_needs.h"
#include "server/schedule/tenant_shares.h"
#include "server/telemetry/resource_sample.h"

namespace mpsd {

// What the lanes of one pool on one device need for a batch each. Made and owned by the table.
struct ResourceClaim;

// The one way in which pools wait for each other. Owned by the daemon, outlives all pools; each
// asks through its PoolClaims. Thread-safe: its mutex is a leaf, taken under a pool's, and never
// held for longer than a walk over the claims. It wakes nobody: what it returns tells the caller to
// have the others asked again (PoolKeeper::WakePools).
//
//   pool a ─ TryTake ─▶ held 2 of 3 ─▶ runs ─▶ GiveBack ─▶ "others wait": their pools ask again
//   pool b ─ TryTake ─▶ needs 2: waits, in its turn
//   pool c ─ TryTake ─▶ needs 1, which there is; but b shares it and is before c: waits
//
// A claim takes all that it needs at once, or nothing: so nobody holds what another waits for while
// it waits itself. The turns are those of TenantShares: of those that wait the one is first that
// has had the least, then the one that has waited longest. Who is not first takes nothing that one
// before it waits for too, so that a claim for much does not starve among claims for little.
//
// Two kinds of claims share nothing with each other, and what a batch costs differs:
//
//   of named resources  its priority: turns are counted
//   by weight           its time, by the weight: a claim takes one of the device's kWeightedLanes,
//                       and until a batch's time is known, that of the last one counts
//
// Invariants:
//   1. Of no resource more is held than there is, unless its limit was lowered meanwhile.
//   2. There is as much of each resource as the claim needs that needs the most of it.
//   3. A claim that waits is first, or waits for one that is before it, or for what is held: so it
//      has its turn after at most so many batches, each of which ends or is killed.
class ResourceTable {
 public:
  // The name of what claims by weight take one of. No config can name a resource so.
  static constexpr std::string_view kWeightedLanes = "weighted lanes";

  explicit ResourceTable(ResourceLimits limits = {}, DeviceLimits devices = {});
  ~ResourceTable();

  // How much there is from now on. What is held already stays held.
  void SetLimits(ResourceLimits limits, DeviceLimits devices) ABSL_LOCKS_EXCLUDED(mu_);

  // The claim of one pool's `lanes` on one device. REQUIRES: `needs` are not empty.
  ResourceClaim* Enter(const LaneNeeds& needs, const std::string& device, uint32_t lanes)
      ABSL_LOCKS_EXCLUDED(mu_);

  // REQUIRES: the claim holds nothing.
  void Leave(ResourceClaim* claim) ABSL_LOCKS_EXCLUDED(mu_);

  // Takes what one batch needs. False: nothing was taken, and the claim waits from now on.
  bool TryTake(ResourceClaim* claim) ABSL_LOCKS_EXCLUDED(mu_);

  // Gives back what one batch has held for `lane_ns`. REQUIRES: the claim holds it.
  void GiveBack(ResourceClaim* claim, int64_t lane_ns) ABSL_LOCKS_EXCLUDED(mu_);

  // Gives back what one batch has taken that does not begin after all: the batch does not count as
  // a turn. True: a claim has begun to wait meanwhile, so that others may have to be asked again.
  // REQUIRES: the claim holds it.
  bool PutBack(ResourceClaim* claim) ABSL_LOCKS_EXCLUDED(mu_);

  // The claim has nothing to run any more, and keeps nobody from its turn.
  void StopWaiting(ResourceClaim* claim) ABSL_LOCKS_EXCLUDED(mu_);

  // True while a claim waits. To be asked after each success of those above: what one took or
  // left may be what another has waited for.
  bool has_waiting() const { return waiting_.load(std::memory_order_relaxed) > 0; }

  // All resources, by name and device.
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
  // What the batch was charged.
  int64_t Free(ResourceClaim* claim) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FitLimits() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  uint32_t FreeNumber() const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  std::atomic<uint32_t> waiting_{0};  // claims

  mutable absl::Mutex mu_;
  ResourceLimits limits_ ABSL_GUARDED_BY(mu_);
  DeviceLimits devices_ ABSL_GUARDED_BY(mu_);
  std::map<Key, Resource> resources_ ABSL_GUARDED_BY(mu_);  // that a claim needs
  std::vector<std::unique_ptr<ResourceClaim>> claims_ ABSL_GUARDED_BY(mu_);
  // By ResourceClaim::number: of the claims for named resources, and of those by weight, by device.
  TenantShares turns_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, TenantShares> turns_on_ ABSL_GUARDED_BY(mu_);
  uint64_t waits_begun_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace mpsd
