// LoadInSandbox: loads a model where its code can do no harm.
//
// A worker first does this with its LoadOrder; its binary has no other way to a model. The order of
// the steps is the point of this file:
//
//   Sandbox::Enter   Confines files, while the process still has one thread.
//   StartRuntime     Starts libtorch and the device, with calls that a model does not need.
//   Sandbox::Seal    Seals system calls, in all threads.
//   LoadModel        Only now opens the model's file, which is code.
//
// This is a source file of its own, so that tests can link it with another LoadModel(), whose model
// tries to break out (tests/fakes/misbehaving_model.cc).
#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "proto/link/messages.h"
#include "worker/model/model.h"

namespace mpsd {

// Does the steps above, and returns the first error. A sandbox of the level basic never fails
// (worker/sandbox/sandbox.h). FAILED_PRECONDITION when the model's file is not the file that the
// order was made for: two versions of a model must not answer as one. The sandbox takes rights away
// for the life of the process, even if loading fails. The text of an error is for the operator.
//
// `files` are the descriptors that came with the order, if any. The model is loaded from them, so
// the files are right even if others have their names by now. Nothing is read from a descriptor
// that cannot be used, or whose file was rewritten.
//
// Called once, on the main thread, before any other thread starts. Blocks for the whole loading:
// seconds, or minutes for a large model.
absl::StatusOr<std::unique_ptr<Model>> LoadInSandbox(LoadOrder order,
                                                     std::vector<UniqueFd> files = {});

// Whether another process would fail in the same way, because the order, the model's file or the
// host is at fault. The status is that of LoadInSandbox() or of a warm-up. An unreadable
// file, a lack of memory or a silent device may be cured for the next process. Pure.
bool IsLasting(const absl::Status& status);

}  // namespace mpsd
