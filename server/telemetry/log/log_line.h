// LogLine: one line of a log: its level, its fields and its text.
//
// A line is for machines first: an event, which is a fixed word for searches, and fields with
// values. The same line has two texts:
//
//   {"time":"2026-01-31T12:00:00.000Z","level":"info","event":"worker_ready","model":"m","pid":17}
//   12:00:00.000 info  worker_ready model=m pid=17
//
// Each is one line, whatever bytes a client, a model or a file name put into a field. So no client
// can forge a line of the log, or control an operator's terminal.
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

// By weight: a logger writes its own level and those above.
enum class LogLevel { kDebug, kInfo, kWarn, kError };

// "debug", "info", "warn", "error".
std::optional<LogLevel> ParseLogLevel(std::string_view text);
const char* LogLevelName(LogLevel level);

// A key and a value of a log line. Made from a number, bool or text by the braces of a call:
//
//   logger->Log(LogLevel::kWarn, "worker_died", {{"model", name}, {"pid", pid}});
//
// Refers to texts instead of copying them: they must live until Log() returns. Not for keeping.
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

// The first form: valid JSON, the time in UTC, the fields in their order. Replaces bytes that are
// not UTF-8, and cuts texts at 2 KiB. Pure.
std::string JsonLine(absl::Time time, LogLevel level, std::string_view event,
                     absl::Span<const LogField> fields);

// The second form, for a terminal, in local time. Quotes and escapes texts other than plain words,
// as in JSON.
std::string ReadableLine(absl::Time time, LogLevel level, std::string_view event,
                         absl::Span<const LogField> fields);

// Any JSON as one line of a log. Bytes of clients' texts that are not UTF-8 become U+FFFD. Pure.
std::string OneLine(const nlohmann::ordered_json& json);

}  // namespace mpsd
