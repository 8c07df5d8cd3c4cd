// PullProgressLine: shows a pull's progress to a person or a program.
#pragma once

#include <ostream>
#include <string>

#include "absl/time/time.h"
#include "client/hub/pull.h"

namespace mpsd::cli {

// Writes progress to one stream: a changing line on a terminal, else a line every ten seconds, or
// JSON events of one line each. Owned by one pull. Lives on the thread that pulls.
class PullProgressLine {
 public:
  enum class Form : uint8_t { kTerminal, kLines, kJson };

  PullProgressLine(std::string model, Form form, std::ostream& out)
      : model_(std::move(model)), form_(form), out_(out) {}

  // `now` is passed in so that tests need no clock.
  void Show(const hub::PullProgress& progress, absl::Time now);
  void Say(const std::string& text);

  void End();

 private:
  std::string Text(const hub::PullProgress& progress, absl::Time now) const;

  const std::string model_;
  const Form form_;
  std::ostream& out_;
  absl::Time began_ = absl::InfinitePast();
  absl::Time shown_ = absl::InfinitePast();
  uint64_t done_at_begin_ = 0;
  bool has_line_ = false;
};

}  // namespace mpsd::cli
