// PiecePool: memory for the pieces of a file that is fetched.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mpsd::hub {

// A processor's own cache holds so much.
inline constexpr size_t kPieceBytes = 256 << 10;

// Keeps memory for further pieces: fresh memory costs as much as a copy. Owned by a pull.
// Thread-safe.
class PiecePool {
 public:
  // The piece is empty, with room for kPieceBytes.
  std::string Get() {
    std::string piece;
    {
      absl::MutexLock lock(&mu_);
      if (!spare_.empty()) {
        piece = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    piece.clear();
    piece.reserve(kPieceBytes);
    return piece;
  }

  void Put(std::string piece) {
    absl::MutexLock lock(&mu_);
    spare_.push_back(std::move(piece));
  }

 private:
  absl::Mutex mu_;
  std::vector<std::string> spare_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd::hub
