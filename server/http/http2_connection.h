// Http2Connection: one client's connection of HTTP/2.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "server/http/body_frames.h"
#include "server/http/connection.h"
#include "server/http/connections/frame_meter.h"
#include "server/http/http2_stream.h"
#include "server/http/write_batch.h"

namespace mpsd {

// nghttp2 checks the protocol and keeps the windows. The connection's window opens with what was
// read, a stream's with what its task takes: a stream that is not taken holds back no other.
//
//   bounded are                          by
//   streams at a time                    HttpServerOptions::streams; of reset streams whose reply
//                                        is owed, as many again
//   a head                               its bytes, and its time
//   costly frames, provoked resets       FrameMeter, by their number in a second
//   answers to such frames               nghttp2; and nothing is read while many wait
//   what is written at once              WriteBatch::kFullBytes
//   a client that takes nothing          the time of a reply
//   a client that sends nothing          a PING, and the time of its answer
//   a body that is not taken             kStreamWindowBytes
//
// A connection ends in two steps: GOAWAY asks for no more streams, and a PING's answer says that
// the client has seen that. Streams until then are served.
//
// Lives on its thread. Owned by its HttpThread, and kept alive by operations and replies under way.
class Http2Connection final : public Connection,
                              public std::enable_shared_from_this<Http2Connection> {
 public:
  // `input`: bytes that were read before, the preface or none.
  Http2Connection(const ConnectionContext* context, ConnectionClient client, std::string input);
  ~Http2Connection() override;

  // Connection.
  void Start() override;
  bool IsLate(int64_t now_ns) const override;
  void TimeIsUp() override;
  void EndWithReply() override;
  void EndSoon() override;
  void Cut() override;
  const std::string& peer() const override { return client_.peer; }

  // For the streams.
  const std::vector<std::string>& certificate_names() const { return client_.certificate_names; }
  bool by_control_socket() const { return client_.by_control_socket; }
  uint64_t host() const { return host_; }
  ConnectionId id();
  nghttp2_session* session() const { return session_; }

  int64_t heard_ns() const {
    thread_->Check();
    return heard_ns_;
  }

  // Thread-safe.
  void Post(std::function<void()> todo);

  // FlushNow() follows at the end of the thread's round.
  void Flush();

  // Writes what is ready, unless a write is out.
  void FlushNow();

  void RequestBegins();

  bool ends_soon() const {
    thread_->Check();
    return leaves_;
  }

  // Pieces have come: the stream's task is told at the end of this read.
  void BodyGrew(int32_t stream) { grown_.push_back(stream); }

  // The stream's part is in this write, or in the next one.
  void PartIsTaken(int32_t stream) { taken_parts_.push_back(stream); }

  // Destroys the stream.
  void StreamIsOver(int32_t stream);

 private:
  friend struct Http2Events;

  enum class Phase : uint8_t {
    kOpen,
    kLingering,
    kEnded,  // the socket is closed
  };

  void Receive(absl::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  bool Take(absl::string_view bytes, int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void DidTake(bool may_go_on) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void BytesAreThere(bool failed);
  BodyFrames NextFrames() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void DidRead(bool failed, absl::string_view bytes);
  bool MayReceive(bool failed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void DidWrite(bool failed, size_t bytes);
  bool Collect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void WriteHere() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void RoomIsThere(bool failed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void WriteRest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Drain() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Terminate(uint32_t code) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Linger() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Close() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void LeaveIfDone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Heard(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void AskOrWait(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  bool IsFlooded(Flood flood) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void TellTakenParts() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void TellGrown() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void EndStreams() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);

  Http2Stream* BeginStream(int32_t id);
  void DidReset(const nghttp2_rst_stream& frame);
  void PingWasAnswered(const uint8_t* data);

  const ConnectionContext* const context_;
  const ThreadRole* const thread_;
  ConnectionClient client_;
  const uint64_t host_;                 // the peer, as a hash
  std::shared_ptr<ConnectionMark> id_;  // once it is asked for

  nghttp2_session* session_ = nullptr;
  FrameMeter meter_ ABSL_GUARDED_BY(thread_);
  absl::flat_hash_map<int32_t, std::unique_ptr<Http2Stream>> streams_;
  Http2Stream* in_head_ = nullptr;  // gets the headers that come
  std::vector<int32_t> taken_parts_;
  std::vector<int32_t> grown_;
  bool flushes_ = false;
  uint64_t requests_ = 0;

  Phase phase_ ABSL_GUARDED_BY(thread_) = Phase::kOpen;
  int64_t idle_ends_ns_ ABSL_GUARDED_BY(thread_) = INT64_MAX;  // without a stream
  int64_t write_ends_ns_ ABSL_GUARDED_BY(thread_) = INT64_MAX;
  int64_t silence_ends_ns_ ABSL_GUARDED_BY(thread_) = INT64_MAX;
  int64_t heard_ns_ ABSL_GUARDED_BY(thread_) = 0;
  bool was_asked_ ABSL_GUARDED_BY(thread_) = false;  // in this silence
  bool reading_ ABSL_GUARDED_BY(thread_) = false;
  bool writing_ ABSL_GUARDED_BY(thread_) = false;
  bool ends_ ABSL_GUARDED_BY(thread_) = false;    // after a request
  bool leaves_ ABSL_GUARDED_BY(thread_) = false;  // without a further request
  bool drains_ ABSL_GUARDED_BY(thread_) = false;
  bool left_ ABSL_GUARDED_BY(thread_) = false;
  std::string input_ ABSL_GUARDED_BY(thread_);  // the preface before Start(); later for TLS alone
  WriteBatch output_ ABSL_GUARDED_BY(thread_);
};

}  // namespace mpsd
