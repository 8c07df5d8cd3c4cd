#include "server/http/http2_connection.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/hash/hash.h"
#include "proto/base/check.h"
#include "server/http/calls/open_calls.h"

namespace mpsd {
namespace {

namespace asio = boost::asio;

// One read over TLS: without a stream, and with one.
constexpr size_t kIdleInputBytes = 4 << 10;
constexpr size_t kBusyInputBytes = 64 << 10;
// Frames that wait to be written. With more nothing is read, as most answer what was read.
constexpr size_t kMostWaiting = 1024;
constexpr uint64_t kHeaderBlockBytes = 64 << 10;
constexpr uint32_t kStreamWindowBytes = 1 << 20;
constexpr int32_t kConnectionWindowBytes = 4 << 20;
constexpr size_t kFrameHeadBytes = 9;
// How long a silent client may take to answer a PING.
constexpr int64_t kPingAnswerNs = 20 * kNsPerSecond;
// How long an old connection's streams may go on.
constexpr int64_t kAgeGraceNs = 60 * kNsPerSecond;
constexpr uint8_t kDrainPing[8] = {'d', 'r', 'a', 'i', 'n'};

const uint8_t* Bytes(absl::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

absl::string_view Text(const uint8_t* bytes, size_t count) {
  return {reinterpret_cast<const char*>(bytes), count};
}

bool EndsStream(const nghttp2_frame* frame) {
  return (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
}

}  // namespace

// Called by nghttp2; each passes on to the connection or the stream.
struct Http2Events {
  static Http2Connection* ConnectionOf(void* user) { return static_cast<Http2Connection*>(user); }

  static Http2Stream* StreamOf(nghttp2_session* session, int32_t id) {
    return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  // Clients number their streams upwards. nghttp2 remembers as many closed streams as may be open,
  // whose trailers may still come.
  static int FrameBegins(nghttp2_session* session, const nghttp2_frame_hd* head, void*) {
    const bool is_skipped = head->type == NGHTTP2_HEADERS && head->stream_id > 0 &&
                            head->stream_id < nghttp2_session_get_last_proc_stream_id(session) &&
                            nghttp2_session_find_stream(session, head->stream_id) == nullptr;
    if (is_skipped) nghttp2_session_terminate_session(session, NGHTTP2_PROTOCOL_ERROR);
    return 0;
  }

  static int HeadBegins(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    const bool is_request =
        frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    Http2Stream*& stream = ConnectionOf(user)->in_head_;
    stream = is_request ? ConnectionOf(user)->BeginStream(frame->hd.stream_id) : nullptr;
    if (!is_request) return 0;
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream);
    return 0;
  }

  // No other frame stands between the parts of a head.
  static int Header(nghttp2_session*, const nghttp2_frame*, const uint8_t* name, size_t name_bytes,
                    const uint8_t* value, size_t value_bytes, uint8_t, void* user) {
    Http2Stream* const stream = ConnectionOf(user)->in_head_;
    if (stream != nullptr) stream->AddHeader(Text(name, name_bytes), Text(value, value_bytes));
    return 0;
  }

  static int FrameCame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) {
      ConnectionOf(user)->PingWasAnswered(frame->ping.opaque_data);
    }
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    Http2Stream* const stream = StreamOf(session, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    const bool is_head =
        frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    if (is_head) {
      stream->HeadIsThere(!EndsStream(frame));
    } else if (EndsStream(frame)) {
      stream->BodyIsThere();
    }
    return 0;
  }

  static int DataCame(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* bytes,
                      size_t count, void*) {
    nghttp2_session_consume_connection(session, count);
    Http2Stream* const stream = StreamOf(session, id);
    if (stream != nullptr) stream->AddBody(Text(bytes, count));
    return 0;
  }

  static int StreamClosed(nghttp2_session* session, int32_t id, uint32_t, void*) {
    Http2Stream* const stream = StreamOf(session, id);
    if (stream != nullptr) stream->Closed();
    return 0;
  }

  // The rest of a body that was answered early is not wanted.
  static int FrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_RST_STREAM) ConnectionOf(user)->DidReset(frame->rst_stream);
    const bool is_of_reply = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (!is_of_reply || !EndsStream(frame)) return 0;
    if (nghttp2_session_get_stream_remote_close(session, frame->hd.stream_id) == 0) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
    return 0;
  }

