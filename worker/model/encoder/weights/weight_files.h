// WeightFiles: the tensors of a model folder by name, from one safetensors file or several.
//
//   FOLDER/model.safetensors              one file with all tensors, or
//   FOLDER/model.safetensors.index.json   {"weight_map": {"a": "model-1-of-2.safetensors", …}}
//   FOLDER/model-1-of-2.safetensors, …    the shards that the index names
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/model/encoder/weights/mapped_file.h"
#include "worker/model/encoder/weights/model_folder.h"
#include "worker/model/encoder/weights/safetensors.h"

namespace mpsd {

// The mapped files and their tensors. Made while a model is loaded, and gone before it serves.
// Thread-compatible.
class WeightFiles {
 public:
  // INVALID_ARGUMENT names the file and its fault. The file may be malformed or cut short, or a
  // shard may lack a tensor of the index or have one of another shard. A folder with only pickled
  // weights is refused, because these are code. NOT_FOUND and PERMISSION_DENIED as for
  // MappedFile::Open(). The folder is untrusted: it may have at most 1,000 shards, whose names
  // cannot lead out of it.
  static absl::StatusOr<WeightFiles> Open(const ModelFolder& folder);

  // All tensors. They borrow this object's bytes.
  const Safetensors& tensors() const { return tensors_; }

 private:
  WeightFiles() = default;
  absl::Status Add(const ModelFolder& folder, const std::string& name, Safetensors* tensors);
  absl::Status AddShards(const ModelFolder& folder, absl::string_view index);

  std::vector<MappedFile> files_;
  Safetensors tensors_;
};

}  // namespace mpsd
