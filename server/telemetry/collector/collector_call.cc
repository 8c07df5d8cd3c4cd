#include "server/telemetry/collector/collector_call.h"

#include <algorithm>
#include <iterator>
#include <mutex>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"

namespace mpsd {
namespace {

// By OtlpSignal.
constexpr const char* kPaths[] = {"/v1/traces", "/v1/metrics"};
constexpr const char* kGrpcMethods[] = {
    "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"};
constexpr long kOk = 200;
// OTLP names the statuses after which a message may be sent again.
constexpr long kPassingStatuses[] = {429, 502, 503, 504};
// CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, OUT_OF_RANGE, UNAVAILABLE, DATA_LOSS.
constexpr int kPassingCodes[] = {1, 4, 8, 10, 11, 14, 15};

template <typename Value>
void Set(CURL* handle, CURLoption option, Value value) {
  MPSD_CHECK(curl_easy_setopt(handle, option, value) == CURLE_OK);
}

CURL* NewHandle() {
  static std::once_flag once;
  std::call_once(once, [] { MPSD_CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); });
  CURL* const handle = curl_easy_init();
  MPSD_CHECK(handle != nullptr);
  return handle;
}

std::string UrlOf(absl::string_view address, OtlpSignal signal) {
  const auto index = static_cast<size_t>(signal);
  if (absl::ConsumePrefix(&address, "grpc")) {
    return absl::StrCat("http", address, kGrpcMethods[index]);
  }
  return absl::StrCat(absl::StripSuffix(address, "/"), kPaths[index]);
}

// A message of gRPC: not compressed, its length in four bytes, and itself.
std::string Framed(const std::string& message) {
  std::string frame(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame.push_back(static_cast<char>(message.size() >> shift));
  }
  return frame + message;
}

template <typename List, typename Value>
bool Has(const List& list, Value value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

absl::Status Fault(bool passes, const std::string& text) {
  return passes ? absl::UnavailableError(text) : absl::FailedPreconditionError(text);
}

}  // namespace

CollectorCall::CollectorCall(absl::string_view address, OtlpSignal signal)
    : is_grpc_(absl::StartsWith(address, "grpc")), handle_(NewHandle()) {
  Set(handle_, CURLOPT_URL, UrlOf(address, signal).c_str());
  Set(handle_, CURLOPT_PROTOCOLS_STR, "http,https");
  Set(handle_, CURLOPT_NOPROXY, "*");
  Set(handle_, CURLOPT_NOSIGNAL, 1L);
  Set(handle_, CURLOPT_QUICK_EXIT, 1L);
  Set(handle_, CURLOPT_USERAGENT, "mpsd/" MPSD_VERSION);
  Set(handle_, CURLOPT_HTTP_VERSION,
      is_grpc_ ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE : CURL_HTTP_VERSION_1_1);
  // libcurl 7.88 fails at the second call on a connection of HTTP/2 that began without TLS.
  Set(handle_, CURLOPT_FORBID_REUSE, is_grpc_ ? 1L : 0L);
  Set(handle_, CURLOPT_WRITEFUNCTION, &CollectorCall::OnBody);
  Set(handle_, CURLOPT_HEADERFUNCTION, &CollectorCall::OnHeader);
  Set(handle_, CURLOPT_HEADERDATA, static_cast<void*>(this));
  Set(handle_, CURLOPT_XFERINFOFUNCTION, &CollectorCall::OnProgress);
  Set(handle_, CURLOPT_XFERINFODATA, static_cast<void*>(this));
  Set(handle_, CURLOPT_NOPROGRESS, 0L);
  headers_ = curl_slist_append(headers_, is_grpc_ ? "content-type: application/grpc"
                                                  : "content-type: application/x-protobuf");
  headers_ = curl_slist_append(headers_, is_grpc_ ? "te: trailers" : "expect:");
  Set(handle_, CURLOPT_HTTPHEADER, headers_);
}

CollectorCall::~CollectorCall() {
  curl_easy_cleanup(handle_);
  curl_slist_free_all(headers_);
}

size_t CollectorCall::OnBody(char* /*data*/, size_t size, size_t count, void* /*self*/) {
  return size * count;
}

// libcurl tells trailers as headers.
size_t CollectorCall::OnHeader(char* data, size_t size, size_t count, void* self) {
  absl::string_view line(data, size * count);
  int code = 0;
  if (absl::ConsumePrefix(&line, "grpc-status:") &&
      absl::SimpleAtoi(absl::StripAsciiWhitespace(line), &code)) {
    static_cast<CollectorCall*>(self)->grpc_status_ = code;
  }
  return size * count;
}

int CollectorCall::OnProgress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return *static_cast<CollectorCall*>(self)->cut_ ? 1 : 0;
}

absl::Status CollectorCall::Judge(CURLcode result) const {
  if (result != CURLE_OK) {
    return Fault(/*passes=*/true,
                 absl::StrCat("the collector cannot be reached: ", curl_easy_strerror(result)));
  }
  long status = 0;
  curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
  if (status != kOk) {
    return Fault(Has(kPassingStatuses, status), absl::StrCat("the collector answers ", status));
  }
  if (!is_grpc_ || grpc_status_ == 0) return absl::OkStatus();
  if (grpc_status_ < 0) return Fault(/*passes=*/false, "the collector does not speak gRPC");
  return Fault(Has(kPassingCodes, grpc_status_),
               absl::StrCat("the collector answers gRPC's code ", grpc_status_));
}

absl::Status CollectorCall::Take(const std::string& message, int64_t timeout_ns,
                                 const std::atomic<bool>& cut) {
  const std::string framed = is_grpc_ ? Framed(message) : "";
  const std::string& body = is_grpc_ ? framed : message;
  cut_ = &cut;
  grpc_status_ = -1;
  Set(handle_, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout_ns / kNsPerMs));
  Set(handle_, CURLOPT_POSTFIELDS, body.data());
  Set(handle_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  const absl::Status outcome = Judge(curl_easy_perform(handle_));
  cut_ = nullptr;
  return outcome;
}

}  // namespace mpsd