  static int WriteData(nghttp2_session*, nghttp2_frame*, const uint8_t* head, size_t bytes,
                       nghttp2_data_source* source, void* user) {
    WriteBatch* const out = &ConnectionOf(user)->output_;
    if (out->is_full()) return NGHTTP2_ERR_WOULDBLOCK;
    out->Append(Text(head, kFrameHeadBytes));
    static_cast<Http2Stream*>(source->ptr)->Write(bytes, out);
    return 0;
  }

  static nghttp2_session* Make(Http2Connection* connection) {
    nghttp2_session_callbacks* callbacks = nullptr;
    MPSD_CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, FrameBegins);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, HeadBegins);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, Header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, FrameCame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, DataCame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, StreamClosed);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, FrameSent);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, WriteData);
    nghttp2_option* option = nullptr;
    MPSD_CHECK(nghttp2_option_new(&option) == 0);
    nghttp2_option_set_no_auto_window_update(option, 1);
    // FrameMeter counts resets. nghttp2 would let a client cancel 33 calls a second.
    nghttp2_option_set_stream_reset_rate_limit(option, UINT32_MAX, UINT32_MAX);
    nghttp2_session* session = nullptr;
    MPSD_CHECK(nghttp2_session_server_new2(&session, callbacks, connection, option) == 0);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return session;
  }
};

Http2Connection::Http2Connection(const ConnectionContext* context, ConnectionClient client,
                                 std::string input)
    : context_(context),
      thread_(context->thread),
      client_(std::move(client)),
      host_(absl::HashOf(HostOfPeer(client_.peer))),
      session_(Http2Events::Make(this)),
      meter_({.header_block_bytes = kHeaderBlockBytes, .resets = context->options->resets},
             context->clock->NowNs()),
      input_(std::move(input)),
      output_(client_.stream->has_tls()) {}

Http2Connection::~Http2Connection() {
  MPSD_CHECK(streams_.empty());
  nghttp2_session_del(session_);
}

void Http2Connection::Start() {
  thread_->Check();
  client_.use->SetEnd([weak = weak_from_this(), io = context_->io] {
    asio::post(*io, [weak] {
      if (const std::shared_ptr<Http2Connection> self = weak.lock()) self->EndSoon();
    });
  });
  const HttpServerOptions& options = *context_->options;
  const std::array<nghttp2_settings_entry, 3> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(options.head_bytes)},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes);
  idle_ends_ns_ = After(context_->clock->NowNs(), client_.group->idle_ns);
  const std::string first = std::exchange(input_, std::string());
  Receive(first);
}

bool Http2Connection::IsLate(int64_t now_ns) const {
  thread_->Check();
  const int64_t first_ns =
      std::min({idle_ends_ns_, write_ends_ns_, silence_ends_ns_, client_.end_at_ns});
  if (now_ns >= first_ns) return true;
  return absl::c_any_of(streams_,
                        [now_ns](const auto& entry) { return entry.second->IsLate(now_ns); });
}

void Http2Connection::TimeIsUp() {
  thread_->Check();
  const int64_t now_ns = context_->clock->NowNs();
  if (now_ns >= write_ends_ns_) {
    context_->metrics->untaken_answers.fetch_add(1, std::memory_order_relaxed);
    return Close();
  }
  if (now_ns >= idle_ends_ns_ && phase_ == Phase::kLingering) return Close();
  if (now_ns >= idle_ends_ns_) Terminate(NGHTTP2_NO_ERROR);
  if (now_ns >= client_.end_at_ns) {
    if (drains_) return Close();
    Drain();
    client_.end_at_ns = After(now_ns, kAgeGraceNs);
  }
  if (now_ns >= silence_ends_ns_) {
    if (was_asked_) return Close();
    AskOrWait(now_ns);
  }
  std::vector<Http2Stream*> late;
  for (const auto& [id, stream] : streams_) {
    if (stream->IsLate(now_ns)) late.push_back(stream.get());
  }
  for (Http2Stream* const stream : late) stream->TimeIsUp();
  Flush();
}

