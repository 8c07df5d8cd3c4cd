#include "client/hub/hub_transfer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"

namespace mpsd::hub {
namespace {

constexpr long kMostRedirects = 5;
constexpr long kConnectTimeoutS = 30;
constexpr long kStallS = 30;  // without a byte
constexpr long kOk = 200;
constexpr long kPartial = 206;
constexpr long kUnauthorized = 401;
constexpr long kForbidden = 403;
constexpr long kNotFound = 404;
constexpr long kTooManyRequests = 429;

template <typename Value>
void Set(CURL* handle, CURLoption option, Value value) {
  MPSD_CHECK(curl_easy_setopt(handle, option, value) == CURLE_OK);
}

long StatusOf(CURL* handle) {
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

// Another try cannot mend these.
bool IsLasting(CURLcode result) {
  return result == CURLE_TOO_MANY_REDIRECTS || result == CURLE_UNSUPPORTED_PROTOCOL ||
         result == CURLE_URL_MALFORMAT || result == CURLE_PEER_FAILED_VERIFICATION ||
         result == CURLE_SSL_CACERT_BADFILE;
}

}  // namespace

HubTransfer::HubTransfer(const HubSettings& settings, std::string url, const Part& part,
                         PiecePool* pool)
    : url_(std::move(url)),
      part_(part),
      has_token_(!settings.token.empty()),
      handle_(curl_easy_init()),
      pool_(pool) {
  MPSD_CHECK(handle_ != nullptr);
  const char* const schemes =
      absl::StartsWith(settings.endpoint, "https:") ? "https" : "http,https";
  Set(handle_, CURLOPT_URL, url_.c_str());
  Set(handle_, CURLOPT_PROTOCOLS_STR, schemes);
  Set(handle_, CURLOPT_REDIR_PROTOCOLS_STR, schemes);
  Set(handle_, CURLOPT_FOLLOWLOCATION, 1L);
  Set(handle_, CURLOPT_MAXREDIRS, kMostRedirects);
  Set(handle_, CURLOPT_NOSIGNAL, 1L);
  Set(handle_, CURLOPT_USERAGENT, "mpsd/" MPSD_VERSION);
  Set(handle_, CURLOPT_CONNECTTIMEOUT, kConnectTimeoutS);
  Set(handle_, CURLOPT_LOW_SPEED_LIMIT, 1L);
  Set(handle_, CURLOPT_LOW_SPEED_TIME, kStallS);
  Set(handle_, CURLOPT_BUFFERSIZE, static_cast<long>(kPieceBytes));
  Set(handle_, CURLOPT_WRITEFUNCTION, &HubTransfer::OnBody);
  Set(handle_, CURLOPT_WRITEDATA, static_cast<void*>(this));
  Set(handle_, CURLOPT_HEADERFUNCTION, &HubTransfer::OnHeader);
  Set(handle_, CURLOPT_HEADERDATA, static_cast<void*>(this));
  if (!settings.authorities.empty()) {
    Set(handle_, CURLOPT_CAINFO, settings.authorities.c_str());
  }
  // libcurl takes this header off for another host.
  if (has_token_) {
    headers_ = curl_slist_append(headers_, ("Authorization: Bearer " + settings.token).c_str());
    Set(handle_, CURLOPT_HTTPHEADER, headers_);
  }
}

HubTransfer::~HubTransfer() {
  curl_easy_cleanup(handle_);
  curl_slist_free_all(headers_);
}

void HubTransfer::Prepare() {
  went_forward_ = false;
  retry_after_s_ = 0;
  error_code_.clear();
  if (!part_.is_exact) {  // the next answer may be another one
    pieces_.clear();
    arrived_ = 0;
  }
  names_range_ = !part_.is_whole || arrived_ > 0;
  if (!names_range_) return;
  const std::string range =
      absl::StrCat(part_.begin + arrived_, "-", part_.begin + part_.bytes_max - 1);
  Set(handle_, CURLOPT_RANGE, range.c_str());
}

std::string HubTransfer::Take() {
  std::string piece = std::move(pieces_.front());
  pieces_.pop_front();
  return piece;
}

bool HubTransfer::Accept(absl::string_view piece) {
  const long status = StatusOf(handle_);
  if (status != kOk && status != kPartial) return true;  // an error's body tells nothing
  ignores_range_ = status == kOk && names_range_;
  is_too_large_ = arrived_ + piece.size() > part_.bytes_max;
  if (ignores_range_ || is_too_large_) return false;
  arrived_ += piece.size();
  while (!piece.empty()) {
    if (pieces_.empty() || pieces_.back().size() == kPieceBytes) pieces_.push_back(pool_->Get());
    std::string& last = pieces_.back();
    const size_t bytes = std::min(piece.size(), kPieceBytes - last.size());
    last.append(piece.data(), bytes);
    piece.remove_prefix(bytes);
  }
  went_forward_ = part_.is_exact;
  return true;
}

size_t HubTransfer::OnBody(char* data, size_t size, size_t count, void* self) {
  const absl::string_view piece(data, size * count);
  return static_cast<HubTransfer*>(self)->Accept(piece) ? piece.size() : 0;
}

size_t HubTransfer::OnHeader(char* data, size_t size, size_t count, void* self) {
  HubTransfer& transfer = *static_cast<HubTransfer*>(self);
  const absl::string_view line(data, size * count);
  const size_t colon = line.find(':');
  if (colon != absl::string_view::npos) {
    const std::string name = absl::AsciiStrToLower(line.substr(0, colon));
    const absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
    if (name == "x-error-code") transfer.error_code_ = std::string(value.substr(0, 64));
    int64_t seconds = 0;
    if (name == "retry-after" && absl::SimpleAtoi(value, &seconds)) {
      transfer.retry_after_s_ = std::max<int64_t>(seconds, 0);
    }
  }
  return line.size();
}

absl::Status HubTransfer::FaultOfStatus(long status, absl::string_view model) const {
  const absl::string_view token = has_token_ ? "another HF_TOKEN" : "a token in HF_TOKEN";
  if (status == kForbidden || error_code_ == "GatedRepo") {
    return absl::PermissionDeniedError(
        absl::StrCat(model, " is gated: accept its terms on its page at the hub, and set ", token));
  }
  if (status == kUnauthorized) {
    return absl::UnauthenticatedError(
        absl::StrCat("the hub has no model ", model, ", or gives it only with ", token));
  }
  if (status == kNotFound) {
    if (error_code_ == "RevisionNotFound") {
      return absl::NotFoundError(absl::StrCat(model, " has no such revision"));
    }
    return absl::NotFoundError(error_code_ == "EntryNotFound"
                                   ? absl::StrCat(model, " lacks a file that the hub lists")
                                   : absl::StrCat("the hub has no model ", model));
  }
  if (status == kTooManyRequests) {
    return absl::ResourceExhaustedError("the hub answers 429: too many requests from here");
  }
  return absl::UnavailableError(absl::StrCat("the hub answers ", status));
}

absl::Status HubTransfer::FaultOfCurl(CURLcode result, absl::string_view model) const {
  if (result == CURLE_TOO_MANY_REDIRECTS) {
    return absl::InternalError(absl::StrCat("the hub redirects ", model, " without end"));
  }
  return absl::UnavailableError(
      absl::StrCat("the hub cannot be reached: ", curl_easy_strerror(result)));
}

HubTransfer::Outcome HubTransfer::Judge(CURLcode result, absl::string_view model) {
  const long status = StatusOf(handle_);
  if (ignores_range_) {
    fault_ = absl::OutOfRangeError("the hub sends files from the first byte only");
    return Outcome::kNever;
  }
  if (is_too_large_) {
    fault_ = absl::InternalError(absl::StrCat("the hub sends more of ", model, " than it lists"));
    return Outcome::kNever;
  }
  if (result != CURLE_OK) {
    fault_ = FaultOfCurl(result, model);
    return IsLasting(result) ? Outcome::kNever : Outcome::kTryAgain;
  }
  if (status == kOk || status == kPartial) {
    fault_ = absl::UnavailableError("the hub ends its answers too early");
    const bool has_all = !part_.is_exact || arrived_ == part_.bytes_max;
    return has_all ? Outcome::kWhole : Outcome::kTryAgain;
  }
  fault_ = FaultOfStatus(status, model);
  const bool may_pass = status == kTooManyRequests || status >= 500;
  return may_pass ? Outcome::kTryAgain : Outcome::kNever;
}

}  // namespace mpsd::hub
