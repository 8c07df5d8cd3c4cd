// Stands for libtorch's header of that name.
#pragma once

#include <sstream>
#include <stdexcept>

#define TORCH_CHECK(condition, ...)            \
  do {                                         \
    if (!(condition)) c10::Throw(__VA_ARGS__); \
  } while (false)

namespace c10 {

template <typename... Parts>
[[noreturn]] void Throw(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw std::runtime_error(text.str());
}

}  // namespace c10
