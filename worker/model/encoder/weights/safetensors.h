// safetensors: reads the safetensors format, which, unlike a pickle, holds no code.
//
//   ┌───────┬───────────────────────────────────────────────────────────┬──────────────────┐
//   │ u64 n │ n bytes: {"a": {"dtype": "F32", "shape": [2],             │ tensors' bytes,  │
//   │       │                 "data_offsets": [0, 8]}, …}               │ offsets from here│
//   └───────┴───────────────────────────────────────────────────────────┴──────────────────┘
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/model/encoder/weights/stored_tensors.h"

namespace mpsd {

// Reads the untrusted `file`, which outlives the result. INVALID_ARGUMENT unless offsets lie in the
// file, agree with dtype and shape, and neither overlap nor leave a gap. The header is at most 100
// MiB, with 100,000 tensors of 8 dims. Its values are counted before it is parsed. Pure.
absl::StatusOr<StoredTensors> ParseSafetensors(absl::string_view file);

}  // namespace mpsd
