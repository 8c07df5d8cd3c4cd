#include "server/telemetry/open_metrics.h"

#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace mpsd {
namespace {

std::string TextOf(const Exemplar& exemplar) {
  if (exemplar.trace_id.empty()) return "";
  return absl::StrFormat(" # {trace_id=\"%s\"} %g %.3f", exemplar.trace_id, exemplar.seconds,
                         exemplar.unix_seconds);
}

// The lines of a series follow each other, in the order of the buckets. Thread-compatible.
class BucketWalk {
 public:
  explicit BucketWalk(const StageExemplars::Series& exemplars) : exemplars_(exemplars) {}

  // The text behind the line, which may be empty.
  std::string Next(absl::string_view line) {
    const size_t bound = line.find("le=\"");
    if (bound == absl::string_view::npos) return "";
    const absl::string_view key = line.substr(0, bound);
    index_ = key == key_ ? index_ + 1 : 0;
    key_ = key;
    const auto found = exemplars_.find(std::string(key));
    const bool has_one = found != exemplars_.end() && index_ < found->second.size();
    return has_one ? TextOf(found->second[index_]) : "";
  }

 private:
  const StageExemplars::Series& exemplars_;
  absl::string_view key_;  // the last line's
  size_t index_ = 0;
};

// `help` and `type` begin with the family's name.
std::string Head(absl::string_view help, absl::string_view type) {
  const std::pair<absl::string_view, absl::string_view> typed = absl::StrSplit(type, ' ');
  absl::string_view name = typed.first;
  absl::string_view kind = typed.second;
  const bool is_counter = kind == "counter" && absl::ConsumeSuffix(&name, "_total");
  if (kind == "untyped" || (kind == "counter" && !is_counter)) kind = "unknown";
  std::string head;
  if (absl::ConsumePrefix(&help, typed.first)) {
    head = absl::StrCat("# HELP ", name, absl::StrReplaceAll(help, {{"\"", "\\\""}}), "\n");
  }
  return absl::StrCat(head, "# TYPE ", name, " ", kind, "\n");
}

}  // namespace

std::string OpenMetricsText(absl::string_view text, const StageExemplars::Series& exemplars) {
  BucketWalk buckets(exemplars);
  std::string out;
  absl::string_view help;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (absl::ConsumePrefix(&line, "# HELP ")) {
      help = line;
    } else if (absl::ConsumePrefix(&line, "# TYPE ")) {
      absl::StrAppend(&out, Head(help, line));
      help = {};
    } else {
      absl::StrAppend(&out, line, buckets.Next(line), "\n");
    }
  }
  return absl::StrCat(out, "# EOF\n");
}

}  // namespace mpsd
