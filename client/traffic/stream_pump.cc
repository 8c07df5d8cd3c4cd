#include "client/traffic/stream_pump.h"

#include <utility>

#include "client/traffic/pump.h"
#include "proto/base/check.h"

namespace mpsd::traffic {
StreamPump::StreamPump(const LoadPlan& plan, const std::vector<PreparedRequest>& requests,
                       uint64_t seed)
    : plan_(plan),
      token_(plan.connection.token),
      requests_(requests),
      picker_(requests, seed),
      tally_(plan, requests) {}

StreamPump::~StreamPump() {
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

void StreamPump::AddStream(const std::shared_ptr<grpc::Channel>& channel, uint32_t depth) {
  auto stream = std::make_unique<Stream>();
  stream->due = depth;
  token_.AddTo(&stream->context);
  stream->call =
      grpc::GenericStub(channel).PrepareCall(&stream->context, plan_.stream_method, &queue_);
  streams_.push_back(std::move(stream));
}

void StreamPump::Run(const Window& window) {
  MPSD_CHECK(!streams_.empty());
  for (const auto& stream : streams_) {
    stream->call->StartCall(&stream->started);
    ++tags_out_;
  }
  bool cancelled = false;
  while (tags_out_ > 0) {
    void* tag = nullptr;
    bool ok = false;
    const auto event = queue_.AsyncNext(&tag, &ok, MonotonicTime(kPollNs));
    if (event == grpc::CompletionQueue::GOT_EVENT) {
      --tags_out_;
      Take(window, *static_cast<Tag*>(tag), ok);
    }
    if (!cancelled && NowNs() >= window.end_ns + plan_.drain_ns) {
      cancelled = true;
      CancelAll();
    }
  }
}

void StreamPump::Take(const Window& window, const Tag& tag, bool ok) {
  Stream* const stream = tag.stream;
  switch (tag.step) {
    case Step::kStarted:
      stream->over = !ok;
      break;
    case Step::kRead:
      stream->reading = false;
      if (ok) Answered(window, stream);
      stream->over = stream->over || !ok;
      break;
    case Step::kWritten:
      stream->writing = false;
      stream->over = stream->over || !ok;
      break;
    case Step::kFinished:
      Finished(window, stream);
      return;
  }
  SendNext(window, stream);
  if (!stream->over && !stream->reading) {
    stream->reading = true;
    ++tags_out_;
    stream->call->Read(&stream->answer, &stream->read);
  }
  FinishIfOver(stream);
}

void StreamPump::Answered(const Window& window, Stream* stream) {
  if (stream->open.empty()) {
    tally_.CountUnasked();
    stream->over = true;
    stream->context.TryCancel();
    return;
  }
  const Sent sent = stream->open.front();
  stream->open.pop_front();
  tally_.Count(window, NowNs(), sent.at_ns, sent.request, grpc::StatusCode::OK, &stream->answer);
  ++stream->due;
}

// After the window's end it sends only a request that a held-back write waits for, and closes this
// side.
void StreamPump::SendNext(const Window& window, Stream* stream) {
  if (stream->writing || stream->over || !stream->sends) return;
  const int64_t now_ns = NowNs();
  if (now_ns >= window.end_ns && !stream->held_back) {
    stream->sends = false;
    stream->writing = true;
    ++tags_out_;
    stream->call->WritesDone(&stream->written);
    return;
  }
  if (stream->due == 0) return;
  const auto request = picker_.Next();
  stream->open.push_back({request, now_ns});
  --stream->due;
  grpc::WriteOptions options;
  stream->held_back = stream->due > 0;
  if (stream->held_back) options.set_buffer_hint();
  stream->writing = true;
  ++tags_out_;
  stream->call->Write(requests_[request].bytes, options, &stream->written);
}

void StreamPump::FinishIfOver(Stream* stream) {
  if (!stream->over || stream->reading || stream->writing) return;
  ++tags_out_;
  stream->call->Finish(&stream->status, &stream->finished);
}

void StreamPump::Finished(const Window& window, Stream* stream) {
  const grpc::StatusCode code =
      stream->status.ok() ? grpc::StatusCode::UNKNOWN : stream->status.error_code();
  for (const Sent& sent : stream->open) {
    tally_.Count(window, NowNs(), sent.at_ns, sent.request, code, &stream->answer);
  }
  stream->open.clear();
}

void StreamPump::CancelAll() {
  for (const auto& stream : streams_) stream->context.TryCancel();
}

}  // namespace mpsd::traffic
