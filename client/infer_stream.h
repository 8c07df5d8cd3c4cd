// InferStream: one connection's stream of requests, whose answers come as they are ready.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/client.h"

namespace mpsd::client {

// What a stream answers to one request. An error is that request's alone, and the stream goes on;
// it comes without a code, and so is UNKNOWN with the server's text.
struct StreamReply {
  std::string id;  // of the request
  absl::StatusOr<InferReply> reply;
};

// Thread-compatible; its callback runs on a thread of its own, one answer at a time, those to one
// model in the order of their requests. The client outlives it. A stream that is destroyed before
// Finish() is cancelled, and no callback runs any more when the destructor has returned.
class InferStream {
 public:
  using OnReply = std::function<void(StreamReply reply)>;

  // The whole stream ends at `deadline`.
  static std::unique_ptr<InferStream> Open(Client* client, absl::Time deadline, OnReply on_reply);
  ~InferStream();
  InferStream(const InferStream&) = delete;
  InferStream& operator=(const InferStream&) = delete;

  // Hands one request on; waits where the server takes no more for now. INVALID_ARGUMENT when the
  // request is none; UNAVAILABLE when the stream has ended: Finish() says why.
  absl::Status Send(const InferRequest& request);

  // No more requests follow. Waits until all are answered, and returns how the stream ended.
  // REQUIRES: called once, not from the callback; nothing is sent after it.
  absl::Status Finish();

 private:
  struct Call;  // keeps gRPC out of this header

  explicit InferStream(std::unique_ptr<Call> call);

  const std::unique_ptr<Call> call_;
};

}  // namespace mpsd::client
