// AsyncInfer: one inference for which no thread waits.
//
//   Start ─▶ Try ─▶ gRPC … ─▶ Ended ─▶ CallBack ─▶ deleted
//             ▲                 │
//             └──── alarm ◀─────┘   RetryDelay() says to try again
//
// RetryDelay() judges each failed try as it does for a blocking call; the wait for the server's or
// the policy's delay is an alarm of gRPC's. The deadline bounds all tries and waits together.
//
// Everything behind Start() is a callback of gRPC's, one after another: the answer of a try, or the
// alarm that ends a wait. A wait so costs no thread either.
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

// Made by Client::InferAsync(). Sends the request, tries again as the options say, calls back, and
// deletes itself. Owned by nobody: the count in the client's Stubs keeps the client from being
// destroyed before the call has ended. Lives on gRPC's threads, on one at a time, from Start()
// until it has called back. For client.cc alone.
class AsyncInfer {
 public:
  // Sends the request now, without blocking. `done` is called exactly once, on a thread of gRPC's,
  // by `deadline` at the latest or shortly after; `stubs` outlives that.
  static void Start(Client::Stubs* stubs, inference::ModelInferRequest request,
                    const RetryOptions& retry, absl::Time deadline, Client::InferDone done);

 private:
  AsyncInfer(Client::Stubs* stubs, inference::ModelInferRequest request, const RetryOptions& retry,
             absl::Time deadline, Client::InferDone done);

  // Sends the request once more, and forgets the try before.
  void Try();
  void Ended(const grpc::Status& status);
  // The last thing that happens: `this` is gone when it returns.
  void CallBack(absl::StatusOr<InferReply> reply);

  Client::Stubs* const stubs_;
  const inference::ModelInferRequest request_;
  const RetryOptions retry_;
  const absl::Time deadline_;
  const Client::InferDone done_;
  absl::BitGen dice_;
  uint32_t attempt_ = 0;                        // number of the present try, from 1
  std::optional<grpc::ClientContext> context_;  // a new one for each try
  inference::ModelInferResponse response_;
  grpc::Alarm alarm_;
};

}  // namespace mpsd::client
