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

// Memory that the bytes of an answer lie in, counted. Thread-safe: the last Unref may come from any
// thread, long after the worker that wrote the bytes is gone.
class AnswerMemory {
 public:
  virtual ~AnswerMemory() = default;
  virtual void Ref() = 0;
  virtual void Unref() = 0;

  // Asks whether a reference may be kept for as long as a client takes to read. False when so much
  // is kept already that the bytes must be copied: a slow reader never starves a model. What is
  // kept is the memory as a whole, until its last reference goes, so that asking again costs
  // nothing. REQUIRES: the caller has a reference.
  virtual bool TryPin() = 0;
};

// The range of a client's own memory that an output was put into.
struct AnswerRegion {
  absl::string_view name;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct AnswerOutput {
  absl::string_view name;
  DataType datatype = DataType::kInvalid;
  Dims dims;
  absl::string_view bytes;
  AnswerRegion region{};  // without a name: the bytes go with the answer
};

// The outputs of one request. Its bytes are valid until Send() returns; beyond that only with a
// reference on `memory`.
struct Answer {
  absl::InlinedVector<AnswerOutput, 4> outputs;
  AnswerMemory* memory = nullptr;  // null: the bytes must be copied
};

// Ends a call towards its client. Implemented by accept/. Thread-safe: Send(), Fail() or End() is
// called once, from any thread.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void Send(const Answer& answer) = 0;
  virtual void Fail(const absl::Status& status) = 0;

  // One of a decoupled model's answers; does not end the call. The sink calls
  // RequestQueue::Continue() when it can take another. Answers and their ending come one after the
  // other. For a sink that said so, as are these two alone: InferMessage::takes_many.
  virtual void SendPart(const Answer& /*answer*/) { MPSD_CHECK(false); }

  // Ends a call that has had all its answers, perhaps none.
  virtual void End() { MPSD_CHECK(false); }
};

// Thread-compatible, move-only. Whoever holds it must Send(), Fail() or End() before it goes; the
// destructor CHECKs that.
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

  // True while the duty is not done.
  bool owed() const { return sink_ != nullptr; }

  void Send(const Answer& answer) { Take()->Send(answer); }
  void Fail(const absl::Status& status) { Take()->Fail(status); }
  void End() { Take()->End(); }

  // The duty stays. When this returns another thread may have ended the call.
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
