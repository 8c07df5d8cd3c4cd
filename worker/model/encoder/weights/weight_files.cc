#include "worker/model/encoder/weights/weight_files.h"

#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/files/file_stamp.h"
#include "worker/model/encoder/config/bounded_json.h"
#include "worker/model/encoder/weights/checkpoint.h"
#include "worker/model/encoder/weights/safetensors.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxIndexBytes = 16 << 20;
constexpr size_t kMaxIndexValues = 200'000;
constexpr size_t kMaxShards = 1000;
constexpr const char* kOthers[] = {"model.pt", "tf_model.h5", "model.onnx"};

absl::Status In(absl::string_view name, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

// Looks only on disk: no worker is handed weights of other tools.
absl::Status NoWeights(const ModelFolder& folder) {
  for (const char* name : kOthers) {
    if (!ModelFolder(folder.path()).Has(name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the folder has its weights in ", name,
        " only, and mpsd reads safetensors and pytorch_model.bin; convert them with transformers: "
        "AutoModel.from_pretrained(FOLDER).save_pretrained(FOLDER)"));
  }
  return absl::NotFoundError("there is no model.safetensors");
}

// Lists each shard's tensors. A shard is a file directly in the folder, with a model's name
// (IsModelFile).
absl::StatusOr<std::map<std::string, std::set<std::string>>> ReadIndex(absl::string_view text,
                                                                       absl::string_view ending) {
  const auto is_shard = [ending](const std::string& name) {
    return absl::EndsWith(name, ending) && IsModelFile(name) && !absl::StrContains(name, "/") &&
           name.size() < 256;
  };
  if (text.size() > kMaxIndexBytes) return absl::InvalidArgumentError("is larger than 16 MiB");
  const absl::StatusOr<Json> index = ParseBoundedJson(text, kMaxIndexValues);
  if (!index.ok()) return index.status();
  const auto map = index->is_object() ? index->find("weight_map") : index->end();
  if (map == index->end() || !map->is_object()) {
    return absl::InvalidArgumentError("has no object 'weight_map'");
  }
  std::map<std::string, std::set<std::string>> shards;
  for (const auto& item : map->items()) {
    const Json& shard = item.value();
    if (!shard.is_string() || !is_shard(shard.get<std::string>())) {
      return absl::InvalidArgumentError(absl::StrCat("'weight_map' names no ", ending.substr(1),
                                                     " file of the folder for '", item.key(), "'"));
    }
    shards[shard.get<std::string>()].insert(item.key());
  }
  if (shards.empty() || shards.size() > kMaxShards) {
    return absl::InvalidArgumentError(
        absl::StrCat("'weight_map' names ", shards.size(), " files, not 1 to ", kMaxShards));
  }
  return shards;
}

}  // namespace

struct WeightFiles::Form {
  const char* file;
  const char* index;
  const char* ending;  // each shard ends so
  absl::StatusOr<StoredTensors> (*parse)(absl::string_view file);
};

// The first one that a folder has is read.
const WeightFiles::Form WeightFiles::kForms[] = {
    {"model.safetensors", "model.safetensors.index.json", ".safetensors", ParseSafetensors},
    {"pytorch_model.bin", "pytorch_model.bin.index.json", ".bin", ParseCheckpoint},
};

absl::Status WeightFiles::Add(const ModelFolder& folder, const Form& form, const std::string& name,
                              StoredTensors* tensors) {
  absl::StatusOr<MappedFile> file = folder.Map(name);
  if (!file.ok()) {
    return absl::Status(file.status().code(), absl::StrCat(name, " ", file.status().message()));
  }
  absl::StatusOr<StoredTensors> parsed = form.parse(file->bytes());
  if (!parsed.ok()) return In(name, parsed.status());
  files_.push_back(*std::move(file));
  *tensors = *std::move(parsed);
  return absl::OkStatus();
}

absl::Status WeightFiles::AddShards(const ModelFolder& folder, const Form& form,
                                    absl::string_view index) {
  const auto shards = ReadIndex(index, form.ending);
  if (!shards.ok()) return shards.status();
  for (const auto& [shard, names] : *shards) {
    StoredTensors tensors;
    if (absl::Status status = Add(folder, form, shard, &tensors); !status.ok()) return status;
    for (const std::string& name : names) {
      if (tensors.count(name) > 0) continue;
      return absl::InvalidArgumentError(absl::StrCat("'", name, "' is not in ", shard));
    }
    for (auto& [name, view] : tensors) {
      if (names.count(name) == 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("does not say that '", name, "' is in ", shard));
      }
      tensors_.emplace(name, std::move(view));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<WeightFiles> WeightFiles::Open(const ModelFolder& folder) {
  WeightFiles files;
  for (const Form& form : kForms) {
    absl::Status status;
    if (folder.Has(form.file)) {
      status = files.Add(folder, form, form.file, &files.tensors_);
    } else if (folder.Has(form.index)) {
      const absl::StatusOr<MappedFile> index = folder.Map(form.index);
      if (!index.ok()) {
        return absl::Status(index.status().code(),
                            absl::StrCat(form.index, " ", index.status().message()));
      }
      status = files.AddShards(folder, form, index->bytes());
      if (absl::IsInvalidArgument(status)) status = In(form.index, status);
    } else {
      continue;
    }
    if (!status.ok()) return status;
    return files;
  }
  return NoWeights(folder);
}

}  // namespace mpsd
