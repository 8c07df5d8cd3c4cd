#include "worker/model/torch/profiler_objection.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

constexpr const char* kProfilerVariables[] = {"PYTORCH_MPS_TRACE_SIGNPOSTS",
                                              "PYTORCH_MPS_LOG_PROFILE_INFO"};

}  // namespace

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

}  // namespace mpsd
