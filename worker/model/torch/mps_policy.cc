#include "worker/model/torch/mps_policy.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace mpsd {

uint32_t LanesAllowed(absl::string_view device, RuntimeKind kind, const Census& census,
                      uint32_t wanted, std::string* why) {
  if (!absl::StartsWith(device, "mps") || wanted <= 1) return wanted;
  if (kind != RuntimeKind::kPatched) {
    *why = absl::StrCat("on mps a ", NameOf(kind), " libtorch is safe with one lane only");
    return 1;
  }
  if (!census.known || census.layer_norm > 0 || census.attention > 0) {
    *why = census.known ? "its layer_norm and attention operators need a lane of their own on mps"
                        : "its operators are not known, which on mps allows one lane";
    return 1;
  }
  if (wanted > kPatchedMpsLanes) {
    *why = absl::StrCat("mps is served with ", kPatchedMpsLanes, " lanes");
  }
  return std::min(wanted, kPatchedMpsLanes);
}

MpsWatermarks DivideWatermarks(uint32_t share_percent) {
  const double share = std::clamp(share_percent, 1U, 100U) / 100.0;
  return {absl::StrCat(share * 0.75), absl::StrCat(share * 0.95)};
}

}  // namespace mpsd
