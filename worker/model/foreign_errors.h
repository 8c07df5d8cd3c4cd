// The one place where exceptions of libtorch and of the standard library become a Status.
#pragma once

#include <exception>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// What of a foreign exception's text is worth reading: one line, at most 400 bytes, without the
// tracebacks of C++ and TorchScript.
std::string MeaningfulLine(absl::string_view what);

// "PyTorch execute failure: …", fit for a client: as above, and without paths. INTERNAL, but
// RESOURCE_EXHAUSTED where memory did not suffice, and DATA_LOSS where the text is one of a device
// that answers nothing more to this process.
absl::Status ExecuteFailure(absl::string_view what);

// Calls `function`, which returns a Status; what it throws is given to `failure`, which makes a
// Status of it. Thread-safe.
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

template <typename Function>
absl::Status CatchForeign(const Function& function) {
  return CatchForeign(function, [](absl::string_view what) { return ExecuteFailure(what); });
}

}  // namespace mpsd
