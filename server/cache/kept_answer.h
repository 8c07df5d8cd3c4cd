// KeptAnswer: a copy of an answer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "server/request/reply.h"

namespace mpsd {

// Has memory of its own, so that no worker's output stays leased for it. The names of the outputs
// are views of the spec of the generation that gave it: it is read only as long as that lives.
// Constant, so thread-safe: it is given to any number of requests at a time.
class KeptAnswer {
 public:
  // REQUIRES: no output lies in a region.
  explicit KeptAnswer(const Answer& answer);

  // What a copy of the answer takes, all in all.
  static uint64_t BytesOf(const Answer& answer);

  // Views of this; to be copied by those who give it.
  Answer View() const;

 private:
  std::unique_ptr<char[]> bytes_;
  std::vector<AnswerOutput> outputs_;
};

}  // namespace mpsd
