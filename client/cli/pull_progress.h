// PullProgressLine: shows a pull's progress to a person or a program.
#pragma once

#include <ostream>
#include <string>

#include "absl/time/time.h"
#include "client/hub/pull.h"

namespace mpsd::cli {

// A changing line on a terminal, else a line every ten seconds, or JSON events. Lives on the thread
// that pulls.
class PullProgressLine {
 public:
  enum class Form : uint8_t { kTerminal, kLines, kJson };

  PullProgressLine(std::string model, Form form, std::ostream& out)
      : model_(std::move(model)), form_(form), out_(out) {}

  // `now` is passed in for tests.
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
