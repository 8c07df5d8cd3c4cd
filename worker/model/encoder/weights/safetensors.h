// safetensors: reads the safetensors format: a u64 header length, a JSON header that names the
// tensors, then the tensors' bytes, without gaps.
//
//   ┌───────┬───────────────────────────────────────────────────────────┬──────────────────┐
//   │ u64 n │ n bytes: {"a": {"dtype": "F32", "shape": [2],             │ tensors' bytes,  │
//   │       │                 "data_offsets": [0, 8]}, …}               │ offsets from here│
//   └───────┴───────────────────────────────────────────────────────────┴──────────────────┘
//
// Weights are published in this format. Unlike a pickle it holds no code. It may hold wrong
// numbers, and every number is checked here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd {

// One tensor of a file. Borrows the file's bytes.
struct SafetensorView {
  std::string dtype;           // "F32", "BF16", …
  std::vector<int64_t> shape;  // at most 8 dims
  absl::string_view bytes;     // inside the file's bytes, of any alignment; shape × dtype long
};

// A file's tensors by name. The header's "__metadata__" is no tensor and is left out.
using Safetensors = std::map<std::string, SafetensorView>;

// The tensors of a file whose whole content is `file`, which outlives the result. INVALID_ARGUMENT
// unless the file is well-formed. Offsets lie in the file, agree with dtype and shape, and neither
// overlap nor leave a gap. The header is at most 100 MiB, with at most 100,000 tensors of 8 dims.
// The file is untrusted: every number is checked, and the header's values are counted before the
// header is parsed. Pure.
absl::StatusOr<Safetensors> ParseSafetensors(absl::string_view file);

}  // namespace mpsd
