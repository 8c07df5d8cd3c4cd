#include "server/http/http2_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "server/http/http2_connection.h"

namespace mpsd {
namespace {

constexpr absl::string_view kLineBreak = "\r\n";
constexpr absl::string_view kColon = ": ";
constexpr size_t kUsualHeadBytes = 512;
// After so large a piece more are likely in the same read, which has kPieceRoomBytes.
constexpr size_t kLargePieceBytes = 8 << 10;
constexpr size_t kPieceRoomBytes = 64 << 10;

using Headers = absl::InlinedVector<nghttp2_nv, 8>;

// `kept`: flags for what outlives the stream, in lower case.
nghttp2_nv HeaderOf(absl::string_view name, absl::string_view value,
                    uint8_t kept = NGHTTP2_NV_FLAG_NONE) {
  const auto bytes = [](absl::string_view text) {
    return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), kept};
}

// Names become lower case, as HTTP/2 wants them.
void AddLines(std::string* lines, Headers* headers) {
  size_t begin = 0;
  while (begin < lines->size()) {
    const size_t end = lines->find(kLineBreak.data(), begin);
    const size_t colon = lines->find(kColon.data(), begin);
    MPSD_CHECK(end != std::string::npos && colon < end);
    for (size_t i = begin; i < colon; ++i) {
      (*lines)[i] = absl::ascii_tolower(static_cast<unsigned char>((*lines)[i]));
    }
    const absl::string_view line = absl::string_view(*lines).substr(begin, end - begin);
    headers->push_back(
        HeaderOf(line.substr(0, colon - begin), line.substr(colon - begin + kColon.size())));
    begin = end + kLineBreak.size();
  }
}

ssize_t TakeReply(nghttp2_session*, int32_t, uint8_t*, size_t most, uint32_t* flags,
                  nghttp2_data_source* source, void*) {
  return static_cast<Http2Stream*>(source->ptr)->TakeForWriting(most, flags);
}

}  // namespace

Http2Stream::Http2Stream(Http2Connection* connection, const ConnectionContext* context, int32_t id)
    : connection_(connection),
      context_(context),
      id_(id),
      expires_ns_(After(connection->heard_ns(), context->options->head_ns)) {}

Http2Stream::~Http2Stream() { MPSD_CHECK(task_ == nullptr && taken_bytes_ == 0); }

void Http2Stream::Enter(Phase phase, int64_t expires_ns) {
  phase_ = phase;
  expires_ns_ = std::min(expires_ns, until_ns_);
}

void Http2Stream::End() {
  if (HttpTask* const task = std::exchange(task_, nullptr); task != nullptr) task->Over();
  DropBody();
}

void Http2Stream::TimeIsUp() {
  expires_ns_ = INT64_MAX;
  if (phase_ == Phase::kBody) return Serve(BodyEnd::kTooSlow);
  if (is_streamed_ && owes_reply_) return GiveUp();
  if (phase_ == Phase::kWriting) {
    context_->metrics->untaken_answers.fetch_add(1, std::memory_order_relaxed);
  }
  nghttp2_submit_rst_stream(connection_->session(), NGHTTP2_FLAG_NONE, id_, NGHTTP2_CANCEL);
}

// The call's or a part's time is up. The task's trailers tell the client why.
void Http2Stream::GiveUp() {
  if (context_->clock->NowNs() >= std::exchange(until_ns_, INT64_MAX)) {
    if (!std::exchange(told_left_, true)) task_->ClientLeft();
  } else {
    context_->metrics->untaken_answers.fetch_add(1, std::memory_order_relaxed);
  }
  if (!part_out_) return;
  was_cut_ = true;
  cut_rest_ = reply_.body.substr(written_, promised_);
  PartIsOver(false);
}

void Http2Stream::AddHeader(absl::string_view name, absl::string_view value) {
  if (phase_ != Phase::kHead || head_is_large_) return;
  std::string& head = request_.head;
  constexpr size_t kLineBytes = 4;  // HTTP/1.1 has these around name and value
  const size_t bytes = head.size() + name.size() + value.size() + kLineBytes * (lines_.size() + 1);
  head_is_large_ = bytes > context_->options->head_bytes;
  if (head_is_large_) return;
  if (lines_.empty()) head.reserve(kUsualHeadBytes);
  lines_.push_back({static_cast<uint32_t>(head.size()), static_cast<uint32_t>(name.size()),
                    static_cast<uint32_t>(value.size())});
  head.append(name.data(), name.size()).append(value.data(), value.size());
}

