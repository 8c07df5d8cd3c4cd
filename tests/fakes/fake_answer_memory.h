// FakeAnswerMemory: the memory of an answer, which counts its references.
#pragma once

#include <atomic>
#include <functional>

#include "server/request/reply.h"

namespace mpsd {

// Owned by the test. `references` are those of the code under test. Thread-safe, except for
// `can_pin` and `on_pin`.
class FakeAnswerMemory final : public AnswerMemory {
 public:
  void Ref() override { references.fetch_add(1); }
  void Unref() override { references.fetch_sub(1); }
  bool TryPin() override {
    if (on_pin) on_pin();
    return can_pin;
  }

  std::atomic<int> references{0};
  bool can_pin = true;
  std::function<void()> on_pin;  // what happens while it is asked
};

}  // namespace mpsd
