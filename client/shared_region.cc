#include "client/shared_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/check.h"
#include "proto/base/fd.h"

namespace mpsd::client {
namespace {

constexpr absl::Duration kFarewell = absl::Seconds(1);

// At most 31 bytes, for macOS.
std::string RandomKey() {
  std::random_device dice;
  return absl::StrCat("/mpsd-", absl::Hex(dice()), absl::Hex(dice()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedRegion>> SharedRegion::Create(Client* client,
                                                                   const std::string& name,
                                                                   uint64_t bytes,
                                                                   absl::Time deadline) {
  std::unique_ptr<SharedRegion> region(new SharedRegion(client, name));
  if (absl::Status status = region->Map(bytes); !status.ok()) return status;
  absl::Status status = client->RegisterRegion(name, region->key_, bytes, deadline);
  if (!status.ok()) return status;
  region->registered_ = true;
  return region;
}

absl::Status SharedRegion::Map(uint64_t bytes) {
  if (bytes == 0) return absl::InvalidArgumentError("a region has at least one byte");
  const std::string key = RandomKey();
  const UniqueFd fd(shm_open(key.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
  if (!fd.valid()) return absl::ErrnoToStatus(errno, "cannot make shared memory");
  key_ = key;
  if (ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return absl::ErrnoToStatus(errno, "cannot size shared memory");
  }
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) return absl::ErrnoToStatus(errno, "cannot map shared memory");
  data_ = static_cast<char*>(data);
  bytes_ = bytes;
  return absl::OkStatus();
}

SharedRegion::~SharedRegion() {
  // A server that has lost the connection has dropped the region already.
  if (registered_) client_->UnregisterRegion(name_, absl::Now() + kFarewell).IgnoreError();
  if (data_ != nullptr) munmap(data_, bytes_);
  if (!key_.empty()) shm_unlink(key_.c_str());
}

RegionRange SharedRegion::Range(uint64_t offset, uint64_t bytes) const {
  MPSD_CHECK(offset <= bytes_ && bytes <= bytes_ - offset);
  return {name_, offset, bytes};
}

}  // namespace mpsd::client