absl::string_view Http2Stream::NameOf(const Line& line) const {
  return absl::string_view(request_.head).substr(line.begin, line.name_bytes);
}

absl::string_view Http2Stream::ValueOf(const Line& line) const {
  return absl::string_view(request_.head).substr(line.begin + line.name_bytes, line.value_bytes);
}

// nghttp2 has checked the form. An ":authority" counts as the Host.
HttpFault Http2Stream::ReadHead() {
  absl::string_view authority;
  for (const Line& line : lines_) {
    const absl::string_view name = NameOf(line);
    if (name == ":method") request_.method = ValueOf(line);
    if (name == ":path") SetTarget(ValueOf(line), &request_);
    if (name == ":authority") authority = ValueOf(line);
    if (name[0] != ':') request_.headers.push_back({name, ValueOf(line)});
  }
  if (head_is_large_) return {431, "the headers of the request are too large"};
  if (request_.method == "CONNECT") return {501, "this server is no proxy"};
  const size_t hosts = request_.CountOf("host");
  if (!authority.empty() && hosts == 0) request_.headers.push_back({"host", authority});
  const bool agree = authority.empty() || request_.Header("host") == authority;
  if (request_.CountOf("host") != 1 || !agree) return {400, "a request has one Host"};
  const bool is_number = absl::SimpleAtoi(request_.Header("content-length"), &announced_bytes_);
  if (!is_number) announced_bytes_ = 0;
  return {};
}

void Http2Stream::HeadIsThere(bool has_body) {
  const HttpFault fault = ReadHead();
  owes_reply_ = has_begun_ = true;
  connection_->RequestBegins();
  if (fault.status != 0) return Refuse(fault);
  Enter(Phase::kBody, After(connection_->heard_ns(), context_->options->body_ns));
  task_ = context_->handler->Arrived(this);
  if (task_ == nullptr) return Enter(Phase::kServing, INT64_MAX);  // the reply is there already
  if (connection_->ends_soon()) task_->EndSoon();
  if (is_streamed_) {
    Enter(Phase::kServing, INT64_MAX);
    return has_body ? BeginBody() : EndPieces(BodyEnd::kWhole);
  }
  if (announced_bytes_ > context_->options->message_bytes) return Serve(BodyEnd::kTooLarge);
  if (!has_body) return Serve(BodyEnd::kWhole);
  BeginBody();
}

void Http2Stream::BeginBody() {
  if (announced_bytes_ > 0 && !is_streamed_) request_.body.Announce(announced_bytes_);
  if (!absl::EqualsIgnoreCase(request_.Header("expect"), "100-continue")) return;
  const nghttp2_nv status = HeaderOf(":status", "100");
  nghttp2_submit_headers(connection_->session(), NGHTTP2_FLAG_NONE, id_, nullptr, &status, 1,
                         nullptr);
}

void Http2Stream::StreamBody(int64_t until_ns) {
  is_streamed_ = true;
  until_ns_ = until_ns;
}

void Http2Stream::AddBody(absl::string_view bytes) {
  if (is_streamed_) return AddPiece(bytes);
  nghttp2_session_consume_stream(connection_->session(), id_, bytes.size());
  if (phase_ != Phase::kBody) return;
  if (has_beginning_) return AddToRest(bytes);
  if (bytes.size() > context_->options->message_bytes - request_.body.size()) {
    return Serve(BodyEnd::kTooLarge);
  }
  if (OfferBeginning(bytes)) return;
  if (!context_->bodies->TryTake(connection_->host(), bytes.size())) {
    return Serve(BodyEnd::kTooMany);
  }
  taken_bytes_ += bytes.size();
  if (request_.body.size() == 0 && announced_bytes_ == 0) {
    const uint64_t length = task_->BodyBytes(bytes);
    if (length > 0) request_.body.Announce(std::min(length, context_->options->message_bytes));
  }
  request_.body.Append(bytes);
}

bool Http2Stream::OfferBeginning(absl::string_view bytes) {
  if (was_offered_ || request_.body.size() + bytes.size() < HttpTask::kBeginningBytes) return false;
  was_offered_ = true;
  const std::string begun =
      request_.body.size() == 0 ? "" : absl::StrCat(request_.body.view(), bytes);
  const absl::string_view first = begun.empty() ? bytes : begun;
  const uint64_t length = announced_bytes_ > 0 ? announced_bytes_ : task_->BodyBytes(first);
  const bool is_offered = length >= HttpTask::kOfferedBytes && length > first.size() &&
                          length <= context_->options->message_bytes;
  if (is_offered) rest_ = task_->TakeBeginning(first, length);
  has_beginning_ = !rest_.empty();
  if (has_beginning_) DropBody();
  return has_beginning_;
}

