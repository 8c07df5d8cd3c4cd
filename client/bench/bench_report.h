// bench_report: the output of `bench`: a line for each load as it is measured, or JSON at the end.
//
//   LOAD          OFFERED/S  ANSWERED/S       P50       P95       P99  BATCH  ERRORS
//   16 clients         3940        3940   4.03 ms   4.31 ms   5.12 ms   15.7  -
//   2.1e+03 /s         2104        2104   2.33 ms   4.87 ms   6.02 ms    5.2  -
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/bench/load_point.h"
#include "client/bench/slo.h"
#include "nlohmann/json.hpp"

namespace mpsd::bench {

struct BenchReport {
  std::string address;
  std::string model;
  double seconds = 0;  // length of each load
  std::vector<LoadPoint> points;
  std::optional<Slo> slo;
  std::optional<LoadPoint> knee;
};

// With `slo` a column says whether it is met; empty for a point without requests. Pure.
std::string BenchTitles(bool slo);
std::string BenchLine(const LoadPoint& point, bool slo);

// REQUIRES: the report has an SLO. Pure.
std::string KneeText(const BenchReport& report);

// {"clients" or "rate", "offered", "answered", "p50_ms", "p95_ms", "p99_ms", "mean_batch",
// "errors"}. Latencies that never came, and unknown batches, are null. Pure.
nlohmann::ordered_json PointJson(const LoadPoint& point);

// {"address", "model", "seconds", "points": PointJson()s, "slo", "knee"}. Pure.
std::string BenchJson(const BenchReport& report);

}  // namespace mpsd::bench
