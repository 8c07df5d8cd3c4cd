// InferMessage: what a client sent, as accept/ read it off the wire, before anything is believed.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

// The pieces of one tensor's bytes, in order, as the transport's buffers hold them.
struct Payload {
  absl::InlinedVector<absl::string_view, 2> pieces;
  uint64_t bytes = 0;

  void Append(absl::string_view piece) {
    bytes += piece.size();
    if (!piece.empty()) pieces.push_back(piece);
  }
};

struct InputMessage {
  absl::string_view name;
  absl::string_view datatype;
  absl::Span<const int64_t> dims;
  bool has_typed = false;  // `contents` is there
  bool has_data = false;   // `payload` is there, from raw or typed contents
  Payload payload;
  std::string typed_error;  // why `contents` cannot be read as the datatype; empty: it can
};

// The views point into buffers of the call, which lives until the request has ended.
struct InferMessage {
  absl::string_view model;
  absl::string_view version;
  absl::string_view id;
  absl::InlinedVector<InputMessage, 2> inputs;
  absl::InlinedVector<absl::string_view, 2> outputs;  // asked for; none: all
  uint32_t raw_count = 0;                             // entries of raw_input_contents
  uint32_t region_inputs = 0;                         // inputs that lie in memory of the client's
  std::string parameter_error;    // a parameter that cannot be taken; empty: none
  int64_t timeout_us = 0;         // the "timeout" parameter; 0: none
  bool wants_final_flag = false;  // the "triton_enable_empty_final_response" parameter
  bool takes_many = false;        // its call can take any number of answers
};

// Takes requests off accept/'s hands. Implemented by admit/. Thread-safe.
class InferHandler {
 public:
  virtual ~InferHandler() = default;

  // Admits or refuses; either way the request's reply is given, now or later. True when the
  // message's payloads are not looked at any more; otherwise the request waits for memory that they
  // can be copied to, and the message and its bytes stay where they are until the reply is given.
  virtual bool Handle(const InferMessage& message, struct Request* request) = 0;
};

}  // namespace mpsd
