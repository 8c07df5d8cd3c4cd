// RunTogether: short threads that all exist at one time.
#pragma once

#include <cstddef>
#include <system_error>

#include "absl/functional/function_ref.h"
#include "absl/synchronization/notification.h"

namespace mpsd {

// `refusal`: why the system gave no more. A value.
struct ThreadsTogether {
  size_t count = 0;
  std::error_code refusal;
};

// As many as the system gives, up to `count`. `body` waits for `all_started` before it ends; all
// have ended on return. Thread-safe.
ThreadsTogether RunTogether(size_t count,
                            absl::FunctionRef<void(const absl::Notification& all_started)> body);

}  // namespace mpsd
