#include "proto/base/clock.h"

#include "proto/base/awake_time.h"

namespace mpsd {
namespace {

class RealClock final : public Clock {
 public:
  int64_t NowNs() const override { return platform::AwakeNs(); }
};

}  // namespace

const Clock* Clock::Real() {
  static const RealClock clock;
  return &clock;
}

}  // namespace mpsd
