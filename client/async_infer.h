// AsyncInfer: one inference for which no thread waits.
//
//   Start ─▶ Try ─▶ gRPC … ─▶ Ended ─▶ CallBack ─▶ deleted
//             ▲                 │
//             └──── alarm ◀─────┘   RetryDelay() says to try again
//
// The steps behind Start() are callbacks of gRPC's, one after another. The deadline bounds all
// tries and waits together.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <optional>

#include "absl/random/random.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "client/retry_policy.h"
#include "client/stubs.h"

namespace mpsd::client {

// For client.cc alone. Owned by nobody and deletes itself: the count in the client's Stubs keeps
// the client alive until the call has ended. Lives on gRPC's threads, on one at a time.
class AsyncInfer {
 public:
  // Does not block. `done` is called exactly once, on a thread of gRPC's, by `deadline` or shortly
  // after; `stubs` outlives that.
  static void Start(Client::Stubs* stubs, inference::ModelInferRequest request,
                    const RetryOptions& retry, absl::Time deadline, Client::InferDone done);

 private:
  AsyncInfer(Client::Stubs* stubs, inference::ModelInferRequest request, const RetryOptions& retry,
             absl::Time deadline, Client::InferDone done);

  void Try();
  void Ended(const grpc::Status& status);
  // `this` is gone when it returns.
  void CallBack(absl::StatusOr<InferReply> reply);

  Client::Stubs* const stubs_;
  const inference::ModelInferRequest request_;
  const RetryOptions retry_;
  const absl::Time deadline_;
  const Client::InferDone done_;
  absl::BitGen dice_;
  uint32_t attempt_ = 0;                        // number of the present try, from 1
  std::optional<grpc::ClientContext> context_;  // new for each try
  inference::ModelInferResponse response_;
  grpc::Alarm alarm_;
};

}  // namespace mpsd::client
