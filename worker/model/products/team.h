// RunInTeam: runs the parts of a product on several threads, and decides how many.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace mpsd {

// How many of `threads` threads a product of `multiplications` multiplications is worth.
int TeamFor(int threads, int64_t multiplications);

// Runs the parts 0 to `parts` - 1, each once, in no order, on up to `threads` threads including the
// calling one. Returns when all parts have run. The other threads belong to the OpenMP library that
// libtorch has brought, which libtorch's own products use too. Without that library the calling
// thread runs all parts. `run` is called by several threads at the same time, and throws nothing.
// Thread-safe: each calling thread has its own team.
void RunInTeam(int threads, int64_t parts, absl::FunctionRef<void(int64_t part)> run);

// Sets how many threads the products of libtorch and its libraries use from now on, when called by
// this thread. The number is that of at::get_num_threads(). The function at::set_num_threads() does
// the same but also forgets what convolutions have prepared, so it is only for the start.
// Thread-safe.
void SizeTeam(int threads);

}  // namespace mpsd
