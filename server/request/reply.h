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

// Reference-counted memory with the bytes of an answer. Implemented by lanes/. Thread-safe: any
// thread may drop the last reference, long after the worker that wrote the bytes has ended.
class AnswerMemory {
 public:
  virtual ~AnswerMemory() = default;
  virtual void Ref() = 0;
  virtual void Unref() = 0;

  // Asks whether a reference may be held until a client has read the bytes, which may take any
  // time. False if too much memory is held so: the caller then copies the bytes, so that a slow
  // reader never starves a model. True pins the whole memory until its last reference goes; asking
  // again is free. REQUIRES: the caller has a reference.
  virtual bool TryPin() = 0;
};

// The range of the client's own memory that received an output.
struct AnswerRegion {
  absl::string_view name;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// One output tensor of an answer. Views of the spec and of the answer's memory.
struct AnswerOutput {
  absl::string_view name;
  DataType datatype = DataType::kInvalid;
  Dims dims;
  absl::string_view bytes;
  AnswerRegion region{};  // without a name: the bytes travel in the answer
};

// The outputs of one request. The bytes are valid until Send() returns. A sink that needs them
// longer takes a reference on `memory`.
struct Answer {
  absl::InlinedVector<AnswerOutput, 4> outputs;
  AnswerMemory* memory = nullptr;  // null: the bytes must be copied
};

// Receives a request's ending, towards the client. Implemented by the exchange; called only through
// a Reply. Exactly one of Send(), Fail() and End() is called, once, from any thread. The caller
// does not touch the request afterwards, which may be in use for the next call. No method blocks,
// and none fails towards its caller: the transport handles a client that cannot be reached.
// Thread-safe.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void Send(const Answer& answer) = 0;
  virtual void Fail(const absl::Status& status) = 0;

  // Takes one of several answers; the request goes on. The sink calls RowQueue::Continue() when
  // it can take the next one; neither another answer nor the ending comes before. REQUIRES: the
  // message said InferMessage::takes_many.
  virtual void SendPart(const Answer& /*answer*/) { MPSD_CHECK(false); }

  // Ends a request that has had all its answers, perhaps none. REQUIRES: as SendPart().
  virtual void End() { MPSD_CHECK(false); }
};

// The duty to end a request, as an object, so that the program checks "an accepted request ends
// exactly once", in release too. The holder must call exactly one of Send(), Fail() and End(). The
// destructor CHECKs that the duty is done; the three CHECK that it is still owed.
//
//   who owes the ending          from                           until
//   the exchange                 InferExchange::Begin()         InferHandler::Handle()
//   admission                    Handle()                       RequestQueue::Reserve() succeeds
//   the queue                    Reserve()                      the ending
//
// The object stays in Request::reply; what moves is the right to call it. The request's state and
// the queue's mutex give that to one thread at a time. Move-only, thread-compatible.
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

  // True until the request has ended.
  bool owed() const { return sink_ != nullptr; }

  // Each ends the request. REQUIRES: owed().
  void Send(const Answer& answer) { Take()->Send(answer); }
  void Fail(const absl::Status& status) { Take()->Fail(status); }
  void End() { Take()->End(); }

  // Sends one of several answers and keeps the duty. Another thread may have ended the request when
  // this returns. REQUIRES: owed().
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
