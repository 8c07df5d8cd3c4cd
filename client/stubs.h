// Client::Stubs: the parts of a Client that need gRPC. For the client's own sources: programs see
// no generated code.
//
// client.h declares the struct and no more, so a program that includes it needs neither gRPC's nor
// protobuf's headers. Blocking calls go through Call(); asynchronous ones (async_infer.h) and
// streams (infer_stream.h) take the stub themselves, after Prepare().
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "client/retry_policy.h"
#include "proto/control.grpc.pb.h"
#include "proto/inference.grpc.pb.h"

namespace mpsd::client {

// One channel's stubs and credentials, and the count of asynchronous calls. Owned by the Client.
// Thread-safe.
struct Client::Stubs {
  Stubs(const std::shared_ptr<grpc::Channel>& channel, const std::string& token)
      : authorization(token.empty() ? "" : "Bearer " + token),
        inference_stub(channel),
        control_stub(channel) {}

  // Sets what every call carries: deadline and credentials.
  void Prepare(absl::Time deadline, grpc::ClientContext* context) const {
    context->set_deadline(absl::ToChronoTime(deadline));
    if (!authorization.empty()) context->AddMetadata("authorization", authorization);
  }

  // Makes one call of `method`, and blocks until `response` holds the answer. Never repeats it.
  // Returns the server's code and text, or gRPC's own, such as DEADLINE_EXCEEDED.
  template <class Stub, class Request, class Response>
  absl::Status Call(Stub* stub,
                    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    absl::Time deadline, const Request& request, Response* response) const;

  // Brackets of an asynchronous call. WaitForCalls() blocks until every call has ended, for the
  // client's destructor: a callback may still be running in the client's memory before.
  void CallBegins() ABSL_LOCKS_EXCLUDED(mu) {
    absl::MutexLock lock(&mu);
    ++calls;
  }
  void CallEnds() ABSL_LOCKS_EXCLUDED(mu) {
    absl::MutexLock lock(&mu);
    --calls;
  }
  void WaitForCalls() ABSL_LOCKS_EXCLUDED(mu) {
    absl::MutexLock lock(&mu);
    mu.Await(absl::Condition(
        +[](int* count) { return *count == 0; }, &calls));
  }

  const std::string authorization;
  inference::GRPCInferenceService::Stub inference_stub;
  control::v1::Control::Stub control_stub;

  absl::Mutex mu;
  int calls ABSL_GUARDED_BY(mu) = 0;  // asynchronous calls that have not ended
};

// A failed attempt of an inference, as far as it is known.
inline FailedAttempt Failed(const grpc::Status& status, uint32_t attempt, absl::Time deadline) {
  return {static_cast<absl::StatusCode>(status.error_code()), ServerDelay(status.error_details()),
          attempt, deadline - absl::Now()};
}

// The same code and text; the codes of the two have the same numbers.
inline absl::Status ToAbsl(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()), status.error_message()};
}

template <class Stub, class Request, class Response>
absl::Status Client::Stubs::Call(
    Stub* stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
    absl::Time deadline, const Request& request, Response* response) const {
  grpc::ClientContext context;
  Prepare(deadline, &context);
  return ToAbsl((stub->*method)(&context, request, response));
}

}  // namespace mpsd::client
