// KeptAnswer: a copy of an answer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "server/request/reply.h"

namespace mpsd {

// Has memory of its own, so that it keeps no worker's output leased. The names of the outputs are
// views of the spec of its generation, so it must not outlive that. Constant, so thread-safe: any
// number of requests may use it at a time.
class KeptAnswer {
 public:
  // REQUIRES: no output lies in a region.
  explicit KeptAnswer(const Answer& answer);

  // Memory of a copy of the answer.
  static uint64_t BytesOf(const Answer& answer);

  // Views of this object; the caller must copy them.
  Answer View() const;

 private:
  std::unique_ptr<char[]> bytes_;
  std::vector<AnswerOutput> outputs_;
};

}  // namespace mpsd
