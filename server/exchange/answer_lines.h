// AnswerLines: each model's answers leave in the order of their requests.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/base/check.h"

namespace mpsd {

// A stream's answers: no model's answers wait for another model's. Thread-compatible: a stream
// guards its lines with its mutex.
//
// The `Request` fields `answered`, `line` and `next` belong to the lines from Join() until release.
template <typename Request>
class AnswerLines {
 public:
  void Join(absl::string_view model, Request* request) {
    request->answered = false;
    request->next = nullptr;
    request->line = LineOf(model);
    Line& line = lines_[request->line];
    (line.last == nullptr ? line.first : line.last->next) = request;
    line.last = request;
  }

  // Returns the requests that may leave now, in order, as a chain by `next`; null: none. REQUIRES:
  // the request is in its line.
  Request* Answered(Request* request) {
    MPSD_CHECK(!request->answered);
    request->answered = true;
    return Release(&lines_[request->line]);
  }

  // The request and others no longer wait for each other's answers. Returns as Answered().
  // REQUIRES: the request is in its line and has no answer yet.
  Request* Leave(Request* request) {
    MPSD_CHECK(!request->answered);
    Line& line = lines_[request->line];
    Request* before = nullptr;
    for (Request* other = line.first; other != request; other = other->next) {
      MPSD_CHECK(other != nullptr);
      before = other;
    }
    Request* const next = std::exchange(request->next, nullptr);
    (before == nullptr ? line.first : before->next) = next;
    if (next == nullptr) line.last = before;
    return Release(&line);
  }

  // With empty ones. A line is added only while none is empty.
  size_t line_count() const { return lines_.size(); }

 private:
  // Longer than any model's name. Longer texts name no model, and may share a line.
  static constexpr size_t kKeptNameBytes = 256;

  struct Line {
    std::string model;
    Request* first = nullptr;
    Request* last = nullptr;
  };

  Request* Release(Line* line) {
    Request* first = nullptr;
    Request** end = &first;
    while (line->first != nullptr && line->first->answered) {
      Request* const leaving = line->first;
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
