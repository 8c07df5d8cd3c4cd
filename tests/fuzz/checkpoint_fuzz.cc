// A file of weights of torch.save()'s. A tensor that is taken lies in the file and has room for its
// numbers, and all tensors together are not much longer than the file.
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "proto/base/shape.h"
#include "worker/model/encoder/weights/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const absl::string_view file(reinterpret_cast<const char*>(data), bytes);
  const absl::StatusOr<mpsd::StoredTensors> tensors = mpsd::ParseCheckpoint(file);
  if (!tensors.ok()) {
    MPSD_CHECK(!tensors.status().message().empty());
    return 0;
  }
  uint64_t taken = 0;
  for (const auto& [name, tensor] : *tensors) {
    const std::optional<uint64_t> count = mpsd::ElementCount(tensor.shape);
    MPSD_CHECK(count.has_value() && *count <= tensor.bytes.size());
    if (*count == 0) continue;
    MPSD_CHECK(tensor.bytes.data() >= file.data());
    MPSD_CHECK(tensor.bytes.data() + tensor.bytes.size() <= file.data() + file.size());
    MPSD_CHECK(tensor.strides.empty() || tensor.strides.size() == tensor.shape.size());
    taken += tensor.bytes.size();
  }
  MPSD_CHECK(taken <= 4 * file.size());
  return 0;
}
