#include "tests/crash/call_history.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"

namespace mpsd::crash {
namespace {

constexpr size_t kComplaintsKept = 8;
// Without it the exponent of a number is that of one below 2.
constexpr uint32_t kHighestBitOfExponent = 1U << 30;

uint64_t Mix(uint64_t number) {
  number += 0x9e3779b97f4a7c15ULL;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9ULL;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebULL;
  return number ^ (number >> 31);
}

std::string IdOf(const Call& call) { return absl::StrCat("c", call.id); }

}  // namespace

std::string Payload(const PayloadPlan& plan, const Call& call) {
  std::string bytes(size_t{4} * plan.width * call.rows, '\0');
  for (uint32_t i = 0; i < plan.width * call.rows; ++i) {
    auto bits = static_cast<uint32_t>(Mix(call.id * 65'537 + i));
    if (call.in_json) bits &= ~kHighestBitOfExponent;
    std::memcpy(bytes.data() + size_t{4} * i, &bits, sizeof(bits));
  }
  for (uint32_t row = 0; row < call.rows; ++row) {
    const float first = call.poisoned ? plan.poison : plan.first;
    std::memcpy(bytes.data() + size_t{4} * plan.width * row, &first, sizeof(first));
  }
  return bytes;
}

void CallHistory::Ended(const Call& call, const grpc::Status& status,
                        const inference::ModelInferResponse& response, int64_t now_ns) {
  ++ended_;
  overdue_ns_ = std::max(overdue_ns_, now_ns - call.sent_ns - call.timeout_ns);
  const std::string message = status.error_message();
  absl::string_view text = message;
  const std::string prefix = absl::StrCat("[request id: ", IdOf(call), "] ");
  if (!status.ok() && absl::StartsWith(text, "[request id: ") &&
      !absl::ConsumePrefix(&text, prefix)) {
    Complain(call, absl::StrCat("another call's error: ", text));
  }
  const std::string code =
      absl::StatusCodeToString(static_cast<absl::StatusCode>(status.error_code()));
  ++endings_[text.empty() ? code : absl::StrCat(code, ": ", text)];
  if (!status.ok()) return;
  poisoned_answered_ += call.poisoned ? 1 : 0;
  CheckAnswer(call, response);
}

void CallHistory::CheckAnswer(const Call& call, const inference::ModelInferResponse& response) {
  if (response.id() != IdOf(call)) {
    return Complain(call, absl::StrCat("the answer's id is ", response.id()));
  }
  const auto& outputs = response.raw_output_contents();
  if (outputs.size() != static_cast<int>(plan_.outputs)) {
    return Complain(call, absl::StrCat(outputs.size(), " outputs"));
  }
  const std::string payload = Payload(plan_, call);
  const auto right = std::count(outputs.begin(), outputs.end(), payload);
  if (right != outputs.size()) Complain(call, "another call's bytes, or nobody's");
}

void CallHistory::Complain(const Call& call, const std::string& what) {
  ++wrong_;
  if (complaints_.size() < kComplaintsKept) {
    complaints_.push_back(absl::StrCat("call ", call.id, ": ", what));
  }
}

std::string CallHistory::Report(uint64_t open) const {
  const nlohmann::json report = {{"sent", sent_},
                                 {"ended", ended_},
                                 {"open", open},
                                 {"wrong", wrong_},
                                 {"complaints", complaints_},
                                 {"poisoned_answered", poisoned_answered_},
                                 {"overdue_ms", static_cast<double>(overdue_ns_) * 1e-6},
                                 {"endings", endings_}};
  return report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace mpsd::crash
