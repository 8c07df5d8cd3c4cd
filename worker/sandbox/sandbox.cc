#include "worker/sandbox/sandbox.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/confine/own_rights.h"
#include "worker/sandbox/confinement.h"

namespace mpsd {
namespace {

// A basic sandbox logs what the host cannot do.
absl::Status Tolerate(SandboxLevel level, const absl::Status& status) {
  if (status.ok()) return status;
  const std::string text(status.message());
  if (level == SandboxLevel::kStrict) {
    return absl::FailedPreconditionError(
        absl::StrCat("sandbox: ", text, "; the level 'strict' requires it"));
  }
  std::fprintf(stderr, "sandbox: %s; going on without it\n", text.c_str());
  return absl::OkStatus();
}

}  // namespace

SandboxOptions Sandbox::OptionsOf(const LoadOrder& order) {
  SandboxOptions options;
  options.level = order.sandbox;
  options.model_file = order.file();
  options.device = order.format == ModelFormat::kSynthetic ? "cpu" : order.device;
  if (const char* folder = std::getenv("TMPDIR"); folder != nullptr) {
    options.temporary_folder = folder;
  }
  return options;
}

absl::StatusOr<Sandbox> Sandbox::Enter(SandboxOptions options) {
  Sandbox sandbox(std::move(options));
  const SandboxLevel level = sandbox.options_.level;
  if (level == SandboxLevel::kOff) return sandbox;
  // The device's compiler caches in the home folder, which is now out of reach.
  const std::string cache = sandbox.options_.temporary_folder + "/cuda-cache";
  setenv("CUDA_CACHE_PATH", cache.c_str(), /*replace=*/1);
  absl::Status status = Tolerate(level, ConfineFiles(sandbox.options_));
  if (!status.ok()) return status;
  return sandbox;
}

absl::Status Sandbox::Seal() const {
  if (options_.level == SandboxLevel::kOff) return absl::OkStatus();
  const DeniedCalls denied{options_.device == "cpu", options_.level == SandboxLevel::kStrict};
  return Tolerate(options_.level, SealCalls(denied));
}

}  // namespace mpsd
