// MemoryWatch: tells the supervisor how short the host's memory is.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "proto/base/memory_pressure.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// What the system says of its memory. A part of the seam to the operating system. Thread-safe.
class PressureSource {
 public:
  virtual ~PressureSource() = default;

  // The level that the system has told last; kNone until it tells one.
  virtual MemoryPressure Level() const = 0;

  // That of this host; null where the system tells nothing: Linux has none for each process, and
  // its out-of-memory killer looks at cgroups. Implemented in pressure_source_linux.cc and
  // pressure_source_macos.cc.
  static std::unique_ptr<PressureSource> OfHost();
};

// Beside the request's path: the daemon owns it, and its thread `main` looks once a second. The
// front end listens for all workers: one process hears of a level once, also where a sandbox keeps
// its workers from the system. Without a source it does nothing. Lives on one thread.
class MemoryWatch {
 public:
  // `tell` gets each new level. Metrics and logger outlive it.
  MemoryWatch(std::unique_ptr<PressureSource> source, std::function<void(MemoryPressure)> tell,
              ServerMetrics* metrics, Logger* logger)
      : source_(std::move(source)), tell_(std::move(tell)), metrics_(metrics), logger_(logger) {}

  // Tells, counts and logs a level that is not the last one.
  void Look();

 private:
  const std::unique_ptr<PressureSource> source_;
  const std::function<void(MemoryPressure)> tell_;
  ServerMetrics* const metrics_;
  Logger* const logger_;
  MemoryPressure last_ = MemoryPressure::kNone;
};

}  // namespace mpsd
