// StartProgress: progress lines for a person while the models load. Pure.
//
//   loading bert and 1 more (1 of 3 done), 2 s
//   loading bert (2 of 3 done), 4 s
//
// Plain lines, the same on a terminal and in a file. The first comes after two seconds. The next
// one comes after half of the time so far, but within a minute. So a start of an hour has some
// seventy lines, and one of ten seconds four.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/base/clock.h"

namespace mpsd {

inline constexpr int64_t kFirstProgressNs = 2 * kNsPerSecond;
inline constexpr int64_t kLastProgressNs = 60 * kNsPerSecond;

// Made by main when the workers start, used until the models are settled. Thread-compatible.
class StartProgress {
 public:
  // `models` are all that start.
  StartProgress(size_t models, int64_t now_ns) : models_(models), since_ns_(now_ns) {}

  // The line due now, with its line break; empty if none is. `loading` are the models that are not
  // settled.
  std::string LineAt(int64_t now_ns, const std::vector<std::string>& loading);

 private:
  const size_t models_;
  const int64_t since_ns_;
  int64_t next_after_ns_ = kFirstProgressNs;
};

}  // namespace mpsd
