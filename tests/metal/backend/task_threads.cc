// libtorch's threads for the tasks of a model, which its source has for mps alone in one place. The
// functions replace the package's own, which are compiled without USE_MPS.
#include <ATen/ATen.h>
#include <c10/core/thread_pool.h>

// The package has registered its pool of threads under that name.
#undef C10_REGISTER_CREATOR
#define C10_REGISTER_CREATOR(...)
#include <ATen/ParallelThreadPoolNative.cpp>