void Http2Stream::AddToRest(absl::string_view bytes) {
  if (bytes.size() > rest_.size()) return Serve(BodyEnd::kMalformed);
  if (bytes.data() != rest_.data()) std::memmove(rest_.data(), bytes.data(), bytes.size());
  rest_.remove_prefix(bytes.size());
}

// Bytes that nobody awaits leave the window shut: the stream ends with the reply.
void Http2Stream::AddPiece(absl::string_view bytes) {
  if (body_ended_ || !owes_reply_) return;
  if (!context_->bodies->TryTake(connection_->host(), bytes.size())) {
    return EndPieces(BodyEnd::kTooMany);
  }
  taken_bytes_ += bytes.size();
  if (request_.body.size() == 0) {
    connection_->BodyGrew(id_);
    if (bytes.size() >= kLargePieceBytes) request_.body.Announce(kPieceRoomBytes);
  }
  request_.body.Append(bytes);
}

void Http2Stream::EndPieces(BodyEnd end) {
  if (std::exchange(body_ended_, true) || !owes_reply_ || told_left_) return;
  task_->Serve(end);
}

void Http2Stream::TellGrown() {
  if (body_ended_ || !owes_reply_ || told_left_ || request_.body.size() == 0) return;
  task_->BodyGrew();
}

void Http2Stream::EndSoon() {
  if (owes_reply_ && task_ != nullptr) task_->EndSoon();
}

void Http2Stream::BodyIsThere() {
  if (is_streamed_) return EndPieces(BodyEnd::kWhole);
  if (phase_ == Phase::kBody) Serve(rest_.empty() ? BodyEnd::kWhole : BodyEnd::kMalformed);
}

void Http2Stream::Serve(BodyEnd end) {
  Enter(Phase::kServing, INT64_MAX);
  if (end != BodyEnd::kWhole) DropBody();
  task_->Serve(end);
}

void Http2Stream::Refuse(const HttpFault& fault) {
  Enter(Phase::kServing, INT64_MAX);
  Reply(context_->handler->Refusal(*this, fault.status, fault.why));
}

void Http2Stream::Closed() {
  if (std::exchange(is_closed_, true)) return;
  expires_ns_ = INT64_MAX;
  if (owes_reply_ && phase_ == Phase::kBody) {
    told_left_ = true;
    return Serve(BodyEnd::kClientLeft);
  }
  if (owes_reply_ && task_ != nullptr && !std::exchange(told_left_, true)) task_->ClientLeft();
  if (part_out_) PartIsOver(false);
  if (!owes_reply_) connection_->StreamIsOver(id_);
}

const std::string& Http2Stream::peer() const { return connection_->peer(); }

absl::Span<const std::string> Http2Stream::certificate_names() const {
  return connection_->certificate_names();
}

ConnectionId Http2Stream::connection() { return connection_->id(); }

bool Http2Stream::by_control_socket() const { return connection_->by_control_socket(); }

std::string Http2Stream::TakeBody() {
  if (is_streamed_ && !is_closed_) {
    nghttp2_session_consume_stream(connection_->session(), id_, request_.body.size());
    connection_->Flush();
  }
  return request_.body.Take();
}

void Http2Stream::DropBytes(size_t bytes) {
  MPSD_CHECK(bytes <= taken_bytes_);
  taken_bytes_ -= bytes;
  if (bytes > 0) context_->bodies->GiveBack(connection_->host(), bytes);
}

void Http2Stream::DropBody() {
  request_.body.Take();
  DropBytes(taken_bytes_);
}

void Http2Stream::ReplyPart(HttpReply part) {
  reply_ = std::move(part);
  gives_part_ = true;
  context_->replies->Push(this);
}

void Http2Stream::Reply(HttpReply reply) {
  reply_ = std::move(reply);
  gives_part_ = false;
  context_->replies->Push(this);
}

void Http2Stream::Resume() {
  connection_->Post([this] {
    MPSD_CHECK(task_ != nullptr);
    task_->Resumed();
  });
}

