#include "worker/model/torch/mps_watermarks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace mpsd {

MpsWatermarks DivideWatermarks(uint32_t share_percent) {
  const double share = std::clamp(share_percent, 1U, 100U) / 100.0;
  return {absl::StrCat(share * 0.75), absl::StrCat(share * 0.95)};
}

}  // namespace mpsd
