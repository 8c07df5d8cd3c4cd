// JoinedOutput: one output of a request that runs in parts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"
#include "server/request/byte_allowance.h"
#include "server/request/reply.h"

namespace mpsd {

// Takes an answer's bytes from the allowance of all open answers; the end gives them back.
// Thread-compatible.
class JoinRoom {
 public:
  JoinRoom(uint64_t bytes_max, ByteAllowance* allowance)
      : bytes_max_(bytes_max), allowance_(allowance) {}
  ~JoinRoom() { allowance_->GiveBack(taken_); }
  JoinRoom(const JoinRoom&) = delete;
  JoinRoom& operator=(const JoinRoom&) = delete;

  // RESOURCE_EXHAUSTED beyond `bytes_max`, or if the allowance is used up for now.
  absl::Status Take(uint64_t bytes);

 private:
  const uint64_t bytes_max_;
  ByteAllowance* const allowance_;
  uint64_t taken_ = 0;
};

// Copies the rows of each part to their place; parts may be answered in any order:
//
//   part 1  rows 4 … 7   FP32 [4,3]      ─┐
//   part 0  rows 0 … 3   FP32 [4,3]      ─┼─▶  FP32 [10,3]
//   part 2  rows 8, 9    FP32 [2,3]      ─┘
//
// The first part defines a row, and takes memory for all rows unless they are BYTES.
// Thread-compatible.
class JoinedOutput {
 public:
  JoinedOutput(uint32_t rows, uint32_t parts) : rows_(rows), strings_(parts) {}

  // INTERNAL if the rows have another shape than an earlier part's, RESOURCE_EXHAUSTED if `room`
  // has no more. REQUIRES: each part comes once, and dim 0 is its number of rows.
  absl::Status Add(uint32_t part, uint32_t first_row, const AnswerOutput& output, JoinRoom* room);

  // Valid while this lives. REQUIRES: all parts have come. Called once.
  AnswerOutput Join(absl::string_view name);

 private:
  absl::Status Begin(const AnswerOutput& output, JoinRoom* room);

  const uint32_t rows_;
  DataType datatype_ = DataType::kInvalid;
  Dims row_dims_;
  uint64_t row_bytes_ = 0;            // not for BYTES
  std::unique_ptr<char[]> bytes_;     // not for BYTES
  std::vector<std::string> strings_;  // for BYTES: the rows of each part
  std::string joined_strings_;
};

}  // namespace mpsd
