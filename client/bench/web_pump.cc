#include "client/bench/web_pump.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "client/web/rest_client.h"
#include "proto/inference.pb.h"

namespace mpsd::bench {
namespace {

// The mean rate counts further unsent calls: there may be very many.
constexpr uint32_t kMostCounted = 100'000;

constexpr char kJsonLength[] = "inference-header-content-length";

void SleepUntil(int64_t ns) {
  const int64_t left_ns = ns - traffic::NowNs();
  if (left_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left_ns));
}

traffic::LoadPlan OfOneThread(traffic::LoadPlan plan) {
  plan.threads = 1;
  return plan;
}

bool Parse(const grpc::ByteBuffer& bytes, inference::ModelInferRequest* request) {
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return false;
  std::string whole;
  for (const grpc::Slice& slice : slices) {
    whole.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return request->ParseFromString(whole);
}

}  // namespace

SharedCalls::SharedCalls(traffic::LoadPlan plan) : plan_(OfOneThread(std::move(plan))) {}

std::optional<int64_t> SharedCalls::Next(const traffic::Window& window) {
  absl::MutexLock lock(&mu_);
  if (!due_.has_value()) due_.emplace(plan_, window, 0);
  if (is_over_) return std::nullopt;
  return due_->Next();
}

void SharedCalls::Sent(int64_t intended_ns, int64_t now_ns) {
  absl::MutexLock lock(&mu_);
  due_->Sent(intended_ns, now_ns);
}

void SharedCalls::NotSent(int64_t intended_ns) {
  absl::MutexLock lock(&mu_);
  due_->NotSent(intended_ns);
  for (uint32_t count = 0; !is_over_; ++count) {
    const std::optional<int64_t> next_ns = due_->Next();
    is_over_ = !next_ns.has_value() || count == kMostCounted;
    if (next_ns.has_value()) is_over_ ? due_->NotSentFrom(*next_ns) : due_->NotSent(*next_ns);
  }
}

traffic::LoadCounts SharedCalls::counts() const {
  absl::MutexLock lock(&mu_);
  return due_.has_value() ? due_->counts() : traffic::LoadCounts();
}

WebPump::WebPump(const traffic::LoadPlan& plan,
                 const std::vector<traffic::PreparedRequest>& prepared,
                 const std::vector<client::HttpRequest>& requests, uint32_t thread,
                 std::unique_ptr<client::HttpClient> http, SharedCalls* due)
    : plan_(plan),
      requests_(requests),
      http_(std::move(http)),
      due_(due),
      picker_(prepared, plan.seed + 1 + thread),  // another seed than for the times
      tally_(plan, prepared),
      first_bytes_(requests.size()) {}

void WebPump::Run(const traffic::Window& window) {
  if (due_ == nullptr) {
    for (int64_t now_ns = traffic::NowNs(); now_ns < window.end_ns; now_ns = traffic::NowNs()) {
      Call(window, now_ns);
    }
    return;
  }
  while (const std::optional<int64_t> intended_ns = due_->Next(window)) {
    SleepUntil(*intended_ns);
    const int64_t now_ns = traffic::NowNs();
    if (now_ns >= window.end_ns) return due_->NotSent(*intended_ns);
    due_->Sent(*intended_ns, now_ns);
    Call(window, *intended_ns);
  }
}

void WebPump::Call(const traffic::Window& window, int64_t intended_ns) {
  const uint32_t request = picker_.Next();
  int64_t patience_ns = window.end_ns + plan_.drain_ns - traffic::NowNs();
  if (plan_.deadline_ns > 0) patience_ns = std::min(patience_ns, plan_.deadline_ns);
  const auto reply = http_->Call(requests_[request], absl::Now() + absl::Nanoseconds(patience_ns));
  const int64_t now_ns = traffic::NowNs();
  const auto code = static_cast<grpc::StatusCode>(reply.status().code());
  tally_.CountChecked(window, now_ns, intended_ns, code, reply.ok() && IsRight(request, *reply));
}

bool WebPump::IsRight(uint32_t request, const client::HttpReply& reply) {
  const auto length = reply.headers.find(kJsonLength);
  uint64_t json_bytes = 0;
  if (length == reply.headers.end() || !absl::SimpleAtoi(length->second, &json_bytes)) return false;
  if (json_bytes > reply.body.size()) return false;
  const uint64_t bytes = reply.body.size() - json_bytes;
  if (!first_bytes_[request].has_value()) first_bytes_[request] = bytes;
  return bytes > 0 && bytes == *first_bytes_[request];
}

absl::StatusOr<client::HttpRequest> AsHttp(const traffic::PreparedRequest& prepared) {
  inference::ModelInferRequest parsed;
  if (!Parse(prepared.bytes, &parsed) || parsed.raw_input_contents_size() != parsed.inputs_size()) {
    return absl::InternalError("a prepared request cannot be read");
  }
  client::InferRequest request{parsed.model_name(), parsed.model_version(), parsed.id(), {}, {}};
  for (int i = 0; i < parsed.inputs_size(); ++i) {
    const auto& input = parsed.inputs(i);
    const std::string& bytes = parsed.raw_input_contents(i);
    request.inputs.push_back({input.name(),
                              ParseDataType(input.datatype()),
                              Dims(input.shape().begin(), input.shape().end()),
                              {bytes.data(), bytes.size()}});
  }
  return client::InferHttpRequest(request);
}

}  // namespace mpsd::bench
