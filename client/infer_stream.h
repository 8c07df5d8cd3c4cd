// InferStream: a stream of requests on one connection, whose answers arrive as they are ready.
//
//   auto stream = InferStream::Open(client, deadline, [](StreamReply reply) { … });
//   for (const InferRequest& request : requests) {
//     if (!stream->Send(request).ok()) break;
//   }
//   absl::Status ended = stream->Finish();
//
// Cheaper than a call for each request. A request of a decoupled model gets any number of replies,
// all with its id. Nothing is ever repeated, whatever RetryOptions say.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/client.h"

namespace mpsd::client {

// An error concerns one request alone: UNKNOWN with the server's text. The stream goes on.
struct StreamReply {
  std::string id;  // the request's
  absl::StatusOr<InferReply> reply;
};

// The callback runs on the stream's own thread, one answer at a time; answers of one model come in
// order. The client outlives the stream. Destroying a stream before Finish() cancels it; afterwards
// no callback runs. Thread-compatible, but the callback may run while Send() blocks.
class InferStream {
 public:
  using OnReply = std::function<void(StreamReply reply)>;

  // Ends at `deadline` at the latest. Does not block: Send() or Finish() tell whether the server
  // takes the stream. A callback that blocks holds up later answers, and in the end the server.
  static std::unique_ptr<InferStream> Open(Client* client, absl::Time deadline, OnReply on_reply);
  ~InferStream();
  InferStream(const InferStream&) = delete;
  InferStream& operator=(const InferStream&) = delete;

  // Blocks while the server takes no more. The tensors must stay valid until it returns.
  // INVALID_ARGUMENT: the request is malformed. UNAVAILABLE: the stream has ended; Finish() says
  // why.
  absl::Status Send(const InferRequest& request);

  // Blocks until all requests are answered. Called at most once and last, and not from the
  // callback.
  absl::Status Finish();

 private:
  struct Call;  // keeps gRPC out of this header

  explicit InferStream(std::unique_ptr<Call> call);

  const std::unique_ptr<Call> call_;
};

}  // namespace mpsd::client
