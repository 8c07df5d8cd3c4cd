#include "server/pool/resources/resource_table.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "proto/base/check.h"

namespace mpsd {

// Guarded by the table's mutex.
struct ResourceClaim {
  struct Need {
    std::pair<std::string, std::string> key;
    uint32_t count = 0;
  };

  std::vector<Need> needs;
  TenantShares* turns = nullptr;  // shares that its number belongs to
  uint32_t number = 0;            // unique among the present claims
  uint32_t lanes = 1;
  uint32_t weight = 0;   // 0: it needs named resources
  int64_t cost = 0;      // cost of its next batch
  int64_t charged = 0;   // total charge of `batches`
  uint32_t batches = 0;  // batches whose resources it holds
  bool waits = false;
  uint64_t waits_since = 0;  // value of waits_begun_ when its wait began
  uint64_t taken_at = 0;     // value of waits_begun_ when it last took resources

  void Charge() {
    turns->Charge(number, cost);
    charged += cost;
    ++batches;
  }

  // Ends one of the batches and returns its charge. That is the average, so that in the end every
  // charge is returned once.
  int64_t EndOne() {
    const int64_t one = charged / batches;
    charged -= one;
    --batches;
    return one;
  }

  bool Shares(const ResourceClaim& other) const {
    return std::any_of(needs.begin(), needs.end(), [&other](const Need& need) {
      return std::any_of(other.needs.begin(), other.needs.end(),
                         [&need](const Need& theirs) { return theirs.key == need.key; });
    });
  }
};

ResourceTable::ResourceTable(ResourceLimits limits, DeviceLimits devices)
    : limits_(std::move(limits)), devices_(std::move(devices)) {}

ResourceTable::~ResourceTable() { MPSD_CHECK(claims_.empty()); }

void ResourceTable::SetLimits(ResourceLimits limits, DeviceLimits devices) {
  absl::MutexLock lock(&mu_);
  limits_ = std::move(limits);
  devices_ = std::move(devices);
  FitLimits();
}

ResourceClaim* ResourceTable::Enter(const LaneNeeds& needs, const std::string& device,
                                    uint32_t lanes) {
  MPSD_CHECK(!needs.empty());
  absl::MutexLock lock(&mu_);
  auto claim = std::make_unique<ResourceClaim>();
  claim->number = FreeNumber();
  claim->lanes = lanes;
  claim->weight = needs.weight;
  claim->turns = needs.weight > 0 ? &turns_on_[device] : &turns_;
  claim->turns->Restart(claim->number);
  claim->cost = needs.weight > 0 ? 0 : needs.priority;
  if (needs.weight > 0) claim->needs.push_back({{std::string(kWeightedLanes), device}, 1});
  for (const ResourceNeed& need : needs.resources) {
    claim->needs.push_back({{need.name, need.is_global ? "" : device}, need.count});
  }
  claims_.push_back(std::move(claim));
  FitLimits();
  return claims_.back().get();
}

uint32_t ResourceTable::FreeNumber() const {
  uint32_t number = 0;
  const auto has_it = [&number](const auto& claim) { return claim->number == number; };
  while (std::any_of(claims_.begin(), claims_.end(), has_it)) ++number;
  return number;
}

void ResourceTable::Leave(ResourceClaim* claim) {
  absl::MutexLock lock(&mu_);
  MPSD_CHECK(claim->batches == 0);
  SetWaiting(claim, false);
  std::erase_if(claims_, [claim](const auto& other) { return other.get() == claim; });
  FitLimits();
}

// A limit below `least`, the need of a single claim, would block that claim for ever.
uint64_t ResourceTable::LimitOf(const Key& key, uint64_t least) const {
  const bool by_weight = key.first == kWeightedLanes;
  const auto& limits = by_weight ? devices_ : limits_;
  const auto limit = limits.find(by_weight ? key.second : key.first);
  if (limit != limits.end()) return std::max<uint64_t>(least, limit->second);
  if (!by_weight) return least;
  // Every claim by weight on the device takes one of these lanes.
  for (const auto& claim : claims_) {
    if (claim->needs.front().key == key) least = std::max<uint64_t>(least, claim->lanes);
  }
  return least;
}

void ResourceTable::FitLimits() {
  std::map<Key, Resource> fitted;
  for (const auto& claim : claims_) {
    for (const ResourceClaim::Need& need : claim->needs) {
      Resource& resource = fitted[need.key];
      resource.limit = std::max<uint64_t>(resource.limit, need.count);
    }
  }
  for (auto& [key, resource] : fitted) {
    resource.limit = LimitOf(key, resource.limit);
    const auto before = resources_.find(key);
    if (before != resources_.end()) resource.held = before->second.held;
  }
  resources_ = std::move(fitted);
}

bool ResourceTable::TryTake(ResourceClaim* claim) {
  absl::MutexLock lock(&mu_);
  if (!claim->waits) claim->turns->Enter(claim->number);
  if (!Fits(*claim) || HasOthersBefore(*claim)) {
    if (!claim->waits) claim->waits_since = ++waits_begun_;
    SetWaiting(claim, true);
    return false;
  }
  for (const ResourceClaim::Need& need : claim->needs) resources_.at(need.key).held += need.count;
  claim->Charge();
  claim->taken_at = waits_begun_;
  SetWaiting(claim, false);
  return true;
}

bool ResourceTable::Fits(const ResourceClaim& claim) const {
  for (const ResourceClaim::Need& need : claim.needs) {
    const Resource& resource = resources_.at(need.key);
    if (resource.held + need.count > resource.limit) return false;
  }
  return true;
}

bool ResourceTable::HasOthersBefore(const ResourceClaim& claim) const {
  for (const auto& other : claims_) {
    const bool waits_too = other.get() != &claim && other->waits && other->Shares(claim);
    if (waits_too && IsBefore(*other, claim)) return true;
  }
  return false;
}

bool ResourceTable::IsBefore(const ResourceClaim& claim, const ResourceClaim& other) const {
  const auto turn = [](const ResourceClaim& asks) {
    return std::tuple(asks.turns->served_ns(asks.number),
                      asks.waits ? asks.waits_since : std::numeric_limits<uint64_t>::max());
  };
  return turn(claim) < turn(other);
}

void ResourceTable::SetWaiting(ResourceClaim* claim, bool waits) {
  if (claim->waits == waits) return;
  claim->waits = waits;
  waits ? waiting_.fetch_add(1, std::memory_order_relaxed)
        : waiting_.fetch_sub(1, std::memory_order_relaxed);
}

void ResourceTable::GiveBack(ResourceClaim* claim, int64_t lane_ns) {
  absl::MutexLock lock(&mu_);
  const int64_t charged = Free(claim);
  if (claim->weight == 0) return;
  claim->cost = lane_ns / claim->weight;
  claim->turns->Refund(claim->number, charged - claim->cost);
}

bool ResourceTable::PutBack(ResourceClaim* claim) {
  absl::MutexLock lock(&mu_);
  claim->turns->Refund(claim->number, Free(claim));
  return waits_begun_ != claim->taken_at;
}

int64_t ResourceTable::Free(ResourceClaim* claim) {
  MPSD_CHECK(claim->batches > 0);
  for (const ResourceClaim::Need& need : claim->needs) {
    Resource& resource = resources_.at(need.key);
    MPSD_CHECK(resource.held >= need.count);
    resource.held -= need.count;
  }
  return claim->EndOne();
}

void ResourceTable::StopWaiting(ResourceClaim* claim) {
  absl::MutexLock lock(&mu_);
  SetWaiting(claim, false);
}

std::vector<ResourceSample> ResourceTable::Samples() const {
  std::vector<ResourceSample> samples;
  absl::ReaderMutexLock lock(&mu_);
  for (const auto& named : resources_) {
    const Key& key = named.first;
    const Resource& resource = named.second;
    const auto waits_for_it = [&key](const auto& claim) {
      return claim->waits && std::any_of(claim->needs.begin(), claim->needs.end(),
                                         [&key](const auto& need) { return need.key == key; });
    };
    const auto waiting = std::count_if(claims_.begin(), claims_.end(), waits_for_it);
    samples.push_back(
        {key.first, key.second, resource.limit, resource.held, static_cast<uint64_t>(waiting)});
  }
  return samples;
}

}  // namespace mpsd