void Http2Connection::EndWithReply() {
  thread_->Check();
  ends_ = true;
  if (requests_ > 0) Drain();
  Flush();
}

void Http2Connection::EndSoon() {
  thread_->Check();
  ends_ = leaves_ = true;
  for (const auto& [id, stream] : streams_) stream->EndSoon();
  if (streams_.empty()) {
    Terminate(NGHTTP2_NO_ERROR);
  } else {
    Drain();
  }
  Flush();
}

void Http2Connection::Cut() {
  thread_->Check();
  Close();
}

ConnectionId Http2Connection::id() {
  if (id_ == nullptr) id_ = std::make_shared<ConnectionMark>(client_.peer);
  return id_;
}

void Http2Connection::Post(std::function<void()> todo) {
  asio::post(*context_->io, [self = shared_from_this(), todo = std::move(todo)] {
    self->thread_->Check();
    todo();
  });
}

Http2Stream* Http2Connection::BeginStream(int32_t id) {
  thread_->Check();
  if (streams_.size() >= 2 * size_t{context_->options->streams}) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
    return nullptr;
  }
  idle_ends_ns_ = INT64_MAX;
  return streams_.emplace(id, std::make_unique<Http2Stream>(this, context_, id))
      .first->second.get();
}

void Http2Connection::RequestBegins() {
  thread_->Check();
  client_.use->BeginCall();
  if (++requests_ >= client_.group->connection_requests || ends_) Drain();
}

void Http2Connection::StreamIsOver(int32_t id) {
  thread_->Check();
  const auto found = streams_.find(id);
  MPSD_CHECK(found != streams_.end());
  const std::unique_ptr<Http2Stream> over = std::move(found->second);
  streams_.erase(found);
  if (in_head_ == over.get()) in_head_ = nullptr;
  over->End();
  const int64_t now_ns = context_->clock->NowNs();
  if (over->has_begun()) client_.use->EndCall(now_ns);
  if (!streams_.empty()) return;
  idle_ends_ns_ = After(now_ns, client_.group->idle_ns);
  if (phase_ != Phase::kOpen) return LeaveIfDone();
  if (!leaves_) return;
  Terminate(NGHTTP2_NO_ERROR);
  Flush();
}

// The client is asked to begin no more streams.
void Http2Connection::Drain() {
  client_.end_at_ns = INT64_MAX;
  if (std::exchange(drains_, true)) return;
  nghttp2_submit_shutdown_notice(session_);
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, kDrainPing);
}

void Http2Connection::PingWasAnswered(const uint8_t* data) {
  if (!std::equal(data, data + sizeof(kDrainPing), kDrainPing)) return;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
}

void Http2Connection::Terminate(uint32_t code) {
  idle_ends_ns_ = INT64_MAX;
  nghttp2_session_terminate_session(session_, code);
}

// A client's wrong frames can have the server reset its calls, which costs as much as resets of its
// own. The flood is found with the next bytes.
void Http2Connection::DidReset(const nghttp2_rst_stream& frame) {
  thread_->Check();
  const bool is_own_choice = frame.error_code == NGHTTP2_NO_ERROR ||
                             frame.error_code == NGHTTP2_CANCEL ||
                             frame.error_code == NGHTTP2_REFUSED_STREAM;
  if (!is_own_choice) meter_.CountOwnReset(context_->clock->NowNs());
}

bool Http2Connection::IsFlooded(Flood flood) {
  if (flood == Flood::kNone) return false;
  context_->metrics->flooding_connections.fetch_add(1, std::memory_order_relaxed);
  if (Logger* const logger = context_->options->logger; logger != nullptr) {
    logger->Log(LogLevel::kWarn, "connection_cut",
                {{"peer", client_.peer}, {"too_many", NameOf(flood)}});
  }
  return true;
}

void Http2Connection::Heard(int64_t now_ns) {
  was_asked_ = false;
  heard_ns_ = now_ns;
  const int64_t keepalive_ns = context_->options->keepalive_ns;
  silence_ends_ns_ = keepalive_ns > 0 ? After(now_ns, keepalive_ns) : INT64_MAX;
}

