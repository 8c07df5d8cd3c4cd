#include "server/keep_awake.h"

#include <string>

namespace mpsd {

KeepAwake::~KeepAwake() {
  if (held_) assertion_->GiveBack();
}

void KeepAwake::Look(int64_t inside) {
  if (assertion_ == nullptr || refused_) return;
  const int64_t now_ns = clock_->NowNs();
  if (inside > 0) {
    busy_ns_ = now_ns;
    if (!held_) Take();
  } else if (held_ && now_ns - busy_ns_ >= kQuietNs) {
    assertion_->GiveBack();
    held_ = false;
  }
}

void KeepAwake::Take() {
  const absl::Status status = assertion_->Take();
  held_ = status.ok();
  refused_ = !held_;
  if (held_) return;
  logger_->Log(LogLevel::kWarn, "host_may_sleep", {{"reason", std::string(status.message())}});
}

}  // namespace mpsd
