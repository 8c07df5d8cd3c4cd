#include "tests/server/config/limit_docs.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "proto/base/units.h"

namespace mpsd {
namespace {

constexpr char kSizePattern[] = R"([0-9]+(\.[0-9]+)? ?(B|KiB|MiB|GiB|TiB|kB|MB|GB|TB))";
constexpr char kDurationPattern[] = R"([0-9]+(\.[0-9]+)? ?(ns|us|ms|s|m|h))";

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

bool MayBeAuto(const LimitKey& limit) {
  return limit.kind == LimitKind::kSizeOrAuto || limit.kind == LimitKind::kBufferSize;
}

uint64_t Default(const LimitKey& limit) { return LimitValue(limit, LimitsConfig()); }

nlohmann::json DefaultJson(const LimitKey& limit) {
  return MayBeAuto(limit) ? nlohmann::json("auto") : LimitJson(limit, Default(limit));
}

std::string DurationText(uint64_t ns) {
  if (ns % kNsPerHour == 0 && ns > 0) return absl::StrCat(ns / kNsPerHour, " h");
  if (ns % kNsPerSecond == 0) return absl::StrCat(ns / kNsPerSecond, " s");
  return absl::StrCat(ns / kNsPerMs, " ms");
}

std::string SizeText(uint64_t bytes) {
  const bool is_one_short = bytes > 1024 && (bytes & 1023) == 1023;
  return is_one_short ? BytesText(bytes + 1) + " less one byte" : BytesText(bytes);
}

std::string TypeText(const LimitKey& limit) {
  switch (limit.kind) {
    case LimitKind::kSize:
      return "size";
    case LimitKind::kSizeOrAuto:
    case LimitKind::kBufferSize:
      return "size or `\"auto\"`";
    case LimitKind::kDuration:
      return "duration";
    case LimitKind::kCount:
      return "whole number";
    case LimitKind::kFlag:
      return "true or false";
  }
  return "";
}

std::string BoundText(const LimitKey& limit) {
  switch (limit.kind) {
    case LimitKind::kSize:
    case LimitKind::kSizeOrAuto:
      return absl::StrCat(SizeText(limit.minimum), " to ", SizeText(limit.maximum));
    case LimitKind::kBufferSize:
      return absl::StrCat("`limits.message` to ", SizeText(limit.maximum));
    case LimitKind::kDuration:
      return absl::StrCat("0 to ", DurationText(limit.maximum));
    case LimitKind::kCount:
      return absl::StrCat(limit.minimum, " to ", limit.maximum);
    case LimitKind::kFlag:
      return "";
  }
  return "";
}

// The meaning without the marks of Markdown.
std::string PlainMeaning(const LimitKey& limit) {
  return absl::StrReplaceAll(
      View(limit.meaning),
      {{"[coming-from-triton.md](../docs/coming-from-triton.md)", "docs/coming-from-triton.md"},
       {"`\"", "\""},
       {"\"`", "\""},
       {"`", ""}});
}

std::string Pattern(const LimitKey& limit) {
  if (limit.kind == LimitKind::kDuration) return absl::StrCat("^(0|", kDurationPattern, ")$");
  const bool may_be_none = limit.minimum == 0 && !MayBeAuto(limit);
  return may_be_none ? absl::StrCat("^(0|", kSizePattern, ")$")
                     : absl::StrCat("^", kSizePattern, "$");
}

void AddType(const LimitKey& limit, nlohmann::ordered_json* schema) {
  if (limit.kind == LimitKind::kFlag) {
    (*schema)["type"] = "boolean";
    return;
  }
  if (limit.kind == LimitKind::kCount) {
    (*schema)["type"] = "integer";
    (*schema)["minimum"] = limit.minimum;
    (*schema)["maximum"] = limit.maximum;
    return;
  }
  (*schema)["type"] = "string";
  if (!MayBeAuto(limit)) {
    (*schema)["pattern"] = Pattern(limit);
    return;
  }
  (*schema)["anyOf"] =
      nlohmann::ordered_json::array({{{"const", "auto"}}, {{"pattern", Pattern(limit)}}});
}

}  // namespace

nlohmann::json LimitJson(const LimitKey& limit, uint64_t value) {
  switch (limit.kind) {
    case LimitKind::kFlag:
      return value != 0;
    case LimitKind::kCount:
      return value;
    case LimitKind::kDuration:
      return value % kNsPerSecond == 0 ? absl::StrCat(value / kNsPerSecond, "s")
                                       : absl::StrCat(value, "ns");
    default:
      break;
  }
  const std::string text = absl::StrReplaceAll(BytesText(value), {{" ", ""}});
  return ParseBytes(text).value_or(0) == value ? text : absl::StrCat(value, "B");
}

std::string LimitReadmeRow(const LimitKey& limit) {
  const std::string bound = BoundText(limit);
  return absl::StrCat("| `limits.", View(limit.key), "` | ", TypeText(limit), " | `",
                      DefaultJson(limit).dump(), "` | ", bound, bound.empty() ? "| " : " | ",
                      View(limit.meaning), " |");
}

nlohmann::ordered_json LimitSchema(const LimitKey& limit) {
  nlohmann::ordered_json schema;
  const bool is_quantity = limit.kind != LimitKind::kCount && limit.kind != LimitKind::kFlag;
  schema["description"] =
      absl::StrCat(PlainMeaning(limit), is_quantity ? " Bound: " : "",
                   is_quantity ? absl::StrReplaceAll(BoundText(limit), {{"`", ""}}) + "." : "");
  AddType(limit, &schema);
  schema["default"] = DefaultJson(limit);
  return schema;
}

std::string LimitReference(const LimitKey& limit) {
  return absl::StrCat("    // ", PlainMeaning(limit), "\n    \"", View(limit.key),
                      "\": ", DefaultJson(limit).dump());
}

}  // namespace mpsd
