// JoinRoom: bounds the bytes of a joined answer.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "server/request/byte_allowance.h"

namespace mpsd {

// Takes an answer's bytes from what all open answers may have together, and gives them back at its
// end. Thread-compatible.
class JoinRoom {
 public:
  // An answer has at most `bytes_max` bytes. The allowance outlives this.
  JoinRoom(uint64_t bytes_max, ByteAllowance* allowance)
      : bytes_max_(bytes_max), allowance_(allowance) {}
  ~JoinRoom() { allowance_->GiveBack(taken_); }
  JoinRoom(const JoinRoom&) = delete;
  JoinRoom& operator=(const JoinRoom&) = delete;

  // RESOURCE_EXHAUSTED if the answer gets too large, or the allowance is used up for now.
  absl::Status Take(uint64_t bytes);

 private:
  const uint64_t bytes_max_;
  ByteAllowance* const allowance_;
  uint64_t taken_ = 0;
};

}  // namespace mpsd
