// foreign_errors: the one place where exceptions of libtorch and of the standard library become a
// Status.
#pragma once

#include <exception>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// The part of a foreign exception's text that says why: one line, at most 400 bytes, without the
// tracebacks of C++ and TorchScript. It may hold paths, so it is for the operator.
std::string MeaningfulLine(absl::string_view what);

// "PyTorch execute failure: …" with the same line, fit for a client: without paths.
// RESOURCE_EXHAUSTED when the text says that memory did not suffice; DATA_LOSS when it is one that
// a CUDA device gives once it answers nothing more to this process; INTERNAL otherwise.
absl::Status ExecuteFailure(absl::string_view what);

// Calls `function`, which returns a Status. If it throws, returns failure(text of the exception)
// instead; `failure` must not throw. Every call into libtorch goes through here, so no exception
// leaves a Model. Thread-safe.
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

// The same, with ExecuteFailure() for the exception's text.
template <typename Function>
absl::Status CatchForeign(const Function& function) {
  return CatchForeign(function, [](absl::string_view what) { return ExecuteFailure(what); });
}

}  // namespace mpsd
