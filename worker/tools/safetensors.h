// safetensors: reads the safetensors format: a u64 header length, a JSON header that names the
// tensors, then the tensors' bytes, without gaps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

struct SafetensorView {
  std::string dtype;  // "F32", "BF16", …
  std::vector<int64_t> shape;
  absl::string_view bytes;  // inside the file's bytes, of any alignment; shape × dtype long
};

using Safetensors = std::map<std::string, SafetensorView>;

// The tensors of a file whose whole content is `file`, which outlives the result. INVALID_ARGUMENT
// unless the file is well-formed: offsets lie in the file, agree with dtype and shape, neither
// overlap nor leave a gap. The file is untrusted: every number is checked. Pure.
absl::StatusOr<Safetensors> ParseSafetensors(absl::string_view file);

}  // namespace mpsd
