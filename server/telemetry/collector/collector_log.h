// CollectorLog: tells once that a collector fails, and once that it works again.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// Owned by an exporter. Thread-compatible.
class CollectorLog {
 public:
  // `what` is sent: "spans".
  CollectorLog(Logger* logger, const char* what) : logger_(logger), what_(what) {}

  void Note(const absl::Status& outcome) {
    if (fails_ == !outcome.ok()) return;
    fails_ = !outcome.ok();
    const std::string reason(outcome.message());
    if (fails_) {
      logger_->Log(LogLevel::kWarn, "collector_fails", {{"what", what_}, {"reason", reason}});
    } else {
      logger_->Log(LogLevel::kInfo, "collector_works", {{"what", what_}});
    }
  }

 private:
  Logger* const logger_;
  const char* const what_;
  bool fails_ = false;
};

}  // namespace mpsd
