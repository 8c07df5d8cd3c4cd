// InferMessage: an inference request as the client sent it, before anything of it is checked.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/request/sequence_policy.h"
#include "server/request/text_policy.h"

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
  uint64_t priority = 0;                              // the "priority" parameter; 0: none
  bool wants_final_flag = false;  // the "triton_enable_empty_final_response" parameter
  bool takes_many = false;        // the call can carry any number of answers to the request
  TextWishes texts;               // of its texts, if it has any
  SequenceMark sequence;          // the "sequence_…" parameters
};

// What became of a request that an InferHandler was given.
enum class Handled : uint8_t {
  kCopied,  // admitted or ended: nobody reads the message's payloads any more
  kLater,   // it waits for memory to copy the payloads to: the caller keeps the message and its
            // bytes unchanged until the reply is given
  kAwaitsTexts,  // its texts are long, and it owes its reply: the caller has EncodeTexts() encode
                 // them, and then gives it to Handle() again
};

// What an exchange is told while the texts of its request are encoded. Lives on the thread that
// encodes: both functions are called there.
class TextWaiter {
 public:
  virtual ~TextWaiter() = default;

  // Asked before each text. An error, for a request that nobody awaits any more, ends the work.
  virtual absl::Status GoOn() const = 0;

  // Called once, last of all. The request may be handled again, and end, before this returns.
  virtual void TextsDone(const absl::Status& status) = 0;
};

// The next step after a transport has read a request: an exchange knows its handler by this
// interface alone. One for the whole daemon, which owns it. Implemented by admit/. Thread-safe.
class InferHandler {
 public:
  virtual ~InferHandler() = default;

  // Admits or refuses the request, whose reply is given exactly once, now or later, on any thread.
  // Never blocks.
  virtual Handled Handle(const InferMessage& message, struct Request* request) = 0;

  // Has another thread encode the texts into request->tokens. Never blocks. After an error, which
  // the waiter gets, the caller gives it as the reply. Until TextsDone() the message and its bytes
  // stay unchanged, and nobody writes to the request. REQUIRES: Handle() returned kAwaitsTexts.
  virtual void EncodeTexts(const InferMessage& message, struct Request* request,
                           TextWaiter* waiter) = 0;
};

}  // namespace mpsd
