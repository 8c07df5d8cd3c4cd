// ExchangeTransport: the part of a call that its request's exchange needs.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "server/bodies/grpc/tensor_forms.h"
#include "server/http/connections/connection_id.h"
#include "server/request/infer_message.h"
#include "server/request/reply.h"

namespace mpsd {

// The first bytes of a request that is arriving, and the length of the whole. Valid during a call.
struct RequestBeginning {
  absl::string_view bytes;
  size_t whole_bytes = 0;
};

// One request's side of a transport. Only the transport knows the request's bytes, the client's
// connection and credentials, and how an answer becomes bytes. Implemented by door/'s InferTask,
// GrpcStreamRequest and TextPart. Owns its InferExchange, or lives as long.
//
//   the call's thread   Read → MayUse → [Connection] → [DropPayloads]
//   either of both      [DropFields], once the payloads are dropped and the ending is known
//   the copier's        Resume, once inputs on a device are copied
//   any thread          (Write → SendPart), any number of times → Write → SendLast
//                                                               → SendNoMore, or SendError
//
// An answer may be written while DropPayloads() runs. SendError() may come at any step. No function
// may block.
//
// Lives on the call's thread up to DropPayloads(); any thread may call the functions after that.
class ExchangeTransport {
 public:
  virtual ~ExchangeTransport() = default;

  // Reads the request. The views of `message` and `forms` stay valid until InferExchange::Clear(),
  // except what DropPayloads() and DropFields() end. A status is the client's answer.
  virtual absl::Status Read(InferMessage* message, TensorForms* forms) = 0;

  // Reads a request that lacks only the end of its last payload. False:
  // it cannot be admitted before it is whole, and Read() will read it.
  virtual bool ReadBeginning(const RequestBeginning& /*beginning*/, InferMessage* /*message*/,
                             TensorForms* /*forms*/) {
    return false;
  }

  // Whether the caller may use the model: OK, UNAUTHENTICATED or PERMISSION_DENIED.
  virtual absl::Status MayUse(absl::string_view model) = 0;

  // The caller's number among the tenants that share the model in equal parts. Called after
  // MayUse().
  virtual uint32_t Tenant() = 0;

  // The version of the access rules behind that number; 0: there were none. Called with Tenant().
  virtual uint64_t RulesVersion() = 0;

  // The connection whose registered memory the request may name. Called only if the request names
  // some.
  virtual ConnectionId Connection() = 0;

  // Frees the memory of the payloads, which nobody reads any more. Names, ids and parameters stay:
  // another thread may be reading them.
  virtual void DropPayloads() = 0;

  // Frees the rest of what was read. Nobody reads it any more, but the client may be slow to take
  // the answer. Called just before SendLast() or SendError(), or on the call's thread after it. A
  // transport that needs the fields for its ending keeps them.
  virtual void DropFields() {}

  // Has InferExchange::Resumed() called soon on the call's thread, never from within Resume().
  virtual void Resume() = 0;

  // Makes the bytes of an answer and keeps them for SendLast() if `is_last`, else for SendPart().
  // An error ends the request instead. The answer's memory is valid only until Write() returns; a
  // transport that needs it longer takes a reference on it.
  virtual absl::Status Write(const Answer& answer, bool is_last) = 0;

  // Sends the written answer. The transport then calls InferExchange::Continue() once it can take
  // the next answer, or StopAnswers() once it can send no more. Only if a request may have many
  // answers.
  virtual void SendPart() { MPSD_CHECK(false); }

  // The three endings. Exactly one of them is called for a request. The call may be cleared, reused
  // or deleted on its own thread before any of them returns.

  // Sends the written answer as the request's one answer.
  virtual void SendLast() = 0;

  // Tells the client, if it wants to know, that no further answer comes. Only if a request may have
  // many answers.
  virtual void SendNoMore() { MPSD_CHECK(false); }

  virtual void SendError(const absl::Status& status) = 0;
};

}  // namespace mpsd
