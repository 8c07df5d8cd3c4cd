// InferMessage: an inference request as the client sent it, before anything of it is checked.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

// The bytes of one tensor, in pieces: views of the buffers that the transport received them in. Two
// pieces or fewer are the rule, and take no memory from the heap. No piece is empty.
struct Payload {
  absl::InlinedVector<absl::string_view, 2> pieces;
  uint64_t bytes = 0;

  void Append(absl::string_view piece) {
    bytes += piece.size();
    if (!piece.empty()) pieces.push_back(piece);
  }
};

// One input tensor, as sent. Nothing of it was compared with a model.
struct InputMessage {
  absl::string_view name;
  absl::string_view datatype;
  absl::Span<const int64_t> dims;
  bool has_typed = false;  // typed contents were sent
  bool has_data = false;   // `payload` is set, from raw contents, typed contents or a region
  Payload payload;
  std::string typed_error;  // why the typed contents do not fit the datatype; empty: they fit
};

// What any transport hands to admission: the wire reader fills it in (step 2), the validator checks
// it (step 3). Owned by the exchange and used again from request to request.
//
// Two lifetimes: the payloads point into the transport's buffers, which go as soon as the payload
// is copied (ExchangeTransport::DropPayloads). All other views live until the request has ended,
// since the answer and the logs name its model and id. Thread-compatible.
struct InferMessage {
  absl::string_view model;
  absl::string_view version;
  absl::string_view id;
  absl::InlinedVector<InputMessage, 2> inputs;
  absl::InlinedVector<absl::string_view, 2> outputs;  // that the client wants; none: all
  uint32_t raw_count = 0;                             // entries of raw_input_contents
  uint32_t region_inputs = 0;                         // inputs that lie in the client's memory
  std::string parameter_error;                        // why a parameter is refused; empty: none is
  int64_t timeout_us = 0;                             // the "timeout" parameter; 0: none
  bool wants_final_flag = false;  // the "triton_enable_empty_final_response" parameter
  bool takes_many = false;        // the call can carry any number of answers to the request
};

// The next step after a transport has read a request: an exchange knows its handler by this
// interface alone. One for the whole daemon, which owns it. Implemented by admit/. Thread-safe.
class InferHandler {
 public:
  virtual ~InferHandler() = default;

  // Admits or refuses the request, whose reply is given exactly once, now or later, on any thread.
  // Never blocks. After true nobody reads the message's payloads any more. After false the request
  // waits for memory to copy them to: the caller keeps the message and its bytes unchanged until
  // the reply is given.
  virtual bool Handle(const InferMessage& message, struct Request* request) = 0;
};

}  // namespace mpsd
