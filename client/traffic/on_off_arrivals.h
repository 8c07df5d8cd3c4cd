// OnOffArrivals: times that come for a while, then not at all for a while, again and again.
//
//   inner    │ ││  │ │││  │ │ ││               its time stands still while it is off
//   times    │ ││  │      │││  │      │ ││
//            ╰─ on ─╯─off─╰─ on ─╯─off─╰─ on
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "client/traffic/arrivals.h"
#include "proto/base/check.h"

namespace mpsd::traffic {

// Begins with times. Thread-compatible.
class OnOffArrivals final : public Arrivals {
 public:
  // The mean rate is `inner`'s times on / (on + off). REQUIRES: both are above 0.
  OnOffArrivals(std::unique_ptr<Arrivals> inner, int64_t on_ns, int64_t off_ns)
      : inner_(std::move(inner)), on_ns_(on_ns), off_ns_(off_ns) {
    MPSD_CHECK(on_ns > 0);
    MPSD_CHECK(off_ns > 0);
  }

  int64_t NextNs() override {
    const int64_t on_until_now_ns = inner_->NextNs();
    const int64_t pauses = on_until_now_ns / on_ns_;
    if (pauses > (kFarthestNs - on_until_now_ns) / off_ns_) return kFarthestNs;
    return on_until_now_ns + pauses * off_ns_;
  }

 private:
  const std::unique_ptr<Arrivals> inner_;
  const int64_t on_ns_;
  const int64_t off_ns_;
};

}  // namespace mpsd::traffic
