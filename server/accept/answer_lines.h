// AnswerLines: answers leave in the order in which their requests came, for each model.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd {

// Thread-compatible. A line a model: one model's answers never wait for another's. `Slot` has
// `answered`, `line` and `next`, which are the lines' own from Join() to the release.
template <typename Slot>
class AnswerLines {
 public:
  // Puts the slot at the end of its model's line.
  void Join(absl::string_view model, Slot* slot) {
    slot->answered = false;
    slot->next = nullptr;
    slot->line = LineOf(model);
    Line& line = lines_[slot->line];
    (line.last == nullptr ? line.first : line.last->next) = slot;
    line.last = slot;
  }

  // Returns the slots that may leave now that this one is answered: the first of a chain by `next`,
  // in order; null when none may.
  Slot* Answered(Slot* slot) {
    slot->answered = true;
    return Release(&lines_[slot->line]);
  }

  // Takes the slot out of its line: it waits for nobody, and nobody for it. Returns the slots that
  // may leave now, as Answered() does. REQUIRES: it is not answered.
  Slot* Leave(Slot* slot) {
    Line& line = lines_[slot->line];
    Slot* before = nullptr;
    for (Slot* other = line.first; other != slot; other = other->next) before = other;
    Slot* const next = std::exchange(slot->next, nullptr);
    (before == nullptr ? line.first : before->next) = next;
    if (next == nullptr) line.last = before;
    return Release(&line);
  }

  // How many lines there are, empty ones included: at most one more than slots at a time.
  size_t line_count() const { return lines_.size(); }

 private:
  // Longer than the names of models: of what begins alike beyond that there is none, so that it may
  // share a line.
  static constexpr size_t kKeptNameBytes = 256;

  struct Line {
    std::string model;
    Slot* first = nullptr;
    Slot* last = nullptr;
  };

  Slot* Release(Line* line) {
    Slot* first = nullptr;
    Slot** end = &first;
    while (line->first != nullptr && line->first->answered) {
      Slot* const leaving = line->first;
      line->first = std::exchange(leaving->next, nullptr);
      if (line->first == nullptr) line->last = nullptr;
      *end = leaving;
      end = &leaving->next;
    }
    return first;
  }

  // The model's line, else an empty one, else a new one.
  size_t LineOf(absl::string_view model) {
    model = model.substr(0, kKeptNameBytes);
    size_t empty = lines_.size();
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].model == model) return i;
      if (lines_[i].first == nullptr) empty = i;
    }
    if (empty == lines_.size()) lines_.emplace_back();
    lines_[empty].model = std::string(model);
    return empty;
  }

  std::vector<Line> lines_;
};

}  // namespace mpsd