// A client whose bytes nobody reads cannot be heard.
void Http2Connection::AskOrWait(int64_t now_ns) {
  if (!reading_) return Heard(now_ns);
  was_asked_ = true;
  silence_ends_ns_ = After(now_ns, kPingAnswerNs);
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
}

void Http2Connection::Receive(absl::string_view bytes) {
  const int64_t now_ns = context_->clock->NowNs();
  Heard(now_ns);
  DidTake(Take(bytes, now_ns));
}

void Http2Connection::DidTake(bool may_go_on) {
  if (!may_go_on) return Close();
  TellGrown();
  Flush();
  Read();
}

// False if the connection must end.
bool Http2Connection::Take(absl::string_view bytes, int64_t now_ns) {
  const absl::Span<const uint8_t> taken(Bytes(bytes), bytes.size());
  if (IsFlooded(meter_.Take(taken, now_ns))) return false;
  return nghttp2_session_mem_recv(session_, taken.data(), taken.size()) >= 0;
}

// No read is out while the client does not take what it has caused. A waiting read of plain bytes
// needs no buffer.
void Http2Connection::Read() {
  if (reading_ || phase_ == Phase::kEnded) return;
  if (writing_ && nghttp2_session_get_outbound_queue_size(session_) > kMostWaiting) return;
  reading_ = true;
  if (!client_.stream->has_tls()) {
    return client_.stream->AwaitBytes(
        [self = shared_from_this()](const boost::system::error_code& error) {
          self->BytesAreThere(!!error);
        });
  }
  const size_t wanted = streams_.empty() ? kIdleInputBytes : kBusyInputBytes;
  if (input_.size() != wanted) input_ = std::string(wanted, '\0');
  client_.stream->Read(
      asio::buffer(input_),
      [self = shared_from_this()](const boost::system::error_code& error, size_t count) {
        self->thread_->Check();
        self->DidRead(!!error, absl::string_view(self->input_).substr(0, count));
      });
}

void Http2Connection::BytesAreThere(bool failed) {
  thread_->Check();
  if (failed || phase_ == Phase::kEnded) return DidRead(failed, "");
  boost::system::error_code error;
  BodyFrames frames = NextFrames();
  const size_t count = client_.stream->ReadNow(frames.targets(), &error);
  if (error == asio::error::would_block) {
    reading_ = false;
    return Read();
  }
  if (!MayReceive(!!error)) return;
  const int64_t now_ns = context_->clock->NowNs();
  Heard(now_ns);
  DidTake(frames.Give(count, [this, now_ns](absl::string_view piece) {
    thread_->Check();
    return Take(piece, now_ns);
  }));
}

BodyFrames Http2Connection::NextFrames() {
  const FrameMeter::Data data = meter_.data_to_come();
  const auto found = streams_.find(static_cast<int32_t>(data.stream));
  const absl::Span<char> place =
      found == streams_.end() ? absl::Span<char>() : found->second->PlaceOf(data.bytes);
  return {data.stream, place.empty() ? 0 : data.bytes, place, context_->read_buffer};
}

void Http2Connection::DidRead(bool failed, absl::string_view bytes) {
  thread_->Check();
  if (MayReceive(failed)) Receive(bytes);
}

bool Http2Connection::MayReceive(bool failed) {
  reading_ = false;
  if (phase_ == Phase::kOpen && !failed) return true;
  if (phase_ == Phase::kEnded) {
    LeaveIfDone();
  } else if (failed) {
    Close();
  } else {
    Read();  // drops the bytes
  }
  return false;
}

void Http2Connection::Flush() {
  thread_->Check();
  if (std::exchange(flushes_, true)) return;
  context_->unflushed->push_back(shared_from_this());
}

// One batch a round, so that no connection keeps its thread for long.
void Http2Connection::FlushNow() {
  thread_->Check();
  flushes_ = false;
  while (!writing_ && phase_ == Phase::kOpen && Collect()) {
    if (client_.stream->has_tls()) return WriteRest();
    const bool was_full = output_.is_full();
    WriteHere();
    if (was_full && !writing_) return Flush();
  }
}

