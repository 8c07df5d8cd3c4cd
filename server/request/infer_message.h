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

// A tensor's bytes in the transport's buffers. Up to two pieces take no heap memory. No piece is
// empty.
struct Payload {
  absl::InlinedVector<absl::string_view, 2> pieces;
  uint64_t bytes = 0;
  uint64_t arriving_bytes = 0;  // the last of `bytes`, not in a piece yet

  void Append(absl::string_view piece) {
    bytes += piece.size();
    if (!piece.empty()) pieces.push_back(piece);
  }
};

// As sent, not compared with a model.
struct InputMessage {
  absl::string_view name;
  absl::string_view datatype;
  absl::Span<const int64_t> dims;
  bool has_typed = false;
  bool has_data = false;  // `payload` is set
  Payload payload;
  std::string typed_error;  // why typed contents do not fit; empty: they fit
};

// Filled by the wire reader (step 2), checked by the validator (step 3). Owned by the exchange and
// used again for each request. The payloads point into buffers that go once the payload is copied
// (ExchangeTransport::DropPayloads). All other views live until the request has ended.
// Thread-compatible.
struct InferMessage {
  absl::string_view model;
  absl::string_view version;
  absl::string_view id;
  absl::InlinedVector<InputMessage, 2> inputs;
  absl::InlinedVector<absl::string_view, 2> outputs;  // empty: all
  uint32_t raw_count = 0;                             // raw_input_contents
  uint32_t region_inputs = 0;                         // in the client's memory
  std::string parameter_error;                        // why a parameter is refused; or empty
  int64_t timeout_us = 0;                             // 0: none
  uint64_t priority = 0;                              // 0: none
  bool wants_final_flag = false;  // the "triton_enable_empty_final_response" parameter
  bool takes_many = false;        // the call can carry any number of answers
  TextWishes texts;
  SequenceMark sequence;  // the "sequence_…" parameters
};

enum class Handled : uint8_t {
  kCopied,  // admitted or ended: nobody reads the payloads any more
  // waits for memory or its bunch: the caller keeps message and bytes until the reply
  kLater,
  // long texts: the caller owes the reply, calls EncodeTexts(), then Handle() again
  kAwaitsTexts,
};

// Lives on the thread that encodes the texts.
class TextWaiter {
 public:
  virtual ~TextWaiter() = default;

  // Called before each text. An error ends the work.
  virtual absl::Status GoOn() const = 0;

  // Called last. The request may be handled again, and end, before this returns.
  virtual void TextsDone(const absl::Status& status) = 0;
};

// The next step for a request that a transport has read. Owned by the daemon. No method blocks.
// Implemented by admit/. Thread-safe.
class InferHandler {
 public:
  virtual ~InferHandler() = default;

  // Admits or refuses. The reply is given now or later, on any thread.
  virtual Handled Handle(const InferMessage& message, struct Request* request) = 0;

  // Admits a request whose last payload is still arriving. The present bytes are in its rows; the
  // caller writes the others to Request::rest, then calls RowQueue::Commit(). False: the request is
  // unchanged, and comes to Handle() once it is whole.
  virtual bool AdmitArriving(const InferMessage& /*message*/, struct Request* /*request*/) {
    return false;
  }

  // Has the bunch's requests enter their queues. Handle() has put them there, and returned kLater.
  virtual void EnterAll(struct RequestBunch* /*bunch*/) {}

  // Another thread encodes the texts into request->tokens. Until TextsDone() the message, its bytes
  // and the requeststay unchanged. The caller replies with the waiter's error. REQUIRES: Handle()
  // returned kAwaitsTexts.
  virtual void EncodeTexts(const InferMessage& message, struct Request* request,
                           TextWaiter* waiter) = 0;
};

}  // namespace mpsd
