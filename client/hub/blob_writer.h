// BlobWriter: writes a file that arrives in pieces, and computes its id meanwhile.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "client/hub/piece_pool.h"

struct evp_md_ctx_st;

namespace mpsd::hub {

// SHA-256 if `id` has 64 digits, else git's id: SHA-1 of a line with the size and of the content.
// Owned by one transfer. Thread-compatible.
class ContentHash {
 public:
  // The content should have the `id`; `bytes` is its whole size.
  ContentHash(absl::string_view id, uint64_t bytes);
  ~ContentHash();

  void Add(absl::string_view piece);

  // The id has hexadecimal digits. REQUIRES: called once, and last.
  std::string Finish();

 private:
  evp_md_ctx_st* const context_;
};

// The caller writes a piece, and the thread `hub-hash` hashes it while the next arrives: a hash
// costs as much as all the rest. Owned by one transfer. Thread-compatible.
class BlobWriter {
 public:
  // The file has `from` bytes already, which are hashed first. Borrows `fd` and `pool`. All `bytes`
  // should have the `id`.
  BlobWriter(int fd, uint64_t from, const std::string& id, uint64_t bytes, PiecePool* pool);
  ~BlobWriter();

  // The piece's memory goes to the pool. Waits while many pieces are unhashed. DATA_LOSS for a full
  // disk, for example.
  absl::Status Add(std::string piece);

  // REQUIRES: called once, and last.
  absl::StatusOr<std::string> Finish();

 private:
  void Work();
  absl::Status HashBegin();
  absl::Status Write(absl::string_view piece);
  bool HasWorkOrEnds() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return !pieces_.empty() || ends_;
  }
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const int fd_;
  const uint64_t from_;
  PiecePool* const pool_;
  uint64_t offset_;       // where the next piece goes
  uint64_t disk_offset_;  // the disk has begun to write before it
  ContentHash hash_;      // the thread's until it has ended
  absl::Mutex mu_;
  std::deque<std::string> pieces_ ABSL_GUARDED_BY(mu_);
  bool ends_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace mpsd::hub
