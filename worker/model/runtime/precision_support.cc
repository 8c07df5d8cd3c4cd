#include "worker/model/runtime/precision_support.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace mpsd {

absl::Status CheckPrecisionThere(Precision precision, absl::string_view device) {
  if (precision == Precision::kInt8 && device != "cpu") {
    return absl::FailedPreconditionError(
        absl::StrCat("precision 'int8' is of cpus alone, and the model's device is ", device,
                     "; 'fp16' and 'bf16' are finer, and 'auto' takes what the device has"));
  }
  if (precision != Precision::kTf32 || absl::StartsWith(device, "cuda")) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("precision 'tf32' is of cuda devices alone, and the model's device is ", device,
                   "; 'fp32' is finer, and 'auto' takes what the device has"));
}

}  // namespace mpsd
