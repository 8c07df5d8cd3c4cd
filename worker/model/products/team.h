// RunInTeam: the parts of a product on several threads, and how many those are.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace mpsd {

// How many of `threads` threads a product of so many multiplications is worth.
int TeamFor(int threads, int64_t multiplications);

// Runs the parts 0 to `parts` - 1, each once, in no order, on up to `threads` threads, of which the
// calling one is one, and returns when all have run. The others are those of the OpenMP library
// that libtorch has brought, which its own products use too; without one the calling thread runs
// all parts. `run` is called by several threads at the same time, and throws nothing. Thread-safe:
// each calling thread has its own team.
void RunInTeam(int threads, int64_t parts, absl::FunctionRef<void(int64_t part)> run);

// How many threads the products of libtorch and its libraries have from now on, where the calling
// thread asks for them; at::get_num_threads() tells. at::set_num_threads() does so too, but forgets
// what convolutions have prepared, and is for the start. Thread-safe.
void SizeTeam(int threads);

}  // namespace mpsd
