// ExchangeTransport: what an exchange needs of its call.
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

// Valid during a call.
struct RequestBeginning {
  absl::string_view bytes;
  size_t whole_bytes = 0;
};

// One request's side of a transport, which alone knows bytes, connection and credentials. Owns its
// InferExchange, or lives as long.
//
//   the call's thread   Read → MayUse → [Connection] → [DropPayloads]
//   either of both      [DropFields], once the payloads are dropped and the ending is known
//   the copier's        Resume, once inputs on a device are copied
//   any thread          (Write → SendPart), any number of times → Write → SendLast
//                                                               → SendNoMore, or SendError
//
// An answer may be written while DropPayloads() runs. SendError() may come at any step. No function
// may block. Lives on the call's thread up to DropPayloads(), and on any thread after that.
class ExchangeTransport {
 public:
  virtual ~ExchangeTransport() = default;

  // The views stay valid until InferExchange::Clear(), except what DropPayloads() and DropFields()
  // end. A status is the client's answer.
  virtual absl::Status Read(InferMessage* message, TensorForms* forms) = 0;

  // Reads a request that lacks only the end of its last payload. False if Read() must read the
  // whole.
  virtual bool ReadBeginning(const RequestBeginning& /*beginning*/, InferMessage* /*message*/,
                             TensorForms* /*forms*/) {
    return false;
  }

  // OK, UNAUTHENTICATED or PERMISSION_DENIED.
  virtual absl::Status MayUse(absl::string_view model) = 0;

  // The caller's number among the model's tenants. Called after MayUse().
  virtual uint32_t Tenant() = 0;

  // Version of the access rules behind that number; 0: there were none. Called with Tenant().
  virtual uint64_t RulesVersion() = 0;

  // Called only if the request names registered memory.
  virtual ConnectionId Connection() = 0;

  // Frees the payloads. Names, ids and parameters stay: another thread may be reading them.
  virtual void DropPayloads() = 0;

  // Frees the rest, since the client may be slow to take the answer. Called just before SendLast()
  // or SendError(), or after it on the call's thread. A transport that needs the fields for its
  // ending keeps them.
  virtual void DropFields() {}

  // Has InferExchange::Resumed() called soon on the call's thread, never from within Resume().
  virtual void Resume() = 0;

  // Keeps an answer's bytes for SendLast() if `is_last`, else for SendPart(). An error ends the
  // request. The answer's memory is valid until the return, unless the transport takes a reference.
  virtual absl::Status Write(const Answer& answer, bool is_last) = 0;

  // Sends the written answer, if several may come. InferExchange::Continue() or StopAnswers()
  // follows.
  virtual void SendPart() { MPSD_CHECK(false); }

  // Exactly one of the three endings is called. The call may be cleared, reused or deleted on its
  // own thread before any of them returns.

  virtual void SendLast() = 0;

  // Tells the client, if it wants to know, that no further answer comes.
  virtual void SendNoMore() { MPSD_CHECK(false); }

  virtual void SendError(const absl::Status& status) = 0;
};

}  // namespace mpsd