void Http2Stream::BeginPart() {
  MPSD_CHECK(owes_reply_ && !part_out_);
  if (is_closed_) return PartIsOver(false);
  part_out_ = true;
  written_ = 0;
  if (reply_.body.empty()) connection_->PartIsTaken(id_);
  Enter(Phase::kWriting, After(context_->clock->NowNs(), context_->options->answer_ns));
  if (reply_.taken_by_ns > 0) expires_ns_ = std::min(reply_.taken_by_ns, until_ns_);
  if (std::exchange(has_parts_, true)) {
    nghttp2_session_resume_data(connection_->session(), id_);
  } else {
    Submit(/*has_length=*/false);
  }
  connection_->Flush();
}

void Http2Stream::BeginReply() {
  MPSD_CHECK(owes_reply_);
  owes_reply_ = false;
  if (is_closed_) return connection_->StreamIsOver(id_);
  written_ = 0;
  until_ns_ = INT64_MAX;
  Enter(Phase::kWriting, After(context_->clock->NowNs(), context_->options->answer_ns));
  if (has_parts_ && reply_.body.empty() && !reply_.trailers.empty()) {
    SubmitTrailers();
  } else if (has_parts_) {
    nghttp2_session_resume_data(connection_->session(), id_);
  } else {
    Submit(/*has_length=*/true);
  }
  connection_->Flush();
}

// Trailers need no window, and end the stream even in the middle of a part.
void Http2Stream::SubmitTrailers() {
  reply_.trailers += more_trailers_;
  Headers trailers;
  AddLines(&reply_.trailers, &trailers);
  nghttp2_submit_trailer(connection_->session(), id_, trailers.data(), trailers.size());
}

void Http2Stream::Submit(bool has_length) {
  context_->metrics->http_replies.Add(reply_.status);
  const std::string status = absl::StrCat(reply_.status);
  std::string length;
  const bool has_more = reply_.body_bytes() > 0 || !reply_.trailers.empty();
  std::string lines = absl::StrCat(reply_.headers, more_headers_);
  Headers headers = {HeaderOf(":status", status, NGHTTP2_NV_FLAG_NO_COPY_NAME),
                     HeaderOf("content-type", reply_.content_type,
                              NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE)};
  if (has_length && !has_more) lines += more_trailers_;
  if (has_length && reply_.tells_length) {
    length = absl::StrCat(reply_.body_bytes());
    headers.push_back(HeaderOf("content-length", length, NGHTTP2_NV_FLAG_NO_COPY_NAME));
  }
  AddLines(&lines, &headers);
  nghttp2_data_provider rest{};
  rest.source.ptr = this;
  rest.read_callback = TakeReply;
  const bool has_body = !has_length || (request_.method != "HEAD" && has_more);
  nghttp2_submit_response(connection_->session(), id_, headers.data(), headers.size(),
                          has_body ? &rest : nullptr);
}

ssize_t Http2Stream::TakeForWriting(size_t most, uint32_t* flags) {
  // Another thread may be giving the next part.
  if ((owes_reply_ && !part_out_) || was_cut_) return NGHTTP2_ERR_DEFERRED;
  const size_t rest = reply_.body_bytes() - written_;
  const size_t taken = std::min(rest, most);
  if (part_out_ && taken == 0) return NGHTTP2_ERR_DEFERRED;
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  promised_ = taken;
  if (!part_out_ && taken == rest) EndBody(flags);
  return static_cast<ssize_t>(taken);
}

void Http2Stream::EndBody(uint32_t* flags) {
  *flags |= NGHTTP2_DATA_FLAG_EOF;
  if (reply_.trailers.empty()) return;
  *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
  SubmitTrailers();
}

void Http2Stream::Write(size_t bytes, WriteBatch* out) {
  promised_ = 0;
  if (!cut_rest_.empty()) return out->Append(std::exchange(cut_rest_, ""));
  reply_.splices.ForEach(reply_.body, written_, bytes,
                         [&](absl::string_view piece, bool is_splice) {
                           is_splice ? out->AppendHeld(piece, reply_.held) : out->Append(piece);
                         });
  written_ += bytes;
  if (part_out_ && written_ == reply_.body.size()) connection_->PartIsTaken(id_);
}

void Http2Stream::PartIsWritten() {
  if (part_out_) PartIsOver(true);
}

// The task may give the next part at once, on another thread: nothing of the reply is touched then.
void Http2Stream::PartIsOver(bool taken) {
  part_out_ = false;
  reply_ = HttpReply();
  written_ = 0;
  if (taken) Enter(Phase::kServing, INT64_MAX);
  task_->PartTaken(taken);
}

}  // namespace mpsd
