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

// An output of one step's answer, from then until the last step that reads it has copied it into
// its rows, or the request has ended. Its bytes lie in one of three places:
//
//   a client's message     an input of the whole; stays until the request has ended
//   the answer's memory    kept by a reference, if TryPin() allows it
//   a copy                 where it does not, or where the bytes must not change any more; counted
//
// Written by the thread that has the answer, then read by others, which have learnt of it under the
// run's mutex; the last reader drops it. So no two threads use it at once but to read.
// Thread-compatible.
class StepTensor {
 public:
  StepTensor() = default;
  ~StepTensor() { Drop(); }
  StepTensor(const StepTensor&) = delete;
  StepTensor& operator=(const StepTensor&) = delete;

  // The tensor is an input of the whole. `payload` outlives it.
  void Lend(DataType datatype, Dims dims, const Payload& payload);

  // The tensor is an output, which is valid for as long as the caller knows.
  void Look(const AnswerOutput& output);

  // The tensor is an output, which stays valid until Drop(). With `is_fixed` nobody can change its
  // bytes: a worker may still write to its memory. Strings are copied in any case, since their
  // lengths are believed once they were checked. RESOURCE_EXHAUSTED where `copies` has no room.
  absl::Status Hold(const AnswerOutput& output, AnswerMemory* memory, bool is_fixed,
                    ByteAllowance* copies);

  // The bytes are not needed any more.
  void Drop();

  DataType datatype() const { return datatype_; }
  const Dims& dims() const { return dims_; }
  const Payload& payload() const { return payload_; }
  // Whether a worker may change the bytes while they are read.
  bool may_change() const { return memory_ != nullptr; }
  // The bytes of an output.
  absl::string_view bytes() const {
    return payload_.pieces.empty() ? absl::string_view() : payload_.pieces[0];
  }

 private:
  void PointTo(absl::string_view bytes);

  DataType datatype_ = DataType::kInvalid;
  Dims dims_;  // with the batch dim
  Payload payload_;
  AnswerMemory* memory_ = nullptr;  // on which this holds a reference
  std::unique_ptr<char[]> copy_;
  uint64_t copied_bytes_ = 0;
  ByteAllowance* copies_ = nullptr;
};

}  // namespace mpsd
