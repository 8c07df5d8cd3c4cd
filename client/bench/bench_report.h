// bench_report: what `bench` writes: a line for each load as it is measured, or JSON at the end.
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

// All that a run of the verb has found.
struct BenchReport {
  std::string address;
  std::string model;
  double seconds = 0;             // of each load
  std::vector<LoadPoint> points;  // in the order of their measurement
  std::optional<Slo> slo;
  std::optional<LoadPoint> knee;
};

// The titles of the columns, and a line for a point. A `slo` adds a column that says whether it is
// met; nothing is said of a point without requests. Pure.
std::string BenchTitles(bool slo);
std::string BenchLine(const LoadPoint& point, bool slo);

// What the SLO came to; REQUIRES: the report has one. Pure.
std::string KneeText(const BenchReport& report);

// {"clients" or "rate", "offered", "answered", "p50_ms", "p95_ms", "p99_ms", "mean_batch",
// "errors"}. Latencies that never came and batches that the server does not tell are null. Pure.
nlohmann::ordered_json PointJson(const LoadPoint& point);

// {"address", "model", "seconds", "points": those of PointJson(), "slo", "knee"}. Pure.
std::string BenchJson(const BenchReport& report);

}  // namespace mpsd::bench
