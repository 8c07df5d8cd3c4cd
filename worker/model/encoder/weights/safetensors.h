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

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/model/encoder/weights/stored_tensors.h"

namespace mpsd {

// The tensors of a file whose whole content is `file`, which outlives the result. INVALID_ARGUMENT
// unless the file is well-formed. Offsets lie in the file, agree with dtype and shape, and neither
// overlap nor leave a gap. The header is at most 100 MiB, with at most 100,000 tensors of 8 dims.
// The file is untrusted: every number is checked, and the header's values are counted before the
// header is parsed. Pure.
absl::StatusOr<StoredTensors> ParseSafetensors(absl::string_view file);

}  // namespace mpsd
