#include "proto/base/units.h"

#include <array>
#include <cstdio>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/base/clock.h"
#include "proto/base/string_views.h"

namespace mpsd {
namespace {

struct Unit {
  std::string_view name;
  uint64_t scale;
};

constexpr std::array<Unit, 6> kDurations = {{{"ns", 1},
                                             {"us", kNsPerUs},
                                             {"ms", kNsPerMs},
                                             {"s", kNsPerSecond},
                                             {"m", 60 * kNsPerSecond},
                                             {"h", 3600 * kNsPerSecond}}};
constexpr std::array<Unit, 9> kSizes = {{{"B", 1},
                                         {"KiB", 1ULL << 10},
                                         {"MiB", 1ULL << 20},
                                         {"GiB", 1ULL << 30},
                                         {"TiB", 1ULL << 40},
                                         {"kB", 1'000},
                                         {"MB", 1'000'000},
                                         {"GB", 1'000'000'000},
                                         {"TB", 1'000'000'000'000}}};
constexpr uint64_t kMaxValue = (1ULL << 63) - 1;
constexpr size_t kQuotedTextBytes = 40;

// Digits with at most one point, then a unit.
struct Written {
  uint64_t mantissa = 0;  // the digits without the point
  uint64_t divisor = 1;   // ten to the number of digits after the point
  std::string_view unit;
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Nothing if no digit begins the text, its digits end in a point, or there are too many.
std::optional<Written> Split(std::string_view text) {
  Written written;
  bool after_point = false;
  size_t i = 0;
  for (; i < text.size() && (IsDigit(text[i]) || text[i] == '.'); ++i) {
    if (text[i] == '.') {
      if (after_point || i == 0 || i + 1 == text.size() || !IsDigit(text[i + 1])) {
        return std::nullopt;
      }
      after_point = true;
      continue;
    }
    const uint64_t digit = static_cast<uint64_t>(text[i] - '0');
    if (__builtin_mul_overflow(written.mantissa, 10U, &written.mantissa) ||
        __builtin_add_overflow(written.mantissa, digit, &written.mantissa)) {
      return std::nullopt;
    }
    if (after_point && __builtin_mul_overflow(written.divisor, 10U, &written.divisor)) {
      return std::nullopt;
    }
  }
  if (i == 0) return std::nullopt;
  if (i + 1 < text.size() && text[i] == ' ') ++i;
  written.unit = text.substr(i);
  return written;
}

absl::Status Bad(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", View(text.substr(0, kQuotedTextBytes)), "' ", View(why)));
}

// mantissa × scale ÷ divisor, a whole number that fits.
absl::StatusOr<uint64_t> Scale(std::string_view text, const Written& written, uint64_t scale) {
  const auto product = static_cast<unsigned __int128>(written.mantissa) * scale;
  if (product % written.divisor != 0) return Bad(text, "is finer than the smallest unit");
  const unsigned __int128 value = product / written.divisor;
  if (value > kMaxValue) return Bad(text, "is too large");
  return static_cast<uint64_t>(value);
}

absl::StatusOr<uint64_t> Parse(std::string_view text, absl::Span<const Unit> units,
                               std::string_view hint) {
  const std::optional<Written> written = Split(text);
  if (!written.has_value()) return Bad(text, hint);
  if (written->unit.empty()) {
    if (written->mantissa == 0) return 0;
    return Bad(text, absl::StrCat("has no unit; it ", View(hint)));
  }
  for (const Unit& unit : units) {
    if (unit.name == written->unit) return Scale(text, *written, unit.scale);
  }
  return Bad(text, hint);
}

}  // namespace

absl::StatusOr<int64_t> ParseDurationNs(std::string_view text) {
  const absl::StatusOr<uint64_t> value =
      Parse(text, kDurations, "must be a duration like '500us' (ns, us, ms, s, m, h)");
  if (!value.ok()) return value.status();
  return static_cast<int64_t>(*value);
}

absl::StatusOr<uint64_t> ParseBytes(std::string_view text) {
  return Parse(text, kSizes, "must be a size like '64MiB' (B, KiB, MiB, GiB, TiB, kB, MB, GB, TB)");
}

std::string BytesText(uint64_t bytes) {
  static constexpr std::array<const char*, 5> kNames = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  double value = static_cast<double>(bytes);
  // From 1023.95 on, one decimal would round up to 1024.
  while (unit + 1 < kNames.size() && value >= (unit == 0 ? 1024.0 : 1023.95)) {
    value /= 1024;
    ++unit;
  }
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f", value);
  std::string number = text;
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return absl::StrCat(number, " ", kNames[unit]);
}

}  // namespace mpsd
