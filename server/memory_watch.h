// MemoryWatch: tells the supervisor how short the host's memory is.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "proto/base/memory_pressure.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// The system's reports about its memory; connects to the operating system. Thread-safe.
class PressureSource {
 public:
  virtual ~PressureSource() = default;

  // The latest level; kNone until the system reports one.
  virtual MemoryPressure Level() const = 0;

  // This host's; null if the system reports nothing: Linux has no level for each process, and its
  // out-of-memory killer looks at cgroups. Implemented in pressure_source_linux.cc and
  // pressure_source_macos.cc.
  static std::unique_ptr<PressureSource> OfHost();
};

// Beside the request's path: the daemon owns it, and its thread `main` looks once a second. The
// front end listens for all workers: one process hears of a level once, even if a sandbox keeps its
// workers from the system. Does nothing without a source. Lives on one thread.
class MemoryWatch {
 public:
  // `tell` gets each new level. Metrics and logger outlive it.
  MemoryWatch(std::unique_ptr<PressureSource> source, std::function<void(MemoryPressure)> tell,
              ServerMetrics* metrics, Logger* logger)
      : source_(std::move(source)), tell_(std::move(tell)), metrics_(metrics), logger_(logger) {}

  // Tells, counts and logs a level that differs from the last one.
  void Look();

 private:
  const std::unique_ptr<PressureSource> source_;
  const std::function<void(MemoryPressure)> tell_;
  ServerMetrics* const metrics_;
  Logger* const logger_;
  MemoryPressure last_ = MemoryPressure::kNone;
};

}  // namespace mpsd
