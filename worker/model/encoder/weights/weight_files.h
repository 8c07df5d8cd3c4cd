// WeightFiles: the tensors of a model folder by name, from one file of weights or several.
//
//   FOLDER/model.safetensors              one file with all tensors, or
//   FOLDER/model.safetensors.index.json   {"weight_map": {"a": "model-1-of-2.safetensors", …}}
//   FOLDER/model-1-of-2.safetensors, …    the shards that the index names
//
// Without these two, the files of torch.save(), which hold the same (checkpoint.h):
//
//   FOLDER/pytorch_model.bin, or FOLDER/pytorch_model.bin.index.json and its shards
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/model/encoder/weights/mapped_file.h"
#include "worker/model/encoder/weights/model_folder.h"
#include "worker/model/encoder/weights/stored_tensors.h"

namespace mpsd {

// The mapped files and their tensors. Gone before the model serves. Thread-compatible.
class WeightFiles {
 public:
  // INVALID_ARGUMENT names the file and its fault; a shard may lack a tensor of the index, or have
  // one of another shard. Otherwise errors as MappedFile::Open(). The folder is untrusted: at most
  // 1,000 shards, whose names cannot lead out of it.
  static absl::StatusOr<WeightFiles> Open(const ModelFolder& folder);

  // They borrow this object's bytes.
  const StoredTensors& tensors() const { return tensors_; }

 private:
  WeightFiles() = default;
  struct Form;
  absl::Status Add(const ModelFolder& folder, const Form& form, const std::string& name,
                   StoredTensors* tensors);
  absl::Status AddShards(const ModelFolder& folder, const Form& form, absl::string_view index);

  static const Form kForms[];

  std::vector<MappedFile> files_;
  StoredTensors tensors_;
};

}  // namespace mpsd
