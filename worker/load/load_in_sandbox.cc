#include "worker/load/load_in_sandbox.h"

#include "proto/base/failpoint.h"
#include "worker/load/load_model.h"
#include "worker/sandbox/sandbox.h"

namespace mpsd {

absl::StatusOr<std::unique_ptr<Model>> LoadInSandbox(const LoadOrder& order) {
  const absl::StatusOr<Sandbox> sandbox = Sandbox::Enter(Sandbox::OptionsOf(order));
  if (!sandbox.ok()) return sandbox.status();
  if (absl::Status status = StartRuntime(order); !status.ok()) return status;
  if (absl::Status status = sandbox->Seal(); !status.ok()) return status;
  MPSD_FAILPOINT("worker.at_load");
  return LoadModel(order);
}

}  // namespace mpsd
