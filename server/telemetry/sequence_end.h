// SequenceEnd: why a sequence ended, for metrics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mpsd {

// In the order of the names below.
enum class SequenceEnd : uint8_t {
  kEnded,      // its last request said so
  kRestarted,  // a request began another with the same id
  kIdle,       // no request came for too long
  kLost,       // its lane is gone, with the model's state there
  kFailed,     // its first request was not answered
  kClosed,     // the model was replaced or unloaded, or the daemon ends
};

// ModelMetrics has a counter for each.
inline constexpr size_t kSequenceEnds = 6;

// The label "reason" of mpsd_sequences_ended_total, a contract with dashboards and alerts.
inline constexpr std::array<const char*, kSequenceEnds> kSequenceEndNames = {
    "ended", "restarted", "idle", "lost", "failed", "closed"};

}  // namespace mpsd
