// Candidate: one way to serve a model, as `mpsd tune` tries it.
//
// 0 and "" mean "as configured".
#pragma once

#include <cstdint>
#include <string>

namespace mpsd::tune {

// A model's key `placement`; 0: as configured, or "auto".
struct Placement {
  uint32_t processes = 0;
  uint32_t lanes = 0;
  uint32_t threads = 0;

  bool operator==(const Placement&) const = default;
};

struct Candidate {
  Placement placement{};
  uint32_t max_batch_size = 0;
  std::string precision{};

  bool operator==(const Candidate&) const = default;
};

// "as configured"; "1 x 4 x 2, batch 16, bf16": processes, lanes, threads and other differences.
// Pure.
std::string CandidateText(const Candidate& candidate);

}  // namespace mpsd::tune
