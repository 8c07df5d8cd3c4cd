#include "server/config/limit_keys.h"

namespace mpsd {
namespace {

#define MPSD_LIMIT(key, member, kind, initial, minimum, maximum, effect, series, meaning) \
  {#key,    &LimitsConfig::member, LimitKind::kind, minimum,                              \
   maximum, LimitEffect::effect,   series,          meaning},
constexpr LimitKey kLimitKeys[] = {
#include "server/config/limit_rows.inc"
};
#undef MPSD_LIMIT

constexpr uint64_t ValueOf(const LimitKey& limit, const LimitsConfig& limits) {
  return std::visit([&limits](auto member) { return static_cast<uint64_t>(limits.*member); },
                    limit.member);
}

// That a limit's member can hold.
constexpr uint64_t LargestOf(LimitKind kind) {
  switch (kind) {
    case LimitKind::kFlag:
      return 1;
    case LimitKind::kCount:
      return UINT32_MAX;
    default:
      return INT64_MAX;
  }
}

constexpr bool IsSound(const LimitKey& limit) {
  const uint64_t initial = ValueOf(limit, LimitsConfig());
  const bool is_auto = limit.kind == LimitKind::kSizeOrAuto && initial == 0;
  return limit.minimum <= limit.maximum && limit.maximum <= LargestOf(limit.kind) &&
         (is_auto || (limit.minimum <= initial && initial <= limit.maximum)) &&
         (limit.kind != LimitKind::kDuration || limit.minimum == 0);
}

constexpr bool AllAreSound() {
  if (kLimitKeys[0].key != "message") return false;
  for (const LimitKey& limit : kLimitKeys) {
    if (!IsSound(limit)) return false;
  }
  return true;
}
static_assert(AllAreSound(), "see LimitKey's invariants");

}  // namespace

absl::Span<const LimitKey> LimitKeys() { return kLimitKeys; }

uint64_t LimitValue(const LimitKey& limit, const LimitsConfig& limits) {
  return ValueOf(limit, limits);
}

std::vector<std::string> LimitsThatNeedARestart(const LimitsConfig& before,
                                                const LimitsConfig& after) {
  std::vector<std::string> keys;
  for (const LimitKey& limit : kLimitKeys) {
    if (limit.effect == LimitEffect::kAtReload) continue;
    if (ValueOf(limit, before) == ValueOf(limit, after)) continue;
    keys.push_back("limits." + std::string(limit.key));
  }
  return keys;
}

std::vector<std::pair<std::string, double>> LimitSeries(const LimitsConfig& limits) {
  std::vector<std::pair<std::string, double>> series;
  for (const LimitKey& limit : kLimitKeys) {
    if (limit.series.empty()) continue;
    const auto value = static_cast<double>(ValueOf(limit, limits));
    const double unit = limit.kind == LimitKind::kDuration ? kNsPerSecond : 1;
    series.emplace_back(limit.series, value / unit);
  }
  return series;
}

}  // namespace mpsd
