// RequestPart: some rows of a request, as a request of their own in the model's pool.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/parts/input_cutter.h"
#include "server/request/infer_message.h"
#include "server/request/reply.h"
#include "server/request/request.h"

namespace mpsd {

class RequestPart;

// What a part tells the run that it belongs to. Thread-safe.
class PartOwner {
 public:
  // The part ends, by one of these. The answer is valid until PartAnswered() returns.
  virtual void PartAnswered(const RequestPart& part, const Answer& answer) = 0;
  virtual void PartFailed(const absl::Status& status) = 0;

 protected:
  ~PartOwner() = default;
};

// Differs from the whole in its rows alone: it has the deadline, the priority, the tenant and the
// wanted outputs of the whole. It is not admitted again, and neither counted nor traced when it
// ends: its rows are, by their batches, and the rest is the whole's.
//
//   Take ─▶ Reserve ─▶ Fill ─▶ PartAnswered, or PartFailed
//
// Owned by a PartedRun. One thread calls these; the ending comes on any, from Reserve() on.
// Thread-compatible.
class RequestPart final : public ReplySink {
 public:
  // The owner outlives it.
  RequestPart(PartOwner* owner, uint32_t number, uint32_t first_row)
      : owner_(owner), number_(number), first_row_(first_row) {}

  // Takes the next `rows` rows of the whole off the cutters, of which there is one for each input.
  // The whole and its payloads outlive the part's ending. Called once, first of all.
  void Take(const Request& whole, uint32_t rows, absl::Span<InputCutter> cutters);

  // Reserves the part's rows in the pool. After an error the part has ended: its owner was told.
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
  const uint32_t number_;  // among the parts of the whole, in the order of the rows
  const uint32_t first_row_;
  absl::InlinedVector<Payload, 4> payloads_;  // of the inputs
  Request request_;
  RowTargets targets_;
};

}  // namespace mpsd
