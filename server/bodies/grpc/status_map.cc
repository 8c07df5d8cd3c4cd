#include "server/bodies/grpc/status_map.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/utf8.h"
#include "proto/encoding/protobuf_writer.h"

namespace mpsd {
namespace {

constexpr size_t kMaxTextBytes = 2048;
constexpr absl::string_view kMessageUrl = "type.googleapis.com/";

// google.rpc.Status's details:3 {type_url:1 value:2}.
void PutDetail(absl::string_view url, absl::string_view value, std::string* details) {
  std::string any;
  PutText(1, url, &any);
  PutText(2, value, &any);
  PutText(3, any, details);
}

std::string Details(const absl::Status& status) {
  std::string details;
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& value) {
    if (absl::StartsWith(url, kMessageUrl)) PutDetail(url, std::string(value), &details);
  });
  return details;
}

}  // namespace

bool IsQueueFull(const absl::Status& status) {
  return absl::IsResourceExhausted(status) &&
         absl::StrContains(status.message(), "Exceeds maximum queue size");
}

std::string CutToHeaderLimit(absl::string_view text) {
  if (text.size() <= kMaxTextBytes) return std::string(text);
  return absl::StrCat(CutAtCharacter(text, kMaxTextBytes), "...");
}

absl::StatusCode ToldCode(const absl::Status& status, StatusStyle style) {
  const bool unavailable =
      style == StatusStyle::kTriton && (IsQueueFull(status) || absl::IsDeadlineExceeded(status));
  return unavailable ? absl::StatusCode::kUnavailable : status.code();
}

ToldStatus TellStatus(const absl::Status& status, StatusStyle style) {
  ToldStatus told{ToldCode(status, style), CutToHeaderLimit(status.message()), ""};
  const std::string details = Details(status);
  if (details.empty()) return told;
  // google.rpc.Status {code:1 message:2 details:3}.
  PutNumber(1, static_cast<uint64_t>(told.code), &told.details);
  PutText(2, told.text, &told.details);
  told.details += details;
  return told;
}

}  // namespace mpsd
