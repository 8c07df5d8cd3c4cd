// LimitKey: all that mpsd knows about one key of `limits`.
//
// A new limit is a new row, and the code that obeys it:
//
//   limit_rows.inc ─┬▶ LimitsConfig        its member and default         (limits_config.h)
//                   ├▶ ReadConfigDocument  its bounds and error texts     (config_reader.h)
//                   ├▶ a reload            whether a change needs a restart
//                   ├▶ /metrics            its series of mpsd_limit
//                   └▶ limit_keys_test     the pages under config/, which name every limit
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "server/config/limits_config.h"

namespace mpsd {

// When a change takes effect. A reload names changed keys of kAtRestart; the running parts keep the
// old values.
enum class LimitEffect { kAtReload, kAtRestart };

// The type follows from the kind (LimitValueOf).
using LimitMember = std::variant<uint64_t LimitsConfig::*, int64_t LimitsConfig::*,
                                 uint32_t LimitsConfig::*, bool LimitsConfig::*>;

// A row of limit_rows.inc, which explains the columns. Invariants, checked when this is compiled:
//   1. minimum <= maximum, and the maximum fits the member
//   2. the default lies between them, or is the 0 of "auto"
//   3. the minimum of a duration is 0
//   4. `message` is the first row, since other limits depend on its value
struct LimitKey {
  std::string_view key;
  LimitMember member;
  LimitKind kind;
  uint64_t minimum;
  uint64_t maximum;
  LimitEffect effect;
  std::string_view series;
  std::string_view meaning;
};

// In the table's order, which is the order of reading. Constant.
absl::Span<const LimitKey> LimitKeys();

// In its member's unit; a flag is 0 or 1. Pure.
uint64_t LimitValue(const LimitKey& limit, const LimitsConfig& limits);

// Changed limits, as "limits.message", for the reload's log. Pure.
std::vector<std::string> LimitsThatNeedARestart(const LimitsConfig& before,
                                                const LimitsConfig& after);

// As {"message_bytes", 67108864}; durations in seconds. The daemon adds the fixed bounds of
// proto/base/limits.h. Pure.
std::vector<std::pair<std::string, double>> LimitSeries(const LimitsConfig& limits);

}  // namespace mpsd
