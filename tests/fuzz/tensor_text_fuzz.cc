// The texts that people type: a tensor's ("input_ids:INT64[-1,128]"), durations and sizes. A text
// that is taken must come back as it was.
#include <cstdint>
#include <string>

#include "proto/base/check.h"
#include "proto/base/units.h"
#include "proto/link/model_spec.h"

namespace mpsd {
namespace {

void Take(const std::string& text) {
  const absl::StatusOr<TensorSpec> tensor = ParseTensorText(text);
  if (tensor.ok()) {
    const absl::StatusOr<TensorSpec> again = ParseTensorText(TensorText(*tensor));
    MPSD_CHECK(again.ok() && *again == *tensor);
  }
  const absl::StatusOr<int64_t> duration_ns = ParseDurationNs(text);
  MPSD_CHECK(!duration_ns.ok() || *duration_ns >= 0);
  const absl::StatusOr<uint64_t> bytes = ParseBytes(text);
  if (bytes.ok()) MPSD_CHECK(!BytesText(*bytes).empty());
}

}  // namespace
}  // namespace mpsd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  mpsd::Take(std::string(reinterpret_cast<const char*>(data), bytes));
  return 0;
}
