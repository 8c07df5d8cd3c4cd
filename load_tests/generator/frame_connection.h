// FrameConnection: unary gRPC calls over one connection, written as HTTP/2 frames without gRPC.
//
// gRPC's client takes 50 to 70 µs of a core for a call, this one a few. So an overload on shared
// cores does not measure the client:
//
//   Start(call) ─▶ waits for one of the connection's streams ─▶ HEADERS, DATA ─▶ Write: all in one
//   Read: all in one ─▶ HEADERS, DATA, trailers ─▶ Ended(call), with its code and its answer
//
// Like gRPC's client, a connection keeps to the server's number of streams and sends the rest of
// the deadline.
#pragma once

#include <grpcpp/grpcpp.h>
#include <nghttp2/nghttp2.h>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd::load {

// For one call at a time. The caller fills the first part before Start().
struct FrameCall {
  absl::string_view message;  // framed (grpc_message.h); outlives the call
  int64_t deadline_ns = 0;    // on the monotonic clock; 0: none
  uint32_t request = 0;       // the caller's own
  int64_t intended_ns = 0;    // the caller's own

  // Set when the call has ended.
  grpc::StatusCode code = grpc::StatusCode::UNKNOWN;
  std::string answer;  // framed, perhaps not whole

  // For the connection alone.
  int32_t stream = 0;  // 0: the call waits for a stream
  size_t sent = 0;     // bytes of the message
  size_t place = 0;
};

// Thread-compatible.
class FrameConnection {
 public:
  using Ended = std::function<void(FrameCall*)>;

  // Connects to "host:port" or "unix:/path". Blocks, at most for `patience_ns`. UNAVAILABLE if
  // nothing listens there. `ended` must not start another call. `io` outlives the connection.
  static absl::StatusOr<std::unique_ptr<FrameConnection>> Connect(boost::asio::io_context* io,
                                                                  const std::string& target,
                                                                  const std::string& method,
                                                                  int64_t patience_ns, Ended ended);
  ~FrameConnection();

  // Does not block.
  void Read();

  // Write() sends the call. On a lost connection it ends at once as UNAVAILABLE.
  void Start(FrameCall* call);

  // Does not call `ended`. REQUIRES: the call is started and not ended.
  void Cancel(FrameCall* call);

  // Writes as far as the socket takes it. Does not block.
  void Write();

 private:
  using Socket = boost::asio::generic::stream_protocol::socket;

  FrameConnection(Socket socket, std::string authority, std::string method, Ended ended);

  void OpenStreams();
  void Forget(FrameCall* call);
  bool OpenStream(FrameCall* call);
  ssize_t CopyMessage(int32_t stream, uint8_t* buffer, size_t most, uint32_t* flags);
  void TakeHeader(FrameCall* call, absl::string_view name, absl::string_view value);
  void EndStream(FrameCall* call, uint32_t error);
  void End(FrameCall* call, grpc::StatusCode code);
  void Lose();
  void Send();
  FrameCall* CallOf(int32_t stream) const;
  static nghttp2_session_callbacks* MakeCallbacks();

  Socket socket_;
  const std::string authority_;
  const std::string method_;
  const Ended ended_;
  nghttp2_session* session_ = nullptr;
  std::vector<FrameCall*> open_;    // with a stream
  std::deque<FrameCall*> waiting_;  // without a stream
  uint32_t streams_ = 0;            // also of cancelled calls, for a moment
  std::vector<char> input_;
  std::string output_;  // frames; the first written_ bytes are written
  size_t written_ = 0;
  bool is_told_ = false;  // how many streams the server allows
  bool is_lost_ = false;
};

}  // namespace mpsd::load
