// StepTensor: a tensor between two steps of a request.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"
#include "server/request/byte_allowance.h"
#include "server/request/infer_message.h"
#include "server/request/reply.h"

namespace mpsd {

// Lives until the last step that reads it has copied it into its rows, or the request has ended.
// Its bytes lie in one of three places:
//
//   a client's message     an input of the whole; stays until the request has ended
//   the answer's memory    kept by a reference, if TryPin() allows it
//   a copy                 where it does not, or where the bytes must not change any more; counted
//
// The thread with the answer writes it. Other threads learn of it under the run's mutex and only
// read; the last reader drops it. Thread-compatible.
class StepTensor {
 public:
  StepTensor() = default;
  ~StepTensor() { Drop(); }
  StepTensor(const StepTensor&) = delete;
  StepTensor& operator=(const StepTensor&) = delete;

  // `payload` of an input of the whole outlives the tensor.
  void Lend(DataType datatype, Dims dims, const Payload& payload);

  // The caller keeps the output valid.
  void Look(const AnswerOutput& output);

  // The output stays valid until Drop(). With `is_fixed` nobody can change its bytes, although a
  // worker may still write to its memory. Strings are always copied: their lengths are trusted
  // after a check. RESOURCE_EXHAUSTED if `copies` has no room.
  absl::Status Hold(const AnswerOutput& output, AnswerMemory* memory, bool is_fixed,
                    ByteAllowance* copies);

  void Drop();

  DataType datatype() const { return datatype_; }
  const Dims& dims() const { return dims_; }
  const Payload& payload() const { return payload_; }
  // Whether a worker may change the bytes during a read.
  bool may_change() const { return memory_ != nullptr; }
  absl::string_view bytes() const {
    return payload_.pieces.empty() ? absl::string_view() : payload_.pieces[0];
  }

 private:
  void PointTo(absl::string_view bytes);

  DataType datatype_ = DataType::kInvalid;
  Dims dims_;  // batch dim included
  Payload payload_;
  AnswerMemory* memory_ = nullptr;  // this holds a reference on it
  std::unique_ptr<char[]> copy_;
  uint64_t copied_bytes_ = 0;
  ByteAllowance* copies_ = nullptr;
};

}  // namespace mpsd
