// RunInTeam: runs the parts of a product on several threads, and decides how many.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace mpsd {

// How many threads a product of `multiplications` is worth.
int TeamFor(int threads, int64_t multiplications);

// Runs each part from 0 to `parts` - 1 once, in no order, on up to `threads` threads including this
// one. The others are from libtorch's OpenMP library; without that library there are none. Several
// threads call `run`, which throws nothing. Thread-safe: each calling thread has its own team.
void RunInTeam(int threads, int64_t parts, absl::FunctionRef<void(int64_t part)> run);

// Sets at::get_num_threads() for this thread. The function at::set_num_threads() also forgets what
// convolutions have prepared, so that one is only for the start. Thread-safe.
void SizeTeam(int threads);

}  // namespace mpsd
