#include "worker/model/runtime/preflight.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

constexpr const char* kProfilerVariables[] = {"PYTORCH_MPS_TRACE_SIGNPOSTS",
                                              "PYTORCH_MPS_LOG_PROFILE_INFO"};

// "2.11.0+cu130" becomes "2.11.0".
absl::string_view Release(absl::string_view version) {
  return version.substr(0, version.find('+'));
}

// "2.11.0+cu130" becomes "2.11".
absl::string_view Minor(absl::string_view version) {
  const absl::string_view release = Release(version);
  return release.substr(0, release.find('.', release.find('.') + 1));
}

absl::Status Differs(const RuntimeFacts& facts, absl::string_view what, absl::string_view have,
                     absl::string_view want) {
  return absl::FailedPreconditionError(absl::StrCat("the libtorch in use, ", facts.library_path,
                                                    ", is ", what, " ", have, ", not ", want));
}

}  // namespace

absl::Status CheckRuntime(const RuntimeFacts& facts, const TorchOptions& expected) {
  if (!facts.loaded_version.empty() &&
      Minor(facts.loaded_version) != Minor(facts.compiled_version)) {
    return Differs(
        facts, "version", facts.loaded_version,
        absl::StrCat(facts.compiled_version, ", which mpsd-worker was compiled against"));
  }
  if (!expected.libtorch_version.empty() &&
      Release(facts.loaded_version) != Release(expected.libtorch_version)) {
    return Differs(facts, "version", facts.loaded_version, expected.libtorch_version);
  }
  if (!expected.libtorch_path.empty() &&
      !absl::StartsWith(facts.library_path, expected.libtorch_path)) {
    return absl::FailedPreconditionError(absl::StrCat("the libtorch in use is ", facts.library_path,
                                                      ", not of ", expected.libtorch_path));
  }
  if (!expected.runtime_kind.empty() && facts.kind != expected.runtime_kind) {
    return Differs(facts, "of the kind", facts.kind, expected.runtime_kind);
  }
  return absl::OkStatus();
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

}  // namespace mpsd
