// FuzzInput: takes the bytes of a fuzz input apart. All bytes beyond their end are 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace mpsd {

// Lives on one thread.
class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t bytes) : data_(data), bytes_(bytes) {}

  bool empty() const { return at_ == bytes_; }

  template <typename Number>
  Number Take() {
    Number number = 0;
    const size_t bytes = bytes_ - at_ < sizeof(number) ? bytes_ - at_ : sizeof(number);
    std::memcpy(&number, data_ + at_, bytes);
    at_ += bytes;
    return number;
  }

  std::string TakeText(size_t most_bytes) {
    const size_t bytes = bytes_ - at_ < most_bytes ? bytes_ - at_ : most_bytes;
    const std::string text(reinterpret_cast<const char*>(data_ + at_), bytes);
    at_ += bytes;
    return text;
  }

 private:
  const uint8_t* const data_;
  const size_t bytes_;
  size_t at_ = 0;
};

}  // namespace mpsd
