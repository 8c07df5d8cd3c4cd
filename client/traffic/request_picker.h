// RequestPicker: chooses the prepared request to send next.
//
//   shares    3      1      1          a request of share 3 is picked three times as often
//   ends      3      4      5          the first end beyond a number drawn from 0 to 5
//
// The seed decides the order, on every platform.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "client/traffic/random_draws.h"
#include "client/traffic/request_set.h"
#include "proto/base/check.h"

namespace mpsd::traffic {

// Owned by a pump. Lives on the thread that sends.
class RequestPicker {
 public:
  // REQUIRES: there is a request, and shares are above 0.
  RequestPicker(const std::vector<PreparedRequest>& requests, uint64_t seed) : bits_(seed) {
    double end = 0;
    for (const PreparedRequest& request : requests) ends_.push_back(end += request.share);
    MPSD_CHECK(end > 0);
  }

  // Returns an index.
  uint32_t Next() {
    const double drawn = DrawUnit(&bits_) * ends_.back();
    return static_cast<uint32_t>(std::upper_bound(ends_.begin(), ends_.end(), drawn) -
                                 ends_.begin());
  }

 private:
  std::mt19937_64 bits_;
  std::vector<double> ends_;
};

}  // namespace mpsd::traffic
