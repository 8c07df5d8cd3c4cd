// RequestPart: some rows of a request, as a request in the model's pool.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "server/compose/child_request.h"
#include "server/request/infer_message.h"
#include "server/request/payload_reader.h"
#include "server/request/request.h"

namespace mpsd {

// Cuts rows of one input off its payload, in order, without a copy. Lives on the stack; input and
// payload outlive it. Thread-compatible.
class InputCutter {
 public:
  // An input that is left out has rows without bytes. REQUIRES: the input is checked; rows > 0.
  InputCutter(const RequestInput& input, uint32_t rows);

  // REQUIRES: that many rows are left.
  Payload Take(uint32_t rows);

 private:
  uint64_t BytesOf(uint32_t rows);

  PayloadReader rows_;
  PayloadReader lengths_;  // behind the rows already taken
  const bool is_strings_;
  uint64_t row_elements_ = 1;  // for BYTES
  uint64_t row_bytes_ = 0;     // for all others
};

// Has the whole's deadline, priority, tenant and wanted outputs. It is not admitted, counted or
// traced by itself: its batches count its rows, and the whole counts the rest. Owned by a
// PartedRun. As thread-compatible as a ChildRequest.
class RequestPart final : public ChildRequest {
 public:
  RequestPart(ChildOwner* owner, uint32_t number, uint32_t first_row)
      : ChildRequest(owner, number), first_row_(first_row) {}

  // The whole and its payloads outlive the part's ending. Called once, before all others.
  void Take(const Request& whole, uint32_t rows, absl::Span<InputCutter> cutters);

  uint32_t first_row() const { return first_row_; }

 private:
  const uint32_t first_row_;
  absl::InlinedVector<Payload, 4> payloads_;
};

}  // namespace mpsd