// False if there is nothing to write.
bool Http2Connection::Collect() {
  output_.Clear();
  ssize_t count = 1;
  while (count > 0 && !output_.is_full()) {
    const uint8_t* frame = nullptr;
    count = nghttp2_session_mem_send(session_, &frame);
    if (count > 0) output_.Append(Text(frame, static_cast<size_t>(count)));
  }
  if (count < 0) Close();
  if (count < 0 || output_.bytes() > 0) return count >= 0;
  output_.Shrink();
  const bool is_done =
      nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
  is_done ? Linger() : TellTakenParts();
  return false;
}

void Http2Connection::WriteHere() {
  boost::system::error_code error;
  const size_t bytes = client_.stream->WriteNow(output_.Rest(), &error);
  if (error && error != asio::error::would_block) return Close();
  if (output_.DidWrite(bytes)) return TellTakenParts();
  writing_ = true;
  write_ends_ns_ = After(context_->clock->NowNs(), context_->options->answer_ns);
  client_.stream->AwaitRoom([self = shared_from_this()](const boost::system::error_code& failure) {
    self->thread_->Check();
    self->RoomIsThere(!!failure);
  });
}

void Http2Connection::RoomIsThere(bool failed) {
  writing_ = false;
  write_ends_ns_ = INT64_MAX;
  if (phase_ == Phase::kEnded) return LeaveIfDone();
  if (failed) return Close();
  WriteHere();
  if (writing_) return;
  Flush();
  Read();
}

void Http2Connection::TellGrown() {
  for (const int32_t id : std::exchange(grown_, {})) {
    if (const auto found = streams_.find(id); found != streams_.end()) {
      found->second->TellGrown();
    }
  }
}

// A part without bytes is taken too.
void Http2Connection::TellTakenParts() {
  for (const int32_t id : std::exchange(taken_parts_, {})) {
    if (const auto found = streams_.find(id); found != streams_.end()) {
      found->second->PartIsWritten();
    }
  }
}

void Http2Connection::WriteRest() {
  writing_ = true;
  write_ends_ns_ = After(context_->clock->NowNs(), context_->options->answer_ns);
  client_.stream->Write(output_.Rest(), [self = shared_from_this()](
                                            const boost::system::error_code& error, size_t count) {
    self->DidWrite(!!error, count);
  });
}

void Http2Connection::DidWrite(bool failed, size_t bytes) {
  thread_->Check();
  writing_ = false;
  write_ends_ns_ = INT64_MAX;
  if (phase_ == Phase::kEnded) return LeaveIfDone();
  if (failed) return Close();
  if (!output_.DidWrite(bytes)) return WriteRest();
  TellTakenParts();
  Flush();
  Read();
}

// The client gets the last bytes, and no reset, if what it still sends is read.
void Http2Connection::Linger() {
  phase_ = Phase::kLingering;
  EndStreams();
  idle_ends_ns_ = After(context_->clock->NowNs(), kLingerNs);
  Read();
  writing_ = true;
  client_.stream->EndWriting([self = shared_from_this()] {
    self->thread_->Check();
    self->writing_ = false;
    if (self->phase_ == Phase::kEnded) self->LeaveIfDone();
  });
}

void Http2Connection::EndStreams() {
  std::vector<Http2Stream*> streams;
  for (const auto& [id, stream] : streams_) streams.push_back(stream.get());
  for (Http2Stream* const stream : streams) stream->Closed();
}

void Http2Connection::Close() {
  if (phase_ != Phase::kEnded) {
    phase_ = Phase::kEnded;
    if (id_ != nullptr) id_->End();
    idle_ends_ns_ = write_ends_ns_ = silence_ends_ns_ = client_.end_at_ns = INT64_MAX;
    client_.stream->Close();
    EndStreams();
  }
  LeaveIfDone();
}

// The requests, which may owe replies, end before their connection does.
void Http2Connection::LeaveIfDone() {
  if (writing_ || reading_ || !streams_.empty() || phase_ != Phase::kEnded || left_) return;
  left_ = true;
  client_.use->Leave();
  context_->ended(this);
}

}  // namespace mpsd
