// LogLine: one line of a log: its level, its fields and its text, in one of two forms.
//
//   {"time":"2026-01-31T12:00:00.000Z","level":"info","event":"worker_ready","model":"m","pid":17}
//   12:00:00.000 info  worker_ready model=m pid=17
//
// Each is one line, whatever bytes a client, a model or a file name put into a field. So no client
// can forge a line, or control an operator's terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "nlohmann/json_fwd.hpp"

namespace mpsd {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

// "debug", "info", "warn", "error".
std::optional<LogLevel> ParseLogLevel(std::string_view text);
const char* LogLevelName(LogLevel level);

// Made by the braces of a call to Log(). Refers to texts, which must live until Log() returns.
struct LogField {
  using Value = std::variant<std::string_view, int64_t, uint64_t, double, bool>;

  template <typename T>
  LogField(std::string_view k, const T& v) : key(k), value(ToValue(v)) {}

  std::string_view key;  // in snake_case; not "time", "level" or "event"
  Value value;

 private:
  template <typename T>
  static Value ToValue(const T& v) {
    if constexpr (std::is_same_v<T, bool>) {
      return v;
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<double>(v);
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      return static_cast<int64_t>(v);
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<uint64_t>(v);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      return std::string_view(v);
    } else {
      return std::string_view(v.data(), v.size());
    }
  }
};

// Returns valid JSON, the time in UTC. Replaces bytes that are not UTF-8, and cuts texts at 2 KiB.
// Pure.
std::string JsonLine(absl::Time time, LogLevel level, std::string_view event,
                     absl::Span<const LogField> fields);

// The time is local. Quotes and escapes texts other than plain words.
std::string ReadableLine(absl::Time time, LogLevel level, std::string_view event,
                         absl::Span<const LogField> fields);

// Bytes that are not UTF-8 become U+FFFD. Pure.
std::string OneLine(const nlohmann::ordered_json& json);

}  // namespace mpsd
