#include "server/regions/client_regions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"

namespace mpsd {
namespace {

constexpr absl::Duration kBetweenSweeps = absl::Milliseconds(500);

absl::Status CheckHost(const ConnectionId& connection) {
  if (connection->is_of_this_host()) return absl::OkStatus();
  return absl::FailedPreconditionError("shared memory is registered by clients on this host");
}

}  // namespace

ClientRegions::ClientRegions(const Options& options, DeviceCopier* copier, ServerMetrics* metrics)
    : options_(options), copier_(copier), metrics_(metrics), copies_(options.held_bytes) {
  MPSD_CHECK(copier != nullptr || options.device_bytes == 0);
  if (!Takes(RegionKind::kObject) && !Takes(RegionKind::kDevice)) return;
  thread_ = std::thread([this] { Main(); });
}

ClientRegions::~ClientRegions() {
  ending_.Notify();
  if (thread_.joinable()) thread_.join();
}

void ClientRegions::Main() {
  platform::NameThread("regions");
  while (!ending_.WaitForNotificationWithTimeout(kBetweenSweeps)) Sweep();
}

absl::Status ClientRegions::Register(const ConnectionId& connection, RegionSpec spec) {
  if (absl::Status status = CheckHost(connection); !status.ok()) return status;
  absl::StatusOr<ClientRegion> opened = ClientRegion::Open(std::move(spec));
  if (!opened.ok()) return opened.status();
  return Add(connection, *std::move(opened));
}

void ClientRegions::RegisterDevice(const ConnectionId& connection, RegionSpec spec,
                                   std::function<void(const absl::Status&)> done) {
  absl::Status status = CheckHost(connection);
  if (status.ok()) status = ClientRegion::CheckDevice(spec);
  if (!status.ok()) return done(status);
  status = copier_->Enqueue([this, connection, spec = std::move(spec), done] {
    absl::StatusOr<ClientRegion> opened = ClientRegion::OpenDevice(spec, copier_);
    done(opened.ok() ? Add(connection, *std::move(opened)) : opened.status());
  });
  if (!status.ok()) done(status);
}

absl::Status ClientRegions::Add(const ConnectionId& connection, ClientRegion opened) {
  auto region = std::make_shared<const ClientRegion>(std::move(opened));
  absl::MutexLock lock(&mu_);
  const auto found = owners_.find(connection.get());
  const Owner stranger;
  const Owner& known = found == owners_.end() ? stranger : found->second;
  if (absl::Status status = CheckRoom(known, *region); !status.ok()) return status;
  Owner& owner = owners_[connection.get()];
  owner.connection = connection;
  ++region_count_;
  *TakenBytes(KindOf(*region)) += region->spec().bytes;
  owner.regions.emplace(region->spec().name, std::move(region));
  Count();
  return absl::OkStatus();
}

void ClientRegions::Forget(const ClientRegion& region) {
  MPSD_CHECK(region_count_ > 0 && *TakenBytes(KindOf(region)) >= region.spec().bytes);
  --region_count_;
  *TakenBytes(KindOf(region)) -= region.spec().bytes;
}

absl::Status ClientRegions::CheckRoom(const Owner& owner, const ClientRegion& region) const {
  const RegionSpec& spec = region.spec();
  if (owner.regions.contains(spec.name)) {
    return absl::AlreadyExistsError(
        absl::StrCat("shared memory region '", spec.name, "' already in manager"));
  }
  if (owner.regions.size() >= kMaxRegionsOfConnection || region_count_ >= kMaxRegions) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are too many shared memory regions: ", kMaxRegionsOfConnection,
                     " a connection, ", kMaxRegions, " in all"));
  }
  const uint64_t allowed = region.is_device() ? options_.device_bytes : options_.bytes;
  const uint64_t taken = region.is_device() ? device_bytes_ : region_bytes_;
  if (spec.bytes > allowed - taken) {
    return absl::ResourceExhaustedError(absl::StrCat("all ", region.is_device() ? "CUDA " : "",
                                                     "shared memory regions together may have ",
                                                     allowed, " bytes"));
  }
  for (const auto& [unused_id, other_owner] : owners_) {
    for (const auto& [unused_name, other] : other_owner.regions) {
      if (!region.Overlaps(*other)) continue;
      return absl::AlreadyExistsError(absl::StrCat("shared memory region '", spec.name,
                                                   "' overlaps another one of the same object"));
    }
  }
  return absl::OkStatus();
}

void ClientRegions::Unregister(const ConnectionId& connection, RegionKind kind,
                               absl::string_view name) {
  absl::MutexLock lock(&mu_);
  const auto owner = owners_.find(connection.get());
  if (owner == owners_.end()) return;
  auto& regions = owner->second.regions;
  for (auto region = regions.begin(); region != regions.end();) {
    const bool named = name.empty() || name == region->first;
    if (!named || KindOf(*region->second) != kind) {
      ++region;
      continue;
    }
    Forget(*region->second);
    region = regions.erase(region);
  }
  if (regions.empty()) owners_.erase(owner);
  Count();
}

absl::StatusOr<std::shared_ptr<const ClientRegion>> ClientRegions::Find(
    const ConnectionId& connection, absl::string_view name) const {
  absl::MutexLock lock(&mu_);
  const auto owner = owners_.find(connection.get());
  if (owner != owners_.end()) {
    const auto region = owner->second.regions.find(name);
    if (region != owner->second.regions.end()) return region->second;
  }
  return absl::NotFoundError(absl::StrCat("Unable to find shared memory region: '", name, "'"));
}

std::vector<std::shared_ptr<const ClientRegion>> ClientRegions::List(const ConnectionId& connection,
                                                                     RegionKind kind) const {
  std::vector<std::shared_ptr<const ClientRegion>> regions;
  absl::MutexLock lock(&mu_);
  const auto owner = owners_.find(connection.get());
  if (owner == owners_.end()) return regions;
  for (const auto& [unused, region] : owner->second.regions) {
    if (KindOf(*region) == kind) regions.push_back(region);
  }
  return regions;
}

void ClientRegions::Sweep() {
  std::vector<Owner> ended;  // closes files, after the lock is released
  absl::MutexLock lock(&mu_);
  for (auto owner = owners_.begin(); owner != owners_.end();) {
    if (owner->second.connection->is_open()) {
      ++owner;
      continue;
    }
    for (const auto& [unused, region] : owner->second.regions) Forget(*region);
    ended.push_back(std::move(owner->second));
    owners_.erase(owner++);
  }
  Count();
}

void ClientRegions::Count() {
  metrics_->client_regions.store(static_cast<int64_t>(region_count_), std::memory_order_relaxed);
  metrics_->client_region_bytes.store(static_cast<int64_t>(region_bytes_ + device_bytes_),
                                      std::memory_order_relaxed);
}

}  // namespace mpsd
