// GpuMemory: the bytes of one buffer, or of a part of it that a command uses.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "tests/metal/rules/host_writes.h"
#include "tests/metal/rules/rule.h"

namespace mpsd::standin {

inline constexpr Rule kOutOfRange{"out-of-range", "a command stays inside of its buffers"};

// Shared by the buffer and by the commands that use it. Thread-safe, but for the bytes.
class GpuMemory {
 public:
  // Memory of its own, in whole pages.
  static std::shared_ptr<GpuMemory> Make(size_t bytes);
  // Memory of the host, which lives until the last reference of the result; `ends` is called then.
  static std::shared_ptr<GpuMemory> Wrap(void* data, size_t bytes, std::function<void()> ends);

  ~GpuMemory();
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  GpuWrites& writes() { return writes_; }

 private:
  GpuMemory(char* data, size_t bytes, std::function<void()> ends)
      : data_(data), bytes_(bytes), ends_(std::move(ends)) {}

  char* const data_;
  const size_t bytes_;
  const std::function<void()> ends_;
  GpuWrites writes_;
};

// A part of a memory, as one command uses it.
struct GpuRange {
  std::shared_ptr<GpuMemory> memory;
  size_t offset = 0;
  size_t bytes = 0;
  std::shared_ptr<void> buffer{};  // keeps the object whose memory it is

  char* data() const { return memory->data() + offset; }
  // Breaks the rule, and says no, if the range is not inside of the memory.
  bool IsInside(const char* call) const;
};

}  // namespace mpsd::standin
