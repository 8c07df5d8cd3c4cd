// mpsd-micro-bench: the cost of single parts of a request's path, on one core.
//
// Run with:
//   mpsd-micro-bench --benchmark_filter=Decide

#include <benchmark/benchmark.h>

BENCHMARK_MAIN();
