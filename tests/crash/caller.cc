#include "tests/crash/caller.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"

namespace mpsd::crash {
namespace {

constexpr int64_t kPollNs = 2 * kNsPerMs;

int64_t NowNs() { return Clock::Real()->NowNs(); }

gpr_timespec In(int64_t ns) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(ns, GPR_TIMESPAN));
}

}  // namespace

Caller::Caller(const CallerPlan& plan, std::shared_ptr<grpc::Channel> channel)
    : plan_(plan),
      stub_(inference::GRPCInferenceService::NewStub(std::move(channel))),
      source_(plan),
      history_(plan.payload) {
  for (uint32_t i = 0; i < plan.concurrency; ++i) slots_.push_back(std::make_unique<Slot>());
}

Caller::~Caller() {
  for (const std::unique_ptr<Slot>& slot : slots_) {
    if (slot->reader != nullptr) slot->context->TryCancel();
  }
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

void Caller::Send(Slot* slot) {
  Call& call = slot->call;
  call = source_.Next();
  inference::ModelInferRequest request;
  request.set_model_name(plan_.model);
  request.set_id(absl::StrCat("c", call.id));
  (*request.mutable_parameters())["timeout"].set_int64_param(call.timeout_ns / kNsPerUs);
  auto* input = request.add_inputs();
  input->set_name("x");
  input->set_datatype("FP32");
  input->add_shape(call.rows);
  input->add_shape(plan_.payload.width);
  request.add_raw_input_contents(Payload(plan_.payload, call));

  slot->reader.reset();
  slot->context.emplace();
  slot->context->set_deadline(In(call.timeout_ns + kBackstopNs));
  slot->response.Clear();
  call.stalled_before_ns = stalls_.StalledNs();
  call.sent_ns = NowNs();
  slot->cancel_at_ns = call.cancelled ? call.sent_ns + source_.DrawCancelNs() : 0;
  slot->reader = stub_->AsyncModelInfer(&*slot->context, request, &queue_);
  slot->reader->Finish(&slot->response, &slot->status, slot);
  history_.Sent();
  ++open_;
}

void Caller::CancelDue(int64_t now_ns) {
  for (const std::unique_ptr<Slot>& slot : slots_) {
    if (slot->reader == nullptr || slot->cancel_at_ns == 0 || slot->cancel_at_ns > now_ns) continue;
    slot->context->TryCancel();
    slot->cancel_at_ns = 0;
  }
}

Caller::Slot* Caller::NextEnded() {
  void* tag = nullptr;
  bool ok = false;
  if (queue_.AsyncNext(&tag, &ok, In(kPollNs)) != grpc::CompletionQueue::GOT_EVENT) return nullptr;
  auto* slot = static_cast<Slot*>(tag);
  // A call that ended twice would come with no reader.
  MPSD_CHECK(slot->reader != nullptr);
  slot->reader.reset();
  --open_;
  const int64_t stalled_ns = stalls_.StalledNs() - slot->call.stalled_before_ns;
  history_.Ended(slot->call, slot->status, slot->response, NowNs() - stalled_ns);
  return slot;
}

std::string Caller::Run(const std::function<bool()>& stop) {
  for (const std::unique_ptr<Slot>& slot : slots_) Send(slot.get());
  while (!stop()) {
    Slot* slot = NextEnded();
    CancelDue(NowNs());
    if (slot != nullptr) Send(slot);
  }
  const int64_t until_ns = NowNs() + plan_.patience_ms * kNsPerMs + kBackstopNs;
  while (open_ > 0 && NowNs() < until_ns) {
    NextEnded();
    CancelDue(NowNs());
  }
  return history_.Report(open_);
}

}  // namespace mpsd::crash
