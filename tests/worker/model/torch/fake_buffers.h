// FakeBuffers: a gpu's buffers without a gpu.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "worker/metal/buffer_maker.h"

namespace mpsd {

// By default a buffer is the memory itself, as it is on a Mac; a test lets it refuse, or keep what
// the memory had when it was asked. Thread-compatible.
class FakeBuffers final : public BufferMaker {
 public:
  absl::StatusOr<std::shared_ptr<void>> Make(const void* data, uint64_t bytes) override {
    if (refuses) return absl::UnavailableError("the fake makes no buffer");
    ++made;
    ++alive;
    void* buffer = const_cast<void*>(data);
    if (copies) {
      copy_.resize(bytes);
      std::memcpy(copy_.data(), data, bytes);
      buffer = copy_.data();
    }
    return std::shared_ptr<void>(buffer, [this](void*) { --alive; });
  }

  bool refuses = false;
  bool copies = false;
  int made = 0;
  int alive = 0;

 private:
  std::vector<char> copy_;
};

}  // namespace mpsd
