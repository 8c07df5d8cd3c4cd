#include "load_tests/generator/frame_pump.h"

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "load_tests/generator/grpc_message.h"
#include "load_tests/generator/make_frame_pump.h"
#include "proto/base/check.h"

namespace mpsd::load {
namespace {

using traffic::NowNs;
using traffic::PreparedRequest;

// Between turns while calls are open. Calls that are due within one turn leave together.
constexpr int64_t kTurnNs = 200 * kNsPerUs;

}  // namespace

absl::StatusOr<std::unique_ptr<traffic::Pump>> MakeFramePump(
    const traffic::LoadPlan& plan, const std::vector<PreparedRequest>& requests, uint32_t thread) {
  auto pump = std::make_unique<FramePump>(plan, requests, thread);
  const absl::Status connected = pump->Connect();
  if (!connected.ok()) return connected;
  return pump;
}

FramePump::FramePump(const traffic::LoadPlan& plan, const std::vector<PreparedRequest>& requests,
                     uint32_t thread)
    : plan_(plan),
      requests_(requests),
      thread_(thread),
      picker_(requests, plan.seed + 1 + thread),  // not the seed of the times
      tally_(plan, requests),
      call_count_(traffic::Share(plan.outstanding_max, thread, plan.threads)),
      calls_(std::make_unique<Call[]>(call_count_)) {
  MPSD_CHECK(plan.arrivals.IsOpen());
  for (const PreparedRequest& request : requests_) messages_.push_back(Framed(request.bytes));
  free_.reserve(call_count_);
  for (uint32_t i = 0; i < call_count_; ++i) free_.push_back(&calls_[i]);
}

absl::Status FramePump::Connect() {
  const uint32_t connections = std::max(plan_.channels, plan_.threads);
  for (uint32_t i = 0; i < traffic::Share(connections, thread_, plan_.threads); ++i) {
    auto connection =
        FrameConnection::Connect(&io_, plan_.target, plan_.method, plan_.connect_ns,
                                 [this](FrameCall* call) { Count(static_cast<Call*>(call)); });
    if (!connection.ok()) return connection.status();
    connections_.push_back(*std::move(connection));
  }
  return absl::OkStatus();
}

void FramePump::Run(const traffic::Window& window) {
  window_ = window;
  due_.emplace(plan_, window, thread_);
  next_ns_ = due_->Next();
  patience_ns_ = window.end_ns + plan_.drain_ns;
  while (!IsDone()) {
    const int64_t now_ns = NowNs();
    Turn(now_ns);
    std::this_thread::sleep_for(std::chrono::nanoseconds(NextTurnNs(now_ns) - now_ns));
  }
  tally_.Merge(due_->counts());
}

void FramePump::Turn(int64_t now_ns) {
  for (const auto& connection : connections_) connection->Read();
  SendDue(now_ns);
  GiveUpExpired(now_ns);
  for (const auto& connection : connections_) connection->Write();
}

void FramePump::SendDue(int64_t now_ns) {
  while (next_ns_.has_value() && *next_ns_ <= now_ns) {
    const int64_t intended_ns = *next_ns_;
    if (now_ns >= window_.end_ns) {
      due_->NotSentFrom(intended_ns);
      next_ns_.reset();
      return;
    }
    Send(now_ns, intended_ns);
    next_ns_ = due_->Next();
  }
}

void FramePump::Send(int64_t now_ns, int64_t intended_ns) {
  if (free_.empty()) return due_->NotSent(intended_ns);
  due_->Sent(intended_ns, now_ns);
  Call* call = free_.back();
  free_.pop_back();
  call->number = ++last_number_;
  call->intended_ns = intended_ns;
  call->request = picker_.Next();
  call->message = messages_[call->request];
  call->deadline_ns = plan_.deadline_ns == 0 ? 0 : now_ns + plan_.deadline_ns;
  if (call->deadline_ns != 0) expiries_.push_back({call->deadline_ns, call, call->number});
  next_connection_ = next_connection_ + 1 < connections_.size() ? next_connection_ + 1 : 0;
  call->connection = connections_[next_connection_].get();
  call->connection->Start(call);
}

void FramePump::GiveUpExpired(int64_t now_ns) {
  for (; !expiries_.empty() && expiries_.front().at_ns <= now_ns; expiries_.pop_front()) {
    const Expiry& expiry = expiries_.front();
    if (expiry.call->number == expiry.number) {
      GiveUp(expiry.call, grpc::StatusCode::DEADLINE_EXCEEDED);
    }
  }
  if (now_ns < patience_ns_) return;
  for (uint32_t i = 0; i < call_count_; ++i) {
    if (calls_[i].number != 0) GiveUp(&calls_[i], grpc::StatusCode::CANCELLED);
  }
}

void FramePump::GiveUp(Call* call, grpc::StatusCode code) {
  call->connection->Cancel(call);
  call->code = code;
  Count(call);
}

void FramePump::Count(Call* call) {
  grpc::ByteBuffer answer;
  if (call->code == grpc::StatusCode::OK) {
    const std::optional<absl::string_view> message = Unframed(call->answer);
    if (message.has_value()) {
      const grpc::Slice slice(message->data(), message->size());
      answer = grpc::ByteBuffer(&slice, 1);
    }
  }
  tally_.Count(window_, NowNs(), call->intended_ns, call->request, call->code, &answer);
  call->number = 0;
  free_.push_back(call);
}

int64_t FramePump::NextTurnNs(int64_t now_ns) const {
  const bool is_idle = free_.size() == call_count_;
  return is_idle ? std::clamp(next_ns_.value_or(0), now_ns, now_ns + traffic::kPollNs)
                 : now_ns + kTurnNs;
}

}  // namespace mpsd::load
