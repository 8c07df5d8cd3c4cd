// foreign_errors: the only place where exceptions of libtorch and of the standard library become a
// Status.
//
// Their texts hold tracebacks, paths and addresses. The operator wants the line that says why; a
// client, that line without anything about this host. The code decides what happens to the batch
// (worker/execute/split_policy.h):
//
//   INTERNAL             The model threw: halves run again, to find the row at fault.
//   RESOURCE_EXHAUSTED   Memory did not suffice: halves run again; later batches may be smaller.
//   DATA_LOSS            The device is lost: the worker ends, and its successor gets the batch.
#pragma once

#include <exception>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// The line of the text that says why: at most 400 bytes, without tracebacks of C++ and TorchScript.
// Never empty. It may hold paths, so it is for the operator. Thread-safe.
std::string MeaningfulLine(absl::string_view what);

// "PyTorch execute failure: …" with the same line, fit for a client: absolute paths become
// "(path)". RESOURCE_EXHAUSTED says only "out of memory". DATA_LOSS for texts of CUDA or Metal
// after which the process can no longer use the device. Thread-safe.
absl::Status ExecuteFailure(absl::string_view what);

// Calls `function`; if it throws, returns failure(text of the exception), which must not throw.
// Every call into libtorch goes through here; calls may nest. Objects that `function` made are
// destroyed before `failure` is called. Thread-safe.
//
//   return CatchForeign([&] {
//     output = module.forward(inputs);
//     return absl::OkStatus();
//   });
template <typename Function, typename Failure>
absl::Status CatchForeign(const Function& function, const Failure& failure) {
  try {
    return function();
  } catch (const std::exception& error) {
    return failure(absl::string_view(error.what()));
  } catch (...) {
    return failure(absl::string_view("an exception that is no std::exception"));
  }
}

// With ExecuteFailure().
template <typename Function>
absl::Status CatchForeign(const Function& function) {
  return CatchForeign(function, [](absl::string_view what) { return ExecuteFailure(what); });
}

}  // namespace mpsd
