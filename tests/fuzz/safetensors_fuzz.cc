// A file of weights. A tensor that is taken lies in the file, and is as long as its shape says.
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "proto/base/shape.h"
#include "worker/model/encoder/weights/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const absl::string_view file(reinterpret_cast<const char*>(data), bytes);
  const absl::StatusOr<mpsd::StoredTensors> tensors = mpsd::ParseSafetensors(file);
  if (!tensors.ok()) {
    MPSD_CHECK(!tensors.status().message().empty());
    return 0;
  }
  uint64_t taken = 0;
  for (const auto& [name, view] : *tensors) {
    MPSD_CHECK(view.bytes.data() >= file.data() + sizeof(uint64_t));
    MPSD_CHECK(view.bytes.data() + view.bytes.size() <= file.data() + file.size());
    const std::optional<uint64_t> count = mpsd::ElementCount(view.shape);
    MPSD_CHECK(count.has_value() && *count <= view.bytes.size());
    taken += view.bytes.size();
  }
  MPSD_CHECK(taken <= file.size());
  return 0;
}
