// mpsd-micro-bench: the cost of single parts of a request's path, on one core and without a server.
//
// Run with:
//   mpsd-micro-bench --benchmark_min_time=0.5
//   mpsd-micro-bench --benchmark_filter=Decide

#include <benchmark/benchmark.h>

BENCHMARK_MAIN();
