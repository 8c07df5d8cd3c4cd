// StartProgress: progress lines for a person while the models load. Pure.
//
//   loading bert and 1 more (1 of 3 done), 2 s
//   loading bert (2 of 3 done), 4 s
//
// The first comes after two seconds, the next after half of the time so far, within a minute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/base/clock.h"

namespace mpsd {

inline constexpr int64_t kFirstProgressNs = 2 * kNsPerSecond;
inline constexpr int64_t kLastProgressNs = 60 * kNsPerSecond;

// Used by main until the models are settled. Thread-compatible.
class StartProgress {
 public:
  // `models` are all that start.
  StartProgress(size_t models, int64_t now_ns) : models_(models), since_ns_(now_ns) {}

  // With its line break; empty if none is due. `loading` are not settled.
  std::string LineAt(int64_t now_ns, const std::vector<std::string>& loading);

 private:
  const size_t models_;
  const int64_t since_ns_;
  int64_t next_after_ns_ = kFirstProgressNs;
};

}  // namespace mpsd
