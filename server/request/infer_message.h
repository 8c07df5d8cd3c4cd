// InferMessage: an inference request as the client sent it, unchecked.
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

// The bytes of one tensor, in pieces: views of the transport's buffers. Usually there are at most
// two, which take no heap memory. No piece is empty.
struct Payload {
  absl::InlinedVector<absl::string_view, 2> pieces;
  uint64_t bytes = 0;
  uint64_t arriving_bytes = 0;  // the last ones of `bytes`, which no piece has yet

  void Append(absl::string_view piece) {
    bytes += piece.size();
    if (!piece.empty()) pieces.push_back(piece);
  }
};

// One input tensor, as sent. Not compared with a model yet.
struct InputMessage {
  absl::string_view name;
  absl::string_view datatype;
  absl::Span<const int64_t> dims;
  bool has_typed = false;  // typed contents were sent
  bool has_data = false;   // `payload` is set, from raw or typed contents or a region
  Payload payload;
  std::string typed_error;  // why typed contents do not fit the datatype; empty: they fit
};

// A transport's message for admission: the wire reader fills it in (step 2), the validator checks
// it (step 3). Owned by the exchange and used again for each request.
//
// The payloads point into the transport's buffers, which go once the payload is copied
// (ExchangeTransport::DropPayloads). All other views live until the request has ended, since the
// answer and the logs name its model and id. Thread-compatible.
struct InferMessage {
  absl::string_view model;
  absl::string_view version;
  absl::string_view id;
  absl::InlinedVector<InputMessage, 2> inputs;
  absl::InlinedVector<absl::string_view, 2> outputs;  // wanted by the client; empty: all
  uint32_t raw_count = 0;                             // entries of raw_input_contents
  uint32_t region_inputs = 0;                         // inputs in the client's memory
  std::string parameter_error;                        // why a parameter is refused; or empty
  int64_t timeout_us = 0;                             // the "timeout" parameter; 0: none
  uint64_t priority = 0;                              // the "priority" parameter; 0: none
  bool wants_final_flag = false;  // the "triton_enable_empty_final_response" parameter
  bool takes_many = false;        // the call can carry any number of answers
  TextWishes texts;               // for its texts, if any
  SequenceMark sequence;          // the "sequence_…" parameters
};

// The state of a request after an InferHandler had it.
enum class Handled : uint8_t {
  kCopied,  // admitted or ended: nobody reads the payloads any more
  // waits for memory or for its bunch: the caller keeps message and bytes unchanged until the reply
  kLater,
  // long texts: the caller calls EncodeTexts(), then Handle() again; it owes the reply
  kAwaitsTexts,
};

// Told about a request while its texts are encoded. Lives on the encoding thread: both functions
// are called there.
class TextWaiter {
 public:
  virtual ~TextWaiter() = default;

  // Called before each text. An error, if nobody awaits the request any more, ends the work.
  virtual absl::Status GoOn() const = 0;

  // Called once, last of all. The request may be handled again, and end, before this returns.
  virtual void TextsDone(const absl::Status& status) = 0;
};

// The next step after a transport has read a request; an exchange knows its handler only through
// this. One for the whole daemon, which owns it. Implemented by admit/. Thread-safe.
class InferHandler {
 public:
  virtual ~InferHandler() = default;

  // Admits or refuses the request, whose reply is given exactly once, now or later, on any thread.
  // Never blocks.
  virtual Handled Handle(const InferMessage& message, struct Request* request) = 0;

  // Admits a request while the end of its last payload is still arriving: Payload::arriving_bytes.
  // The bytes that are there were copied into the request's rows. The caller writes the others to
  // Request::rest, then calls RowQueue::Commit(). False: the request is as it was, and comes
  // again by Handle() once it is whole. Never blocks.
  virtual bool AdmitArriving(const InferMessage& /*message*/, struct Request* /*request*/) {
    return false;
  }

  // Has the bunch's requests enter their queues, if there are any. Handle() puts requests into
  // their thread's bunch, and then says kLater. Never blocks.
  virtual void EnterAll(struct RequestBunch* /*bunch*/) {}

  // Has another thread encode the texts into request->tokens. Never blocks. The waiter gets an
  // error, which the caller gives as the reply. Until TextsDone() the message and its bytes stay
  // unchanged, and nobody writes to the request. REQUIRES: Handle() returned kAwaitsTexts.
  virtual void EncodeTexts(const InferMessage& message, struct Request* request,
                           TextWaiter* waiter) = 0;
};

}  // namespace mpsd
