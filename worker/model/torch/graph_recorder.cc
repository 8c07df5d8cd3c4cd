#include "worker/model/torch/graph_recorder.h"

#include <dlfcn.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"
#include "worker/model/shared_library.h"

namespace mpsd {
namespace {

NewGraphRecorder* FindMaker() {
  return reinterpret_cast<NewGraphRecorder*>(dlsym(RTLD_DEFAULT, kNewGraphRecorder));
}

}  // namespace

absl::Status OpenCudaRecorder() {
  const absl::StatusOr<std::string> program = platform::ExecutablePath();
  if (!program.ok()) return program.status();
  const std::string folder = program->substr(0, program->rfind('/') + 1);
  if (absl::Status status = LoadForGood(absl::StrCat(folder, kCudaGraphsLibrary).c_str());
      !status.ok()) {
    return status;
  }
  if (FindMaker() != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(kCudaGraphsLibrary, " is of another build"));
}

std::unique_ptr<GraphRecorder> NewCudaRecorder() {
  NewGraphRecorder* const make = FindMaker();
  MPSD_CHECK(make != nullptr);
  return std::unique_ptr<GraphRecorder>(make());
}

}  // namespace mpsd
