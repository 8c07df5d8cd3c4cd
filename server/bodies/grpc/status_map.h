// ToldStatus: what a client is told of a Status. The only place where our Status becomes gRPC's.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// Whose codes clients get if servers of the protocol differ. The config's `compat`.
enum class StatusStyle {
  kOwn,
  // Full queues and time-outs are UNAVAILABLE, as in Triton.
  kTriton,
};

// The code of `status` that clients see in this style. Pure.
absl::StatusCode ToldCode(const absl::Status& status, StatusStyle style);

// Cuts an error's text to 2 KiB, at the end of a character, and then appends "...". A text may
// quote a client at any length, but travels in a header of the answer, and clients accept only a
// few KiB of headers. Changes nothing else. Pure.
std::string CutToHeaderLimit(absl::string_view text);

// The parts of the error that a client of gRPC gets. A value.
struct ToldStatus {
  absl::StatusCode code = absl::StatusCode::kOk;  // gRPC gives it the same number
  std::string text;
  std::string details;  // a serialized google.rpc.Status, or empty
};

// Called only where a call ends: all earlier code uses absl::Status and knows no gRPC.
//
//   absl::Status                      ToldStatus
//   code                              the same code, except as StatusStyle says
//   text                              the same, cut to the header limit
//
//   payloads whose URL is a message's the details of a google.rpc.Status, such as a RetryInfo
//   other payloads                    dropped
//
// Texts of our statuses are written for clients, so nothing is removed. Clean a text that names a
// file or an errno before (WithoutPathsAndErrnos). Pure.
ToldStatus TellStatus(const absl::Status& status, StatusStyle style);

}  // namespace mpsd
