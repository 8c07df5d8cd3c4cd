// HostWrites: notices memory that the host changes while the gpu is to read it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tests/metal/rules/rule.h"

namespace mpsd::standin {

inline constexpr Rule kHostWrite{
    "host-write", "the host leaves a buffer alone from the commit until the gpu has read it"};

// Counts the gpu's writes to one buffer's memory, and is part of that memory. Thread-safe.
struct GpuWrites {
  std::atomic<uint64_t> committed{0};  // commands that write here
  std::atomic<uint64_t> done{0};       // the committed commands that have run
};

// The bytes that one command will read, as they were at its commit. If a command of the gpu may
// write there in between, nothing is compared. Thread-compatible; the memory outlives this object.
class HostWrites {
 public:
  HostWrites(const GpuWrites& writes, const char* data, size_t bytes);

  // Called before the command runs. Breaks the rule if only the host can have changed the bytes.
  void CheckBeforeRead() const;

 private:
  uint64_t Fingerprint() const;

  const GpuWrites& writes_;
  const char* const data_;
  const size_t bytes_;
  const uint64_t committed_before_;
  const bool is_watched_;
  const uint64_t fingerprint_;
};

}  // namespace mpsd::standin
