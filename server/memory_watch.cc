#include "server/memory_watch.h"

namespace mpsd {

void MemoryWatch::Look() {
  if (source_ == nullptr) return;
  const MemoryPressure level = source_->Level();
  if (level == last_) return;
  const bool rises = level > last_;
  last_ = level;
  if (rises) metrics_->memory_pressure_rises.fetch_add(1);
  metrics_->memory_pressure = static_cast<int64_t>(level);
  logger_->Log(rises ? LogLevel::kWarn : LogLevel::kInfo, "memory_pressure",
               {{"level", NameOf(level)}});
  tell_(level);
}

}  // namespace mpsd
