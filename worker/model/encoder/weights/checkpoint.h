// checkpoint: reads a file of weights that torch.save() has written: a pytorch_model.bin.
//
//   NAME/data.pkl     the list of tensors                 weight_pickle.h
//   NAME/data/KEY     the numbers of a storage
//   NAME/byteorder    "little", if it is there
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/model/encoder/weights/stored_tensors.h"

namespace mpsd {

// Reads the untrusted `file`, which outlives the result. INVALID_ARGUMENT says what is wrong. The
// format before torch 1.6 is no zip file and is refused; the text says how to convert it. Pure.
absl::StatusOr<StoredTensors> ParseCheckpoint(absl::string_view file);

}  // namespace mpsd
