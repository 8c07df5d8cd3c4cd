// ToldStatus: a Status as clients get it. Only here our Status becomes gRPC's.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// The config's `compat`: whose codes clients get if servers of the protocol differ.
enum class StatusStyle {
  kOwn,
  // full queues and time-outs are UNAVAILABLE
  kTriton,
};

// Pure.
bool IsQueueFull(const absl::Status& status);

// Pure.
absl::StatusCode ToldCode(const absl::Status& status, StatusStyle style);

// Cuts an error's text to 2 KiB, at the end of a character, and appends "...". A text may quote a
// client at any length, but clients accept only a few KiB of headers. Pure.
std::string CutToHeaderLimit(absl::string_view text);

struct ToldStatus {
  absl::StatusCode code = absl::StatusCode::kOk;  // gRPC gives it the same number
  std::string text;
  std::string details;  // a serialized google.rpc.Status, or empty
};

// Called only where a call ends.
//
//   absl::Status                      ToldStatus
//   code                              the same code, except as StatusStyle says
//   text                              the same, cut to the header limit
//
//   payloads whose URL is a message's the details of a google.rpc.Status, such as a RetryInfo
//   other payloads                    dropped
//
// A text that names a file or an errno is cleaned before (WithoutPathsAndErrnos). Pure.
ToldStatus TellStatus(const absl::Status& status, StatusStyle style);

}  // namespace mpsd
