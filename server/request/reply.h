// Reply: the duty to end one request exactly once.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"

namespace mpsd {

// An answer's bytes, reference-counted. Any thread may drop the last reference, long after the
// worker has ended. Implemented by lanes/. Thread-safe.
class AnswerMemory {
 public:
  virtual ~AnswerMemory() = default;
  virtual void Ref() = 0;
  virtual void Unref() = 0;

  // Whether a reference may be held until a client has read the bytes. False if too much memory is
  // held so: the caller copies the bytes, so that a slow reader never starves a model. True pins
  // the memory until its last reference goes. REQUIRES: the caller has a reference.
  virtual bool TryPin() = 0;
};

// Where an output went in the client's own memory.
struct AnswerRegion {
  absl::string_view name;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// Views of the spec and of the answer's memory.
struct AnswerOutput {
  absl::string_view name;
  DataType datatype = DataType::kInvalid;
  Dims dims;
  absl::string_view bytes;
  AnswerRegion region{};  // no name: the bytes travel in the answer
};

// One request's outputs. The bytes are valid until Send() returns, or as long as a reference on
// `memory` is held.
struct Answer {
  absl::InlinedVector<AnswerOutput, 4> outputs;
  AnswerMemory* memory = nullptr;  // null: the bytes must be copied
};

// Receives a request's ending. Exactly one of Send(), Fail() and End() is called, once, from any
// thread, by a Reply. The caller does not touch the request afterwards: it may be in use for the
// next call. No method blocks; the sink handles a client that cannot be reached. Implemented by the
// exchange. Thread-safe.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void Send(const Answer& answer) = 0;
  virtual void Fail(const absl::Status& status) = 0;

  // One of several answers. Until the sink calls RowQueue::Continue(), neither another answer nor
  // the ending comes. REQUIRES: InferMessage::takes_many.
  virtual void SendPart(const Answer& /*answer*/) { MPSD_CHECK(false); }

  // After all answers, perhaps none. REQUIRES: as SendPart().
  virtual void End() { MPSD_CHECK(false); }
};

// The duty to end a request. The holder calls exactly one of Send(), Fail() and End(); CHECKs hold,
// in release too, that nobody forgets or repeats the ending.
//
//   who owes the ending          from                           until
//   the exchange                 InferExchange::Begin()         InferHandler::Handle()
//   admission                    Handle()                       RequestQueue::Reserve() succeeds
//   the queue                    Reserve()                      the ending
//
// The object stays in Request::reply. The request's state and the queue's mutex give the right to
// call it to one thread at a time. Move-only, thread-compatible.
class Reply {
 public:
  Reply() = default;
  explicit Reply(ReplySink* sink) : sink_(sink) {}
  Reply(Reply&& other) noexcept : sink_(std::exchange(other.sink_, nullptr)) {}
  Reply& operator=(Reply&& other) noexcept {
    MPSD_CHECK(sink_ == nullptr);
    sink_ = std::exchange(other.sink_, nullptr);
    return *this;
  }
  ~Reply() { MPSD_CHECK(sink_ == nullptr); }

  bool owed() const { return sink_ != nullptr; }

  // REQUIRES: owed().
  void Send(const Answer& answer) { Take()->Send(answer); }
  void Fail(const absl::Status& status) { Take()->Fail(status); }
  void End() { Take()->End(); }

  // Keeps the duty. Another thread may have ended the request when this returns. REQUIRES: owed().
  void SendPart(const Answer& answer) {
    MPSD_CHECK(sink_ != nullptr);
    sink_->SendPart(answer);
  }

 private:
  ReplySink* Take() {
    MPSD_CHECK(sink_ != nullptr);
    return std::exchange(sink_, nullptr);
  }

  ReplySink* sink_ = nullptr;
};

}  // namespace mpsd
