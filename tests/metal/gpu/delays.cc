#include "tests/metal/gpu/delays.h"

#include <cstdlib>

namespace mpsd::standin {
namespace {

constexpr uint64_t kLongOnes = 8;   // one delay in so many is long
constexpr uint64_t kShortPart = 8;  // the longest delay is so many times the short one

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

Delays Delays::OfProcess(uint64_t number) {
  const uint64_t seed = FromEnvironment("MPSD_STANDIN_SEED", 1);
  return Delays(seed * 1000 + number,
                static_cast<uint32_t>(FromEnvironment("MPSD_STANDIN_DELAY_US", 300)));
}

std::chrono::microseconds Delays::Next() {
  const bool is_long = random_() % kLongOnes == 0;
  const uint64_t most = is_long ? longest_us_ : longest_us_ / kShortPart;
  return std::chrono::microseconds(random_() % (most + 1));
}

}  // namespace mpsd::standin
