#include "server/http/http_connection.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstring>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "server/http/calls/open_calls.h"
#include "server/http/certificate_names.h"
#include "server/http/http2_connection.h"
#include "server/http/tls_context.h"

namespace mpsd {
namespace {

namespace asio = boost::asio;

// Kept by a connection without a request.
constexpr size_t kInputBytes = 4 << 10;
// One read of a body, so that no connection keeps its thread for long.
constexpr size_t kReadBytes = 256 << 10;
// The same while the task may still take a large body's beginning.
constexpr size_t kFirstBytes = 8 << 10;
constexpr absl::string_view kHeadEnd = "\r\n\r\n";
constexpr absl::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

constexpr absl::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

bool ChoseHttp2(SSL* tls) {
  const unsigned char* name = nullptr;
  unsigned bytes = 0;
  SSL_get0_alpn_selected(tls, &name, &bytes);
  return absl::string_view(reinterpret_cast<const char*>(name), bytes) == kHttp2Protocol;
}

}  // namespace

HttpConnection::HttpConnection(const ConnectionContext* context, ConnectionClient client)
    : context_(context),
      thread_(context->thread),
      client_(std::move(client)),
      host_(absl::HashOf(HostOfPeer(client_.peer))) {}

HttpConnection::~HttpConnection() { MPSD_CHECK(task_ == nullptr && taken_bytes_ == 0); }

void HttpConnection::Enter(Phase phase, int64_t time_ns) {
  if (IsBusy(phase) && !IsBusy(phase_)) client_.use->BeginCall();
  if (IsBusy(phase_) && !IsBusy(phase)) client_.use->EndCall(context_->clock->NowNs());
  phase_ = phase;
  expires_ns_ = time_ns == INT64_MAX ? INT64_MAX : After(context_->clock->NowNs(), time_ns);
}

void HttpConnection::Start() {
  thread_->Check();
  client_.use->SetEnd([weak = weak_from_this(), io = context_->io] {
    asio::post(*io, [weak] {
      if (const std::shared_ptr<HttpConnection> self = weak.lock()) self->MakeRoom();
    });
  });
  if (!client_.stream->has_tls()) {
    Enter(Phase::kIdle, client_.group->idle_ns);
    return Read();
  }
  Enter(Phase::kHandshake, context_->options->handshake_ns);
  reading_ = true;
  client_.stream->Handshake([self = shared_from_this()](const boost::system::error_code& error) {
    self->thread_->Check();
    self->reading_ = false;
    if (error) return self->Close();
    self->client_.use->EndHandshake();
    self->client_.certificate_names = CertificateNames(self->client_.stream->tls());
    self->Enter(Phase::kIdle, self->client_.group->idle_ns);
    if (ChoseHttp2(self->client_.stream->tls())) return self->BecomeHttp2();
    self->Read();
  });
}

bool HttpConnection::IsLate(int64_t now_ns) const {
  thread_->Check();
  return now_ns >= expires_ns_;
}

void HttpConnection::TimeIsUp() {
  thread_->Check();
  expires_ns_ = INT64_MAX;
  switch (phase_) {
    case Phase::kHead:
      return Refuse({408, "the request did not come in time"});
    case Phase::kBody:
      return Serve(BodyEnd::kTooSlow);
    case Phase::kWriting:
      context_->metrics->untaken_answers.fetch_add(1, std::memory_order_relaxed);
      return Close();
    default:
      return Close();
  }
}

void HttpConnection::EndWithReply() {
  thread_->Check();
  ends_ = true;
}

void HttpConnection::EndSoon() {
  thread_->Check();
  ends_ = leaves_ = true;
  if (phase_ < Phase::kHead) Close();
}

void HttpConnection::MakeRoom() {
  thread_->Check();
  ends_ = leaves_ = true;
  if (!IsBusy(phase_)) Close();
}

void HttpConnection::Cut() {
  thread_->Check();
  ClientLeft();
}

// One read is under way if its bytes have a place: the body, else `input_`.
void HttpConnection::Read() {
  if (reading_ || phase_ == Phase::kEnded) return;
  if (!rest_.empty()) return AwaitRest();
  if (phase_ == Phase::kBody && !framing_.is_chunked) return ReadBody();
  if (begin_ == end_ && !client_.stream->has_tls()) return AwaitInput();
  if (RoomForInput()) ReadInput();
}

// Waits without memory: most open connections are silent.
void HttpConnection::AwaitInput() {
  begin_ = end_ = searched_ = 0;
  std::vector<char>().swap(input_);
  reading_ = true;
  client_.stream->AwaitBytes([self = shared_from_this()](const boost::system::error_code& error) {
    self->InputIsReadable(!!error);
  });
}

void HttpConnection::InputIsReadable(bool failed) {
  thread_->Check();
  if (failed || phase_ == Phase::kEnded) return DidRead(failed, 0, /*into_body=*/false);
  char* const buffer = context_->read_buffer->data();
  boost::system::error_code error;
  const size_t bytes = client_.stream->ReadNow(asio::buffer(buffer, kInputBytes), &error);
  if (error == asio::error::would_block) error.clear();
  input_.assign(buffer, buffer + bytes);
  DidRead(!!error, bytes, /*into_body=*/false);
}

// Makes room behind `end_`. False if the buffer is full and must be emptied first.
bool HttpConnection::RoomForInput() {
  if (begin_ == end_) {
    begin_ = end_ = searched_ = 0;
    if (input_.size() != kInputBytes) std::vector<char>(kInputBytes).swap(input_);
  }
  if (end_ < input_.size()) return true;
  if (begin_ > 0) {
    std::memmove(input_.data(), input_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    return true;
  }
  const size_t most = std::max<size_t>(context_->options->head_bytes, kInputBytes);
  if (input_.size() >= most) return false;
  input_.resize(std::min(most, std::max(kInputBytes, 2 * input_.size())));
  return true;
}

void HttpConnection::ReadInput() {
  reading_ = true;
  client_.stream->Read(
      asio::buffer(input_.data() + end_, input_.size() - end_),
      [self = shared_from_this()](const boost::system::error_code& error, size_t bytes) {
        self->DidRead(!!error, bytes, /*into_body=*/false);
      });
}

void HttpConnection::ReadBody() {
  reading_ = reads_body_ = true;
  const size_t most = MayOffer() ? kFirstBytes : kReadBytes;
  const absl::Span<char> room =
      request_.body.Room(std::min<size_t>(most, framing_.body_bytes - request_.body.size()));
  client_.stream->Read(
      asio::buffer(room.data(), room.size()),
      [self = shared_from_this()](const boost::system::error_code& error, size_t bytes) {
        self->DidRead(!!error, bytes, /*into_body=*/true);
      });
}

// The memory is the task's: nothing is read into it once the task is told of an end.
void HttpConnection::AwaitRest() {
  reading_ = true;
  client_.stream->AwaitBytes([self = shared_from_this()](const boost::system::error_code& error) {
    self->RestIsReadable(!!error);
  });
}

void HttpConnection::RestIsReadable(bool failed) {
  thread_->Check();
  reading_ = false;
  if (phase_ == Phase::kEnded) return LeaveIfDone();
  if (failed) return ClientLeft();
  if (rest_.empty()) return Read();
  boost::system::error_code error;
  const size_t most = std::min(kReadBytes, rest_.size());
  const size_t bytes = client_.stream->ReadNow(asio::buffer(rest_.data(), most), &error);
  if (error && error != asio::error::would_block) return ClientLeft();
  rest_.remove_prefix(bytes);
  if (rest_.empty()) Serve(BodyEnd::kWhole);
  Read();
}

void HttpConnection::DidRead(bool failed, size_t bytes, bool into_body) {
  thread_->Check();
  reading_ = reads_body_ = false;
  if (retired_body_.has_value()) {
    retired_body_.reset();
    GiveBack();
  }
  if (phase_ == Phase::kEnded) return LeaveIfDone();
  if (failed) return ClientLeft();
  if (phase_ == Phase::kLingering) {
    begin_ = end_ = 0;
    return Read();
  }
  if (!into_body) {
    end_ += bytes;
  } else if (phase_ == Phase::kBody) {
    request_.body.Grow(bytes);
  }
  Advance();
}

// A task whose body is still coming replies at once, and is not told again.
void HttpConnection::ClientLeft() {
  if (phase_ == Phase::kBody) {
    ends_ = told_left_ = true;
    Serve(BodyEnd::kClientLeft);
  }
  Close();
}

// As far as the bytes have come.
bool HttpConnection::BeginsHttp2() const {
  const absl::string_view first = Input().substr(0, kPreface.size());
  return requests_ == 0 && absl::StartsWith(kPreface, first);
}

// Nothing is out: socket and received bytes go to the other object.
void HttpConnection::BecomeHttp2() {
  auto next = std::make_shared<Http2Connection>(context_, std::move(client_), std::string(Input()));
  phase_ = Phase::kEnded;
  context_->replaced(this, std::move(next));
}

// Clients may send empty lines between requests.
void HttpConnection::SkipEmptyLines() {
  while (begin_ != end_ && (input_[begin_] == '\r' || input_[begin_] == '\n')) ++begin_;
}

void HttpConnection::Advance() {
  if (phase_ == Phase::kIdle) SkipEmptyLines();
  if (phase_ == Phase::kIdle && begin_ != end_) Enter(Phase::kHead, context_->options->head_ns);
  if (phase_ == Phase::kHead && BeginsHttp2()) {
    if (end_ - begin_ >= kPreface.size()) return BecomeHttp2();
  } else if (phase_ == Phase::kHead && TakeHead()) {
    BeginRequest();
  }
  if (phase_ == Phase::kBody && ReadWholeBody()) Serve(BodyEnd::kWhole);
  Read();
}

// False if the head is not complete, or refused.
bool HttpConnection::TakeHead() {
  const absl::string_view input = Input();
  // Bytes of TLS, say, never end a head.
  if (!absl::ascii_isgraph(input.front())) {
    Refuse({400, kWrongForm});
    return false;
  }
  const size_t from = searched_ < kHeadEnd.size() ? 0 : searched_ - kHeadEnd.size();
  const size_t found = input.find(kHeadEnd, from);
  searched_ = input.size();
  const size_t bytes = found == absl::string_view::npos ? input.size() : found + kHeadEnd.size();
  const uint64_t most = context_->options->head_bytes;
  if (bytes > most || (found == absl::string_view::npos && bytes == most)) {
    Refuse({431, "the headers of the request are too large"});
    return false;
  }
  if (found == absl::string_view::npos) return false;
  request_.head.assign(input.data(), bytes);
  begin_ += bytes;
  searched_ = 0;
  if (const HttpFault fault = parser_.ReadHead(&request_, &framing_); fault.status != 0) {
    Refuse(fault);
    return false;
  }
  ends_ = ends_ || !framing_.keeps_alive;
  return true;
}

void HttpConnection::BeginRequest() {
  Enter(Phase::kBody, context_->options->body_ns);
  owes_reply_ = true;
  told_left_ = was_offered_ = false;
  ends_ = ends_ || ++requests_ >= client_.group->connection_requests;
  task_ = context_->handler->Arrived(this);
  if (task_ != nullptr) return BeginBody();
  Enter(Phase::kServing, INT64_MAX);  // the reply is there already
  ends_ = ends_ || framing_.is_chunked || framing_.body_bytes > 0;
}

void HttpConnection::BeginBody() {
  if (!framing_.is_chunked && framing_.body_bytes > context_->options->message_bytes) {
    return Serve(BodyEnd::kTooLarge);
  }
  if (!framing_.is_chunked) request_.body.Announce(framing_.body_bytes);
  const bool awaits = framing_.is_chunked || framing_.body_bytes > end_ - begin_;
  if (framing_.expects_continue && awaits) WriteContinue();
}

bool HttpConnection::ReadWholeBody() {
  if (framing_.is_chunked) return ReadChunks();
  HttpBody& body = request_.body;
  const size_t taken = std::min<size_t>(end_ - begin_, framing_.body_bytes - body.size());
  body.Append(Input().substr(0, taken));
  begin_ += taken;
  if (!Account()) return false;
  if (body.size() == framing_.body_bytes) return true;
  OfferBeginning();
  return false;
}

// TLS cannot be read into the task's memory without waiting.
bool HttpConnection::MayOffer() const {
  return !was_offered_ && framing_.body_bytes >= HttpTask::kOfferedBytes &&
         !client_.stream->has_tls();
}

void HttpConnection::OfferBeginning() {
  if (!MayOffer() || request_.body.size() < HttpTask::kBeginningBytes) return;
  was_offered_ = true;
  rest_ = task_->TakeBeginning(request_.body.view(), framing_.body_bytes);
  if (!rest_.empty()) DropBody();
}

bool HttpConnection::ReadChunks() {
  size_t used = 0;
  const HttpParser::Chunks chunks =
      parser_.ReadChunks(Input(), context_->options->message_bytes, &request_.body, &used);
  begin_ += used;
  if (!Account()) return false;
  switch (chunks) {
    case HttpParser::Chunks::kDone:
      return true;
    case HttpParser::Chunks::kTooLarge:
      Serve(BodyEnd::kTooLarge);
      return false;
    case HttpParser::Chunks::kMalformed:
      Serve(BodyEnd::kMalformed);
      return false;
    case HttpParser::Chunks::kMore:
      break;
  }
  // A line longer than the buffer has no end to be found.
  const bool is_full = begin_ == 0 && end_ >= context_->options->head_bytes;
  if (is_full) Serve(BodyEnd::kMalformed);
  return false;
}

// Takes the body's growth from what all bodies may have.
bool HttpConnection::Account() {
  const uint64_t grown = request_.body.size() - taken_bytes_;
  if (grown == 0) return true;
  if (!context_->bodies->TryTake(host_, grown)) {
    Serve(BodyEnd::kTooMany);
    return false;
  }
  taken_bytes_ += grown;
  return true;
}

void HttpConnection::Serve(BodyEnd end) {
  Enter(Phase::kServing, INT64_MAX);
  rest_ = {};
  if (end != BodyEnd::kWhole) {
    ends_ = true;
    DropBody();
  }
  task_->Serve(end);
}

// No later request can be found in the bytes.
void HttpConnection::Refuse(const HttpFault& fault) {
  ends_ = true;
  owes_reply_ = true;
  Enter(Phase::kServing, INT64_MAX);
  Reply(context_->handler->Refusal(*this, fault.status, fault.why));
}

// The handler may answer before "100 Continue" is fully written. The answer then follows it.
void HttpConnection::WriteContinue() {
  continue_ = kContinue;
  Write();
}

ConnectionId HttpConnection::connection() {
  if (id_ == nullptr) id_ = std::make_shared<ConnectionMark>(client_.peer);
  return id_;
}

// A read may still write there: the first call's memory is kept until its end.
void HttpConnection::DropBody() {
  thread_->Check();
  std::string bytes = request_.body.Take();
  if (reads_body_ && !retired_body_.has_value()) retired_body_ = std::move(bytes);
  if (retired_body_.has_value()) return;
  std::string().swap(bytes);
  GiveBack();
}

void HttpConnection::GiveBack() {
  const uint64_t taken = std::exchange(taken_bytes_, 0);
  if (taken > 0) context_->bodies->GiveBack(host_, taken);
}

void HttpConnection::ReplyPart(HttpReply part) {
  reply_ = std::move(part);
  gives_part_ = true;
  context_->replies->Push(this);
}

void HttpConnection::Reply(HttpReply reply) {
  reply_ = std::move(reply);
  gives_part_ = false;
  context_->replies->Push(this);
}

void HttpConnection::Resume() {
  asio::post(*context_->io, [self = shared_from_this()] {
    self->thread_->Check();
    MPSD_CHECK(self->task_ != nullptr);
    self->task_->Resumed();
  });
}

void HttpConnection::BeginPart() {
  thread_->Check();
  MPSD_CHECK(owes_reply_ && !part_out_);
  if (phase_ == Phase::kEnded) return PartIsOver(false);
  part_out_ = true;
  if (!has_parts_) context_->metrics->http_replies.Add(reply_.status);
  FramePart(/*is_last=*/false);
  Enter(Phase::kWriting, context_->options->answer_ns);
  if (!writing_) Write();
}

// Writes what precedes the part into `reply_head_`.
void HttpConnection::FramePart(bool is_last) {
  written_ = 0;
  reply_head_.clear();
  ends_ = ends_ || framing_.is_10;
  if (!has_parts_) reply_.headers += more_headers_;
  if (!std::exchange(has_parts_, true)) reply_head_ = HeadOfParts(reply_, Next(), framing_.is_10);
  if (!framing_.is_10) PutChunk(is_last, &reply_head_, &reply_.body);
}

// The task may give the next part at once, on another thread: the reply is not touched after this.
void HttpConnection::PartIsOver(bool taken) {
  part_out_ = false;
  reply_ = HttpReply();
  reply_head_.clear();
  if (taken) Enter(Phase::kServing, INT64_MAX);
  task_->PartTaken(taken);
}

void HttpConnection::BeginReply() {
  thread_->Check();
  MPSD_CHECK(owes_reply_);
  owes_reply_ = false;
  if (phase_ == Phase::kEnded) {
    EndRequest();
    return LeaveIfDone();
  }
  ends_ = ends_ || context_->clock->NowNs() >= client_.end_at_ns;
  if (has_parts_) {
    FramePart(/*is_last=*/true);
  } else {
    context_->metrics->http_replies.Add(reply_.status);
    reply_.headers += more_headers_;
    reply_head_ = HeadOf(reply_, Next());
    if (request_.method == "HEAD") {
      reply_.body.clear();
      reply_.splices = Splices();
    }
    written_ = 0;
  }
  Enter(Phase::kWriting, context_->options->answer_ns);
  if (!writing_) Write();
}

// The reply's head says whether the client may send another request.
HttpNext HttpConnection::Next() {
  told_end_ = ends_;
  if (ends_) return HttpNext::kClose;
  return framing_.is_10 ? HttpNext::kKeepAliveOf10 : HttpNext::kKeepAlive;
}

HttpConnection::Unwritten HttpConnection::Rest() const {
  const size_t head_done = std::min(written_, reply_head_.size());
  const size_t body_done = written_ - head_done;
  Unwritten rest = {asio::buffer(continue_.data(), continue_.size()),
                    asio::buffer(reply_head_) + head_done};
  reply_.splices.ForEach(reply_.body, body_done, reply_.body_bytes() - body_done,
                         [&rest](absl::string_view piece, bool) {
                           rest.push_back(asio::buffer(piece.data(), piece.size()));
                         });
  return rest;
}

// Plain bytes wait only for a client that takes none.
void HttpConnection::Write() {
  writing_ = true;
  if (!client_.stream->has_tls()) return WriteNow();
  client_.stream->Write(
      Rest(), [self = shared_from_this()](const boost::system::error_code& error, size_t bytes) {
        self->DidWrite(!!error, bytes);
      });
}

void HttpConnection::WriteNow() {
  boost::system::error_code error;
  const size_t bytes = client_.stream->WriteNow(Rest(), &error);
  if (error != asio::error::would_block) return DidWrite(!!error, bytes);
  client_.stream->AwaitRoom([self = shared_from_this()](const boost::system::error_code& failure) {
    self->DidWrite(!!failure, 0);
  });
}

void HttpConnection::DidWrite(bool failed, size_t bytes) {
  thread_->Check();
  writing_ = false;
  if (phase_ == Phase::kEnded || failed) return WriteFailed();
  const size_t of_continue = std::min(bytes, continue_.size());
  continue_.remove_prefix(of_continue);
  written_ += bytes - of_continue;
  if (!continue_.empty()) return Write();
  if (phase_ != Phase::kWriting) return;
  if (written_ < reply_head_.size() + reply_.body_bytes()) return Write();
  if (part_out_) return PartIsOver(true);
  EndRequest();
  if (told_end_ || leaves_) return Linger();
  Enter(Phase::kIdle, client_.group->idle_ns);
  Advance();
}

// If no write was out, nothing else holds the connection.
void HttpConnection::WriteFailed() {
  const std::shared_ptr<HttpConnection> self = shared_from_this();
  if (!owes_reply_) EndRequest();
  ClientLeft();
  if (part_out_) PartIsOver(false);
}

void HttpConnection::EndRequest() {
  if (HttpTask* const task = std::exchange(task_, nullptr); task != nullptr) task->Over();
  reply_ = HttpReply();
  reply_head_.clear();
  more_headers_.clear();
  continue_ = {};
  has_parts_ = false;
  DropBody();
  request_.Clear();
}

void HttpConnection::Linger() {
  Enter(Phase::kLingering, kLingerNs);
  begin_ = end_ = 0;
  Read();
  writing_ = true;
  client_.stream->EndWriting([self = shared_from_this()] { self->DidEndWriting(); });
}

void HttpConnection::DidEndWriting() {
  thread_->Check();
  writing_ = false;
  if (phase_ == Phase::kEnded) LeaveIfDone();
}

void HttpConnection::Close() {
  if (phase_ != Phase::kEnded) {
    Enter(Phase::kEnded, INT64_MAX);
    if (id_ != nullptr) id_->End();
    client_.stream->Close();
    if (task_ != nullptr && owes_reply_ && !told_left_) {
      told_left_ = true;
      task_->ClientLeft();
    }
  }
  LeaveIfDone();
}

// An owed reply comes first: the request ends before its connection does.
void HttpConnection::LeaveIfDone() {
  if (owes_reply_ || writing_ || reading_) return;
  if (task_ != nullptr) EndRequest();
  client_.use->Leave();
  context_->ended(this);
}

}  // namespace mpsd
