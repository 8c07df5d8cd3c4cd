#include "server/regions/client_region.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "proto/link/copier_records.h"

namespace mpsd {
namespace {

constexpr size_t kMaxKeyBytes = 255;

absl::Status Refused(const RegionSpec& spec, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("failed to register shared memory region '", spec.name, "': ", why));
}

// A key cannot lead out of its folder.
bool IsKey(const std::string& key) {
  return key.size() > 1 && key.size() <= kMaxKeyBytes && key.front() == '/' &&
         key.find('/', 1) == std::string::npos && key.find('\0') == std::string::npos;
}

absl::Status CheckName(const RegionSpec& spec) {
  if (!spec.name.empty() && spec.name.size() <= kMaxNameBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the name of a shared memory region has from 1 to ", kMaxNameBytes, " bytes"));
}

absl::Status FaultOf(const RegionSpec& spec, const absl::Status& status) {
  if (status.ok()) return status;
  if (absl::IsResourceExhausted(status)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there is no memory for shared memory region '", spec.name, "'"));
  }
  return absl::InvalidArgumentError(absl::StrCat("shared memory region '", spec.name,
                                                 "' is smaller than when it was registered"));
}

}  // namespace

absl::StatusOr<ClientRegion> ClientRegion::Open(RegionSpec spec) {
  if (absl::Status status = CheckName(spec); !status.ok()) return status;
  if (!IsKey(spec.key)) return Refused(spec, "a key begins with '/' and holds no other '/'");
  if (spec.bytes == 0) return Refused(spec, "its byte size is 0");
  absl::StatusOr<platform::NamedMemory> memory = platform::OpenNamedMemory(spec.key);
  if (!memory.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Unable to open shared memory region: '", spec.name, "'"));
  }
  if (spec.offset > memory->bytes || spec.bytes > memory->bytes - spec.offset) {
    return Refused(spec, "invalid args: its object is smaller than offset and byte size say");
  }
  return ClientRegion(std::move(spec), *std::move(memory));
}

absl::Status ClientRegion::CheckDevice(const RegionSpec& spec) {
  if (absl::Status status = CheckName(spec); !status.ok()) return status;
  if (spec.handle.size() != kDeviceHandleBytes) {
    return Refused(spec, absl::StrCat("a raw handle has ", kDeviceHandleBytes, " bytes"));
  }
  if (spec.bytes == 0) return Refused(spec, "its byte size is 0");
  return absl::OkStatus();
}

absl::StatusOr<ClientRegion> ClientRegion::OpenDevice(RegionSpec spec, DeviceCopier* copier) {
  const absl::StatusOr<uint64_t> region = copier->Open({spec.handle, spec.device, spec.bytes});
  if (region.ok()) return ClientRegion(std::move(spec), OpenDeviceMemory(copier, *region));
  if (!absl::IsInvalidArgument(region.status())) return region.status();
  return Refused(spec, region.status().message());
}

// One handle names one allocation of the device.
bool ClientRegion::Overlaps(const ClientRegion& other) const {
  if (is_device() != other.is_device()) return false;
  if (is_device()) return spec_.handle == other.spec_.handle;
  if (memory_.device != other.memory_.device || memory_.inode != other.memory_.inode) return false;
  return spec_.offset < other.spec_.offset + other.spec_.bytes &&
         other.spec_.offset < spec_.offset + spec_.bytes;
}

absl::Status ClientRegion::CheckRange(uint64_t offset, uint64_t bytes) const {
  if (offset > spec_.bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("Invalid offset for shared memory region: '", spec_.name, "'"));
  }
  if (bytes > spec_.bytes - offset) {
    return absl::InvalidArgumentError(
        absl::StrCat("Invalid offset + byte size for shared memory region: '", spec_.name, "'"));
  }
  return absl::OkStatus();
}

absl::Status ClientRegion::Read(uint64_t offset, absl::Span<char> target) const {
  MPSD_CHECK(CheckRange(offset, target.size()).ok());
  if (target.empty()) return absl::OkStatus();
  if (is_device()) return device_.copier()->Read(device_.region(), offset, target);
  return FaultOf(spec_, platform::ReadNamedMemory(memory_.fd.get(), spec_.offset + offset, target));
}

absl::Status ClientRegion::Write(uint64_t offset, absl::Span<const char> source) const {
  MPSD_CHECK(CheckRange(offset, source.size()).ok());
  if (source.empty()) return absl::OkStatus();
  if (is_device()) return device_.copier()->Write(device_.region(), offset, source);
  return FaultOf(spec_,
                 platform::WriteNamedMemory(memory_.fd.get(), spec_.offset + offset, source));
}

}  // namespace mpsd
