// What a Client is made of. For the client's own sources: programs see no generated code.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "client/retry_policy.h"
#include "proto/control.grpc.pb.h"
#include "proto/inference.grpc.pb.h"

namespace mpsd::client {

struct Client::Stubs {
  explicit Stubs(const std::shared_ptr<grpc::Channel>& channel)
      : inference_stub(channel), control_stub(channel) {}

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

  inference::GRPCInferenceService::Stub inference_stub;
  control::v1::Control::Stub control_stub;

  absl::Mutex mu;
  int calls ABSL_GUARDED_BY(mu) = 0;  // asynchronous ones that are under way
};

// What a failed attempt of an inference says.
inline FailedAttempt Failed(const grpc::Status& status, uint32_t attempt, absl::Time deadline) {
  return {static_cast<absl::StatusCode>(status.error_code()), ServerDelay(status.error_details()),
          attempt, deadline - absl::Now()};
}

inline absl::Status ToAbsl(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()), status.error_message()};
}

}  // namespace mpsd::client
