#include "client/cli/pull_progress.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace mpsd::cli {
namespace {

constexpr absl::Duration kBetweenChanges = absl::Milliseconds(200);
constexpr absl::Duration kBetweenLines = absl::Seconds(10);
constexpr double kMegabyte = 1e6;

std::string EventLine(const nlohmann::json& event) {
  return event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string PullProgressLine::Text(const hub::PullProgress& progress, absl::Time now) const {
  std::string text =
      absl::StrFormat("%s: %.0f of %.0f MB", model_, static_cast<double>(progress.done) / kMegabyte,
                      static_cast<double>(progress.bytes) / kMegabyte);
  const double seconds = absl::ToDoubleSeconds(now - began_);
  const double rate = static_cast<double>(progress.done - done_at_begin_) / seconds;
  if (seconds > 0.5 && rate > 0) {
    const double left = static_cast<double>(progress.bytes - progress.done) / rate;
    absl::StrAppendFormat(&text, ", %.1f MB/s, %.0f s left", rate / kMegabyte, left);
  }
  return absl::StrCat(text, "  ", progress.file);
}

void PullProgressLine::Show(const hub::PullProgress& progress, absl::Time now) {
  if (began_ == absl::InfinitePast()) {
    began_ = now;
    done_at_begin_ = progress.done;
    if (form_ == Form::kLines) shown_ = now;  // a short pull needs no line
  }
  const absl::Duration between = form_ == Form::kLines ? kBetweenLines : kBetweenChanges;
  if (now - shown_ < between) return;
  shown_ = now;
  switch (form_) {
    case Form::kTerminal:
      out_ << "\r\x1b[K" << Text(progress, now) << std::flush;
      has_line_ = true;
      break;
    case Form::kLines:
      out_ << "mpsd: " << Text(progress, now) << std::endl;
      break;
    case Form::kJson:
      out_ << EventLine({{"event", "progress"},
                         {"file", progress.file},
                         {"file_done", progress.file_done},
                         {"file_bytes", progress.file_bytes},
                         {"done", progress.done},
                         {"bytes", progress.bytes}})
           << std::flush;
      break;
  }
}

void PullProgressLine::Say(const std::string& text) {
  End();
  if (form_ == Form::kJson) {
    out_ << EventLine({{"event", "waits"}, {"text", text}}) << std::flush;
  } else {
    out_ << "mpsd: " << model_ << ": " << text << std::endl;
  }
}

void PullProgressLine::End() {
  if (has_line_) out_ << "\r\x1b[K" << std::flush;
  has_line_ = false;
}

}  // namespace mpsd::cli
