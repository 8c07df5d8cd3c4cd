#include "proto/base/clock.h"

#include <ctime>

namespace mpsd {
namespace {

class RealClock final : public Clock {
 public:
  int64_t NowNs() const override {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * kNsPerSecond + now.tv_nsec;
  }
};

}  // namespace

const Clock* Clock::Real() {
  static const RealClock clock;
  return &clock;
}

}  // namespace mpsd
