#include "test_call.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "server/door/body_fault.h"
#include "server/door/grpc_form.h"

namespace mpsd {

TestCall::TestCall(TestCalls* calls, HttpCall* call, TestMethod method, BodyCoding coding,
                   int64_t end_ns)
    : calls_(calls),
      call_(call),
      method_(method),
      messages_(calls->inflate_bounds.message_bytes, coding),
      inflation_(calls->inflaters, calls->inflate_bounds),
      coding_(coding) {
  call_->StreamBody(end_ns);
}

bool TestCall::has_one_response() const {
  return method_ == TestMethod::kUnary || method_ == TestMethod::kInput;
}

void TestCall::Serve(BodyEnd body) {
  body_ended_ = true;
  if (body != BodyEnd::kWhole) return End(FaultOf(body).status);
  Proceed();
}

void TestCall::Proceed() {
  while (!is_over_ && !inflates_ && !part_out_) {
    const bool waits = method_ == TestMethod::kHalfDuplex && !body_ended_;
    if (!outbox_.empty() && !waits) return SendNext();
    if (!ReadOne()) return;
  }
}

// Whether there was a message, or the call has ended.
bool TestCall::ReadOne() {
  absl::StatusOr<std::optional<GrpcPiece>> message = messages_.NextOf(call_);
  if (!message.ok()) {
    End(message.status());
  } else if (message->has_value() && (*message)->is_compressed) {
    inflates_ = true;
    compressed_ = **std::move(message);
    inflation_.Begin(coding_, compressed_.view(), call_);
  } else if (message->has_value()) {
    Take((*message)->view(), /*is_compressed=*/false);
    call_->DropBytes((*message)->wire_bytes);
  } else if (body_ended_) {
    EndOfBody();
  } else {
    return false;
  }
  return true;
}

void TestCall::Resumed() {
  MPSD_CHECK(inflation_.TakeResumed());
  inflates_ = false;
  call_->DropBytes(compressed_.wire_bytes);
  compressed_ = GrpcPiece();
  if (!inflation_.status().ok()) {
    End(inflation_.status());
  } else if (!is_over_) {
    Take(inflation_.TakeBytes(), /*is_compressed=*/true);
  }
  inflation_.Clear();
  ReplyIfOver();
  Proceed();
}

void TestCall::Take(absl::string_view message, bool is_compressed) {
  ++messages_taken_;
  absl::Status status;
  if (method_ == TestMethod::kUnary) {
    std::string load;
    status = TestService::Unary(message, is_compressed, &response_, &load);
    if (!load.empty()) {
      call_->AddTrailers(
          absl::StrCat("endpoint-load-metrics-bin: ", absl::Base64Escape(load), "\r\n"));
    }
  } else if (method_ == TestMethod::kInput) {
    status = TestService::Input(message, is_compressed, &sum_);
  } else {
    std::vector<TimedResponse> responses;
    status = calls_->service->Stream(message, &responses);
    std::move(responses.begin(), responses.end(), std::back_inserter(outbox_));
  }
  if (!status.ok()) End(status);
}

void TestCall::EndOfBody() {
  const bool takes_one = method_ == TestMethod::kUnary || method_ == TestMethod::kOutput;
  if (takes_one && messages_taken_ != 1) {
    return End(absl::InvalidArgumentError("the call must carry one request"));
  }
  if (method_ == TestMethod::kInput) response_ = TestService::SumOf(sum_);
  End(absl::OkStatus());
}

void TestCall::SendNext() {
  const int64_t now_ns = calls_->clock->NowNs();
  if (due_ns_ == 0) due_ns_ = now_ns + outbox_.front().pause_ns;
  if (now_ns < due_ns_) {
    auto& sleeping = calls_->sleeping;
    if (std::count(sleeping.begin(), sleeping.end(), this) == 0) sleeping.push_back(this);
    return;
  }
  due_ns_ = 0;
  part_out_ = has_parts_ = true;
  std::string body = absl::StrCat(GrpcBody(), outbox_.front().bytes);
  outbox_.pop_front();
  EndGrpcMessage(&body);
  call_->ReplyPart(HttpReply(200, kGrpcType, std::move(body)));
}

void TestCall::PartTaken(bool taken) {
  part_out_ = false;
  if (!taken) End(absl::DeadlineExceededError("the responses were not read in time"));
  ReplyIfOver();
  Proceed();
}

// The first ending counts.
void TestCall::End(const absl::Status& status) {
  if (!std::exchange(is_over_, true)) ending_ = status;
  inflation_.Drop();
  ReplyIfOver();
}

void TestCall::ReplyIfOver() {
  if (!is_over_ || part_out_ || inflates_ || std::exchange(has_replied_, true)) return;
  auto& sleeping = calls_->sleeping;
  sleeping.erase(std::remove(sleeping.begin(), sleeping.end(), this), sleeping.end());
  if (has_one_response() && ending_.ok()) {
    return call_->Reply(GrpcReply(absl::StrCat(GrpcBody(), response_)));
  }
  call_->Reply(GrpcLast(ending_, StatusStyle::kOwn, has_parts_));
}

void TestCall::Over() { delete this; }

}  // namespace mpsd
