#include "server/telemetry/log/log_line.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace mpsd {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kTextBytes = 2048;

constexpr const char* kLevelNames[] = {"debug", "info", "warn", "error"};

Json ToJson(const LogField::Value& value) {
  return std::visit(
      [](const auto& v) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string_view>) {
          return std::string(v.substr(0, kTextBytes));
        } else {
          return v;
        }
      },
      value);
}

// Quotes anything but a plain word, so that the text is one line.
std::string Readable(const LogField::Value& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  const bool plain = text != nullptr && !text->empty() && text->size() <= kTextBytes &&
                     std::all_of(text->begin(), text->end(), [](unsigned char c) {
                       return absl::ascii_isgraph(c) && c != '"';
                     });
  return plain ? std::string(*text) : OneLine(ToJson(value));
}

}  // namespace

std::optional<LogLevel> ParseLogLevel(std::string_view text) {
  const auto* found = std::find(std::begin(kLevelNames), std::end(kLevelNames), text);
  if (found == std::end(kLevelNames)) return std::nullopt;
  return static_cast<LogLevel>(found - std::begin(kLevelNames));
}

const char* LogLevelName(LogLevel level) { return kLevelNames[static_cast<size_t>(level)]; }

std::string JsonLine(absl::Time time, LogLevel level, std::string_view event,
                     absl::Span<const LogField> fields) {
  Json line;
  line["time"] = absl::FormatTime("%Y-%m-%d%ET%H:%M:%E3SZ", time, absl::UTCTimeZone());
  line["level"] = LogLevelName(level);
  line["event"] = ToJson(event);
  for (const LogField& field : fields) line[std::string(field.key)] = ToJson(field.value);
  return OneLine(line);
}

std::string ReadableLine(absl::Time time, LogLevel level, std::string_view event,
                         absl::Span<const LogField> fields) {
  std::string line =
      absl::StrFormat("%s %-5s %s", absl::FormatTime("%H:%M:%E3S", time, absl::LocalTimeZone()),
                      LogLevelName(level), Readable(event));
  for (const LogField& field : fields) {
    absl::StrAppend(&line, " ", absl::string_view(field.key.data(), field.key.size()), "=",
                    Readable(field.value));
  }
  return line;
}

std::string OneLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mpsd
