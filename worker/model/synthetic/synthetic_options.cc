#include "worker/model/synthetic/synthetic_options.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/units.h"
#include "proto/link/json_object.h"
#include "worker/model/parameters.h"

namespace mpsd {
namespace {

constexpr std::array<std::string_view, 13> kKeys = {
    "delay",   "delay_per_row", "lane_delay_factor", "fail_if",       "throw_if", "crash_if",
    "hang_if", "load_delay",    "fail_at_load",      "crash_at_load", "weights",  "repeat",
    "encode"};
constexpr uint32_t kMaxLaneDelayFactor = 1000;
constexpr uint64_t kMaxWeights = 1 << 30;

absl::Status Read(const std::string& text, int64_t* duration_ns) {
  absl::StatusOr<int64_t> parsed = ParseDurationNs(text);
  if (parsed.ok()) *duration_ns = *parsed;
  return parsed.status();
}

absl::Status ReadFactor(const std::string& text, uint32_t* factor) {
  if (!absl::SimpleAtoi(text, factor) || *factor > kMaxLaneDelayFactor) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' must be a whole number, 0 to ", kMaxLaneDelayFactor));
  }
  return absl::OkStatus();
}

absl::Status ReadBytes(const std::string& text, uint64_t* bytes) {
  if (absl::SimpleAtoi(text, bytes) && *bytes <= kMaxWeights) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' must be a whole number of bytes, 0 to ", kMaxWeights));
}

absl::Status Read(const std::string& text, std::optional<double>* value) {
  double number = 0;
  if (!absl::SimpleAtod(text, &number)) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a number"));
  }
  *value = number;
  return absl::OkStatus();
}

absl::Status Read(const std::string& text, bool* flag) {
  if (text != "true" && text != "false") {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' must be 'true' or 'false'"));
  }
  *flag = text == "true";
  return absl::OkStatus();
}

absl::Status ReadOne(const std::string& key, const std::string& text, SyntheticOptions* options) {
  if (key == "delay") return Read(text, &options->delay_ns);
  if (key == "delay_per_row") return Read(text, &options->delay_per_row_ns);
  if (key == "lane_delay_factor") return ReadFactor(text, &options->lane_delay_factor);
  if (key == "fail_if") return Read(text, &options->fail_if);
  if (key == "throw_if") return Read(text, &options->throw_if);
  if (key == "crash_if") return Read(text, &options->crash_if);
  if (key == "hang_if") return Read(text, &options->hang_if);
  if (key == "load_delay") return Read(text, &options->load_delay_ns);
  if (key == "fail_at_load") return Read(text, &options->fail_at_load);
  if (key == "crash_at_load") return Read(text, &options->crash_at_load);
  if (key == "weights") return ReadBytes(text, &options->weights);
  if (key == "repeat") return Read(text, &options->repeat);
  if (key == "encode") return Read(text, &options->encode);
  if (key == "vocab") return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("unknown parameter", DidYouMean(key, kKeys, "a synthetic model has")));
}

}  // namespace

absl::StatusOr<SyntheticOptions> SyntheticOptions::Parse(
    const std::map<std::string, std::string>& parameters) {
  SyntheticOptions options;
  const absl::Status status =
      ReadParameters(parameters, [&options](const std::string& key, const std::string& text) {
        return ReadOne(key, text, &options);
      });
  if (!status.ok()) return status;
  return options;
}

int64_t SyntheticOptions::DelayNs(uint32_t lane, uint32_t row_count) const {
  const int64_t times = std::max<int64_t>(1, int64_t{lane} * lane_delay_factor);
  int64_t batch_ns = 0;
  int64_t rows_ns = 0;
  int64_t sum_ns = 0;
  const bool is_endless = __builtin_mul_overflow(delay_ns, times, &batch_ns) ||
                          __builtin_mul_overflow(delay_per_row_ns, row_count, &rows_ns) ||
                          __builtin_add_overflow(batch_ns, rows_ns, &sum_ns);
  return is_endless ? INT64_MAX : sum_ns;
}

}  // namespace mpsd
