// LoadInSandbox: loads a model where its code can do no harm. The order of the steps matters:
//
//   Sandbox::Enter   Confines files, while the process still has one thread.
//   StartRuntime     Starts libtorch and the device, with calls that a model does not need.
//   Sandbox::Seal    Seals system calls, in all threads.
//   LoadModel        Only now opens the model's file, which is code.
//
// Tests link this file with a LoadModel() that tries to break out
// (tests/fakes/misbehaving_model.cc).
#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "proto/link/messages.h"
#include "worker/model/model.h"

namespace mpsd {

// Returns the first error of the steps; its text is for the operator. A sandbox of the level basic
// never fails. FAILED_PRECONDITION: the model's file is not the one that the order was made for.
// The process loses its rights for good, even if loading fails.
//
// The model is loaded from `files`, the order's descriptors, if any: other files may have the names
// by now. A descriptor that cannot be used, or whose file was rewritten, is not read.
//
// Called once, on the main thread, before any other thread starts. Blocks for seconds, or minutes.
absl::StatusOr<std::unique_ptr<Model>> LoadInSandbox(LoadOrder order,
                                                     std::vector<UniqueFd> files = {});

// Whether another process would fail in the same way. `status` is from LoadInSandbox() or a
// warm-up. An unreadable file, a lack of memory or a silent device may be cured for the next
// process. Pure.
bool IsLasting(const absl::Status& status);

}  // namespace mpsd
