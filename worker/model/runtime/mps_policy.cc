#include "worker/model/runtime/mps_policy.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

struct Kind {
  const char* name;
  uint32_t count;
};

// Operators in the census that several threads must not run at once.
std::string UnsafeKinds(RuntimeKind kind, const Census& census) {
  const Kind kinds[] = {{"layer_norm", census.layer_norm},   {"attention", census.attention},
                        {"linear", census.linear},           {"matmul", census.matmul},
                        {"convolution", census.convolution}, {"recurrent", census.recurrent}};
  const size_t considered = kind == RuntimeKind::kPatched ? 2 : std::size(kinds);
  std::string unsafe;
  for (size_t i = 0; i < considered; ++i) {
    if (kinds[i].count > 0) absl::StrAppend(&unsafe, unsafe.empty() ? "" : ", ", kinds[i].name);
  }
  return unsafe;
}

}  // namespace

uint32_t LanesAllowed(absl::string_view device, RuntimeKind kind, const Census& census,
                      uint32_t wanted, std::string* why) {
  if (!absl::StartsWith(device, "mps") || wanted <= 1) return wanted;
  if (kind != RuntimeKind::kPatched && kind != RuntimeKind::kUpstreamGuard) {
    *why = absl::StrCat("on mps a ", NameOf(kind), " libtorch is safe with one lane only");
    return 1;
  }
  if (!census.known) {
    *why = "its operators are not known, which on mps allows one lane";
    return 1;
  }
  if (const std::string unsafe = UnsafeKinds(kind, census); !unsafe.empty()) {
    *why = absl::StrCat("operators of ", unsafe, " allow one lane on mps with a libtorch of kind ",
                        NameOf(kind));
    return 1;
  }
  const uint32_t most = kind == RuntimeKind::kPatched ? kMostPatchedMpsLanes : kMpsLanes;
  if (wanted > most) *why = absl::StrCat("mps is served with ", most, " lanes");
  return std::min(wanted, most);
}

bool NeedsCheck(absl::string_view device, RuntimeKind kind) {
  return absl::StartsWith(device, "mps") && kind == RuntimeKind::kUpstreamGuard;
}

MpsWatermarks DivideWatermarks(uint32_t share_percent) {
  const double share = std::clamp(share_percent, 1U, 100U) / 100.0;
  return {absl::StrCat(share * 0.75), absl::StrCat(share * 0.95)};
}

}  // namespace mpsd
