// ClientRegion: a range of a client's shared-memory object, which the client has registered.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/base/platform.h"

namespace mpsd {

// What a client said of it.
struct RegionSpec {
  std::string name;     // what its requests call it
  std::string key;      // the object's, with which it is opened
  uint64_t offset = 0;  // into the object
  uint64_t bytes = 0;
};

// Thread-safe. Shared by the table of regions and by the requests that use it: memory that was
// unregistered stays until these have ended. It is copied from and to, never mapped: what the
// client does to the object meanwhile is an error of the requests that use it, and no more.
class ClientRegion {
 public:
  // Opens the object. INVALID_ARGUMENT, in the client's words, when there is none of that key or
  // it does not hold the range.
  static absl::StatusOr<ClientRegion> Open(RegionSpec spec);

  const RegionSpec& spec() const { return spec_; }

  // Whether both have a byte of one object.
  bool Overlaps(const ClientRegion& other) const;

  // INVALID_ARGUMENT unless the range lies in the region.
  absl::Status CheckRange(uint64_t offset, uint64_t bytes) const;

  // INVALID_ARGUMENT when the object does not hold the range any more. REQUIRES: it lies in the
  // region.
  absl::Status Read(uint64_t offset, absl::Span<char> target) const;
  absl::Status Write(uint64_t offset, absl::Span<const char> source) const;

 private:
  ClientRegion(RegionSpec spec, platform::NamedMemory memory)
      : spec_(std::move(spec)), memory_(std::move(memory)) {}

  RegionSpec spec_;
  platform::NamedMemory memory_;
};

}  // namespace mpsd
