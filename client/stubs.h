// Client::Stubs: the parts of a Client that need gRPC. Programs see no generated code.
//
// Blocking calls use Call(); asynchronous calls and streams take the stub, after Prepare().
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

// Owned by the Client. Thread-safe.
struct Client::Stubs {
  Stubs(const std::shared_ptr<grpc::Channel>& channel, const std::string& token)
      : authorization(token.empty() ? "" : "Bearer " + token),
        inference_stub(channel),
        control_stub(channel) {}

  // Every call carries these.
  void Prepare(absl::Time deadline, grpc::ClientContext* context) const {
    context->set_deadline(absl::ToChronoTime(deadline));
    if (!authorization.empty()) context->AddMetadata("authorization", authorization);
  }

  // Blocks for the answer. Never repeats. The error is the server's, or gRPC's own.
  template <class Stub, class Request, class Response>
  absl::Status Call(Stub* stub,
                    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    absl::Time deadline, const Request& request, Response* response) const;

  // Brackets of an asynchronous call. The client's destructor waits: a callback may still be
  // running in its memory.
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

inline FailedAttempt Failed(const grpc::Status& status, uint32_t attempt, absl::Time deadline) {
  return {static_cast<absl::StatusCode>(status.error_code()), ServerDelay(status.error_details()),
          attempt, deadline - absl::Now()};
}

// The two kinds of codes have the same numbers.
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
