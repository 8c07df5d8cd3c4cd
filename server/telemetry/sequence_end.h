// SequenceEnd: why a sequence ended, as metrics say.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mpsd {

// In the order of the names below.
enum class SequenceEnd : uint8_t {
  kEnded,      // its last request said so
  kRestarted,  // a request began another one of the same id
  kIdle,       // no request came for too long
  kLost,       // its lane is gone, and what the model kept there
  kFailed,     // its first request was not answered
  kClosed,     // the model was replaced or unloaded, or the daemon ends
};

// How many there are. ModelMetrics has a counter for each, indexed by the value of the enumerator.
inline constexpr size_t kSequenceEnds = 6;

// The label "reason" of mpsd_sequences_ended_total: dashboards and alerts name these words.
inline constexpr std::array<const char*, kSequenceEnds> kSequenceEndNames = {
    "ended", "restarted", "idle", "lost", "failed", "closed"};

}  // namespace mpsd
