// Delays: how late the stand-in's gpu is.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace mpsd::standin {

// A sequence of delays, drawn from a seed. Most are short, one in eight is up to the longest, so
// that one queue often overtakes another. Thread-compatible.
class Delays {
 public:
  Delays(uint64_t seed, uint32_t longest_us) : random_(seed), longest_us_(longest_us) {}

  // Draws for the process: MPSD_STANDIN_SEED (1), MPSD_STANDIN_DELAY_US (300). Each queue of the
  // process has its own `number`.
  static Delays OfProcess(uint64_t number);

  std::chrono::microseconds Next();

 private:
  std::mt19937_64 random_;
  const uint32_t longest_us_;
};

}  // namespace mpsd::standin
