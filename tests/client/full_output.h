// FullOutput: a stream to a full disk, which fails when it is flushed and no earlier.
#pragma once

#include <ostream>
#include <streambuf>

namespace mpsd {

// Thread-compatible.
class FullOutput final : private std::streambuf, public std::ostream {
 public:
  FullOutput() : std::ostream(static_cast<std::streambuf*>(this)) {}

 private:
  int overflow(int byte) override { return std::char_traits<char>::not_eof(byte); }
  int sync() override { return -1; }
};

}  // namespace mpsd
