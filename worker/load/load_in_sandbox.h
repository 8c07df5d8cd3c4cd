// LoadInSandbox: loads a model where its code can do no harm.
//
// The first thing that a worker does with its LoadOrder, and the only way to a model in the
// worker's binary. The order of the steps is the point of this file:
//
//   Sandbox::Enter   files are confined; the process has one thread still
//   StartRuntime     libtorch and the device start, which need calls that a model does not
//   Sandbox::Seal    system calls are sealed, in all threads
//   LoadModel        only now is the model's file opened, which is code
//
// A source file of its own, so that tests can link it with another LoadModel(), whose model tries
// to break out (tests/fakes/misbehaving_model.cc).
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "worker/model/model.h"

namespace mpsd {

// Does the steps above, and returns the error of the first that fails; a sandbox of the level basic
// fails at nothing (worker/sandbox/sandbox.h). FAILED_PRECONDITION when the model's file, which is
// code, is not the one that the order was made for: two versions of a model must not answer as one.
// What the sandbox takes is gone for the life of the process, also when loading fails. The text of
// an error is for the operator.
//
// `file` is the descriptor that came with the order, if one did: the model is loaded from it, so
// that it is the right one also where another file has its name by now. Of a descriptor that cannot
// be used, or whose file was written anew, nothing is read.
//
// Called once, on the main thread, before any other thread starts. Blocks for the whole loading:
// seconds, or minutes for a large model.
absl::StatusOr<std::unique_ptr<Model>> LoadInSandbox(LoadOrder order, UniqueFd file = UniqueFd());

// Whether another process would fail alike with this error of LoadInSandbox(): the order, the
// model's file or the host is at fault. Files that cannot be read, memory that does not suffice and
// a device that does not answer may be there for the next process. Pure.
bool IsLasting(const absl::Status& status);

}  // namespace mpsd
