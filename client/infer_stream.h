// InferStream: a stream of requests on one connection, whose answers arrive as they are ready.
//
//   auto stream = InferStream::Open(client, deadline, [](StreamReply reply) { … });
//   for (const InferRequest& request : requests) {
//     if (!stream->Send(request).ok()) break;
//   }
//   absl::Status ended = stream->Finish();
//
// Cheaper than a call for each request, since a stream costs the set-up of a call once. A request
// of a decoupled model may get any number of replies, all with its id; of any other model it gets
// one. Requests of a stream are never repeated, whatever the client's RetryOptions say.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/client.h"

namespace mpsd::client {

// The answer to one request of a stream. An error concerns that request alone, and the stream goes
// on. Such an error has no code of its own: it is UNKNOWN with the server's text.
struct StreamReply {
  std::string id;  // the request's id
  absl::StatusOr<InferReply> reply;
};

// One bidirectional call. The callback runs on a thread of the stream's own, one answer at a time;
// answers of one model come in the order of their requests. The client outlives the stream.
// Destroying a stream before Finish() cancels it; after the destructor no callback runs.
//
// Thread-compatible. The callback may run while Send() blocks.
class InferStream {
 public:
  using OnReply = std::function<void(StreamReply reply)>;

  // Opens a stream that ends at `deadline` at the latest, and starts its thread. Does not block:
  // whether the server takes the stream shows at Send() or Finish(). `on_reply` may be called from
  // now on. A callback that blocks holds up the answers behind it, and in the end the server.
  static std::unique_ptr<InferStream> Open(Client* client, absl::Time deadline, OnReply on_reply);
  ~InferStream();
  InferStream(const InferStream&) = delete;
  InferStream& operator=(const InferStream&) = delete;

  // Sends one request; blocks while the server takes no more. The tensors must stay valid until it
  // returns. INVALID_ARGUMENT: the request is malformed. UNAVAILABLE: the stream has ended;
  // Finish() says why.
  absl::Status Send(const InferRequest& request);

  // Says that no more requests follow, blocks until all are answered, and returns how the stream
  // ended. Called at most once, and not from the callback; nothing may be sent afterwards.
  absl::Status Finish();

 private:
  struct Call;  // keeps gRPC out of this header

  explicit InferStream(std::unique_ptr<Call> call);

  const std::unique_ptr<Call> call_;
};

}  // namespace mpsd::client
