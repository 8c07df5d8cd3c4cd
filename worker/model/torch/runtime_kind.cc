#include "worker/model/torch/runtime_kind.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

// Mangled names, each of a symbol that only one kind of libtorch has.
constexpr const char* kPatchedPool = "_ZN2at3mps13MPSStreamPool8instanceEv";
constexpr const char* kUpstreamPool = "_ZN2at3mps17getStreamFromPoolEv";
constexpr const char* kUpstreamStreamById = "_ZN2at3mps13getStreamByIDEx";

// The published measurements of the patched build show a gain up to this many lanes.
constexpr uint32_t kPatchedLanes = 2;

constexpr const char* kProfilerVariables[] = {"PYTORCH_MPS_TRACE_SIGNPOSTS",
                                              "PYTORCH_MPS_LOG_PROFILE_INFO"};

}  // namespace

const char* RuntimeKindName(RuntimeKind kind) {
  switch (kind) {
    case RuntimeKind::kStock:
      return "stock";
    case RuntimeKind::kPatched:
      return "patched";
    case RuntimeKind::kUpstreamPool:
      return "upstream_pool";
    case RuntimeKind::kUpstreamGuard:
      return "upstream_guard";
  }
  return "";
}

RuntimeKind DetectRuntimeKind(SymbolLookup has_symbol) {
  if (has_symbol(kPatchedPool)) return RuntimeKind::kPatched;
  if (has_symbol(kUpstreamStreamById)) return RuntimeKind::kUpstreamGuard;
  if (has_symbol(kUpstreamPool)) return RuntimeKind::kUpstreamPool;
  return RuntimeKind::kStock;
}

uint32_t LanesAllowed(absl::string_view device, RuntimeKind kind, const Census& census,
                      uint32_t wanted, std::string* why) {
  if (!absl::StartsWith(device, "mps") || wanted <= 1) return wanted;
  if (kind != RuntimeKind::kPatched) {
    *why = absl::StrCat("on mps a ", RuntimeKindName(kind), " libtorch is safe with one lane only");
    return 1;
  }
  if (!census.known || census.layer_norm > 0 || census.attention > 0) {
    *why = census.known ? "its layer_norm and attention operators need a lane of their own on mps"
                        : "its operators are not known, which on mps allows one lane";
    return 1;
  }
  if (wanted > kPatchedLanes) *why = absl::StrCat("mps is served with ", kPatchedLanes, " lanes");
  return std::min(wanted, kPatchedLanes);
}

std::string ProfilerObjection(absl::string_view device, uint32_t lanes,
                              absl::FunctionRef<const char*(const char*)> variable) {
  if (!absl::StartsWith(device, "mps") || lanes <= 1) return "";
  for (const char* name : kProfilerVariables) {
    const char* value = variable(name);
    if (value == nullptr || absl::string_view(value).empty() || absl::string_view(value) == "0") {
      continue;
    }
    return absl::StrCat(name, " turns the MPS profiler on, which is not safe with ", lanes,
                        " lanes; unset it, or set placement.lanes to 1");
  }
  return "";
}

MpsWatermarks DivideWatermarks(uint32_t share_percent) {
  const double share = std::clamp(share_percent, 1U, 100U) / 100.0;
  return {absl::StrCat(share * 0.75), absl::StrCat(share * 0.95)};
}

}  // namespace mpsd
