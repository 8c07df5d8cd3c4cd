// MemoryWatch: tells how short the host's memory is.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "proto/base/memory_pressure.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Connects to the operating system. Thread-safe.
class PressureSource {
 public:
  virtual ~PressureSource() = default;

  // The latest level; kNone until the system reports one.
  virtual MemoryPressure Level() const = 0;

  // Null if the system reports nothing: Linux has no such level for a process.
  static std::unique_ptr<PressureSource> OfHost();
};

// The thread `main` looks once a second, for all workers, whose sandbox may keep them from the
// system. Owned by the daemon. Lives on one thread.
class MemoryWatch {
 public:
  // `tell` gets each new level. Metrics and logger outlive it.
  MemoryWatch(std::unique_ptr<PressureSource> source, std::function<void(MemoryPressure)> tell,
              ServerMetrics* metrics, Logger* logger)
      : source_(std::move(source)), tell_(std::move(tell)), metrics_(metrics), logger_(logger) {}

  // Tells, counts and logs a changed level.
  void Look();

 private:
  const std::unique_ptr<PressureSource> source_;
  const std::function<void(MemoryPressure)> tell_;
  ServerMetrics* const metrics_;
  Logger* const logger_;
  MemoryPressure last_ = MemoryPressure::kNone;
};

}  // namespace mpsd
