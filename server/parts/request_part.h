// RequestPart: some rows of a request, as a request of their own in the model's pool.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/request/infer_message.h"
#include "server/request/payload_reader.h"
#include "server/request/reply.h"
#include "server/request/request.h"

namespace mpsd {

// Cuts rows of one input off its payload.
//
// Goes through the rows in order. Copies no bytes: its payloads are views of the client's. A value
// on the stack of the thread that admits the request; input and payload outlive it.
// Thread-compatible.
class InputCutter {
 public:
  // An input that is left out has rows without bytes. REQUIRES: the input is checked, and has
  // `rows` rows, at least one.
  InputCutter(const RequestInput& input, uint32_t rows);

  // The next rows. REQUIRES: that many are left.
  Payload Take(uint32_t rows);

 private:
  uint64_t BytesOf(uint32_t rows);

  PayloadReader rows_;
  PayloadReader lengths_;  // for BYTES: stands behind the rows already taken
  const bool is_strings_;
  uint64_t row_elements_ = 1;  // for BYTES
  uint64_t row_bytes_ = 0;     // for all others
};

class RequestPart;

// How a part tells its run that it has ended. Thread-safe.
class PartOwner {
 public:
  // The part ends by one of these. The answer is valid until PartAnswered() returns.
  virtual void PartAnswered(const RequestPart& part, const Answer& answer) = 0;
  virtual void PartFailed(const absl::Status& status) = 0;

 protected:
  ~PartOwner() = default;
};

// Has the whole's deadline, priority, tenant and wanted outputs, but only some of its rows. It is
// not admitted again, and not counted or traced at its end: its batches count its rows, and the
// whole counts the rest.
//
//   Take ─▶ Reserve ─▶ Fill ─▶ PartAnswered, or PartFailed
//
// Owned by a PartedRun. One thread calls these; the ending may come on any thread, from Reserve()
// on. Thread-compatible.
class RequestPart final : public ReplySink {
 public:
  // The owner outlives it.
  RequestPart(PartOwner* owner, uint32_t number, uint32_t first_row)
      : owner_(owner), number_(number), first_row_(first_row) {}

  // Takes the whole's next `rows` rows off the cutters, one for each input. The whole and its
  // payloads outlive the part's ending. Called once, before all others.
  void Take(const Request& whole, uint32_t rows, absl::Span<InputCutter> cutters);

  // Reserves the part's rows in the pool. After an error the part has ended and its owner was told.
  absl::Status Reserve(RequestQueue* pool);

  // Fills the rows and commits them, unless the pool does. REQUIRES: Reserve() was OK. Called once.
  void Fill(RequestQueue* pool);

  uint32_t number() const { return number_; }
  uint32_t first_row() const { return first_row_; }
  const Request& request() const { return request_; }
  Request* request() { return &request_; }

  // ReplySink.
  void Send(const Answer& answer) override { owner_->PartAnswered(*this, answer); }
  void Fail(const absl::Status& status) override { owner_->PartFailed(status); }

 private:
  PartOwner* const owner_;
  const uint32_t number_;  // among the whole's parts, in the order of rows
  const uint32_t first_row_;
  absl::InlinedVector<Payload, 4> payloads_;  // one for each input
  Request request_;
  RowTargets targets_;
};

}  // namespace mpsd
