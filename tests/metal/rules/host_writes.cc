#include "tests/metal/rules/host_writes.h"

#include <cstring>

namespace mpsd::standin {

HostWrites::HostWrites(const GpuWrites& writes, const char* data, size_t bytes)
    : writes_(writes),
      data_(data),
      bytes_(bytes),
      committed_before_(writes.committed.load()),
      is_watched_(writes.done.load() == committed_before_),
      fingerprint_(is_watched_ ? Fingerprint() : 0) {}

void HostWrites::CheckBeforeRead() const {
  if (!is_watched_ || writes_.committed.load() != committed_before_) return;
  if (Fingerprint() != fingerprint_) Broken(kHostWrite, "a command reads changed bytes");
}

// FNV-1a, eight bytes at a time.
uint64_t HostWrites::Fingerprint() const {
  uint64_t hash = 14695981039346656037ULL;
  for (size_t at = 0; at < bytes_; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, data_ + at, bytes_ - at < sizeof(word) ? bytes_ - at : sizeof(word));
    hash = (hash ^ word) * 1099511628211ULL;
  }
  return hash;
}

}  // namespace mpsd::standin
