#include "server/config/triton/model_repository.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "proto/files/whole_file.h"
#include "server/config/config_values.h"
#include "server/config/triton/triton_config.h"

namespace mpsd {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxVersions = 64;
constexpr uint64_t kMaxConfigBytes = 16 << 20;  // ApplyTritonText() has a lower bound

// Sorted, without names that begin with a dot.
std::vector<std::string> Subfolders(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    if (!absl::StartsWith(name, ".") && it->is_directory(ignored)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// "3" is one; "03", "v3" and "0" are not.
bool IsVersion(const std::string& name) {
  return !name.empty() && name.size() <= 18 && name[0] != '0' &&
         std::all_of(name.begin(), name.end(), absl::ascii_isdigit);
}

// The highest first.
std::vector<std::string> VersionsIn(const fs::path& folder) {
  std::vector<std::string> versions = Subfolders(folder);
  std::erase_if(versions, [](const std::string& name) { return !IsVersion(name); });
  std::sort(versions.begin(), versions.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a > b;
  });
  return versions;
}

absl::StatusOr<std::vector<std::string>> Choose(std::vector<std::string> versions,
                                                const VersionPolicy& policy) {
  MPSD_CHECK(policy.latest == 0 || policy.specific.empty());
  for (const int64_t specific : policy.specific) {
    if (std::count(versions.begin(), versions.end(), absl::StrCat(specific)) > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("'version_policy.specific' names version ", specific, ", which is not there"));
  }
  if (!policy.specific.empty()) {
    std::erase_if(versions, [&policy](const std::string& version) {
      return std::none_of(policy.specific.begin(), policy.specific.end(),
                          [&](int64_t specific) { return absl::StrCat(specific) == version; });
    });
  }
  if (policy.latest > 0 && versions.size() > policy.latest) versions.resize(policy.latest);
  if (versions.empty()) return absl::InvalidArgumentError("it has no version");
  if (versions.size() > kMaxVersions) {
    return absl::InvalidArgumentError(absl::StrCat("it has more than ", kMaxVersions, " versions"));
  }
  return versions;
}

// With all links followed.
bool LiesIn(const fs::path& folder, const fs::path& path) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return false;
  const fs::path real = fs::canonical(path, error);
  if (error) return false;
  return std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
}

absl::StatusOr<std::vector<std::string>> ReadLines(const fs::path& path) {
  constexpr size_t kMaxLabelBytes = 1 << 20;
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (error) return absl::InvalidArgumentError("is not there");
  if (bytes > kMaxLabelBytes) return absl::InvalidArgumentError("is larger than 1 MiB");
  std::vector<std::string> lines;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    lines.emplace_back(absl::StripSuffix(line, "\r"));
  }
  if (!stream.eof()) return absl::InvalidArgumentError("cannot be read");
  return lines;
}

// Answers carry the labels unchanged.
absl::Status ReadLabels(const fs::path& folder, ModelConfig* model) {
  for (const auto& [output, file] : model->label_files) {
    const auto refused = [&](absl::string_view why) {
      return absl::InvalidArgumentError(absl::StrCat("'output.label_filename' of '", output,
                                                     "' names '", file, "', which ", why));
    };
    const fs::path path = folder / file;
    std::error_code error;
    if (fs::exists(path, error) && !LiesIn(folder, path)) {
      return refused("is a link that leads out of the model's folder");
    }
    absl::StatusOr<std::vector<std::string>> lines = ReadLines(path);
    if (!lines.ok()) return refused(lines.status().message());
    model->labels[output] = *std::move(lines);
  }
  return absl::OkStatus();
}

}  // namespace

FoundModels ModelRepository::ReadAll() const {
  FoundModels all;
  if (folder_.empty()) return all;
  for (const std::string& name : Subfolders(folder_)) {
    absl::StatusOr<FoundModels> found = absl::InvalidArgumentError(ServableNameFault(name));
    if (ServableNameFault(name).empty()) found = Read(name);
    if (!found.ok()) {
      all.faults.emplace_back(name, std::string(found.status().message()));
      continue;
    }
    if (all.models.size() + found->models.size() > kMaxRepositoryModels) {
      all.faults.emplace_back(name, "there are too many models before it");
      continue;
    }
    std::move(found->models.begin(), found->models.end(), std::back_inserter(all.models));
    std::move(found->notes.begin(), found->notes.end(), std::back_inserter(all.notes));
  }
  return all;
}

absl::StatusOr<FoundModels> ModelRepository::Read(const std::string& name) const {
  MPSD_CHECK(ServableNameFault(name).empty());
  const fs::path folder = fs::path(folder_) / name;
  std::error_code error;
  if (folder_.empty() || !fs::is_directory(folder, error)) {
    return absl::NotFoundError("no model of this name is in the repository");
  }
  if (!LiesIn(folder_, folder)) {
    return absl::InvalidArgumentError("its folder is a link that leads out of the repository");
  }
  ModelConfig base;
  base.name = name;
  base.from_repository = true;
  base.queue_bytes = std::max(base.queue_bytes, limits_.message_bytes);
  TritonNotes triton;
  const fs::path config = folder / "config.pbtxt";
  if (fs::exists(config, error)) {
    if (!LiesIn(folder_, config)) {
      return absl::InvalidArgumentError("config.pbtxt is a link that leads out of the repository");
    }
    const absl::StatusOr<std::string> text = ReadRegularFile(config.string(), kMaxConfigBytes);
    if (!text.ok()) return absl::PermissionDeniedError("config.pbtxt cannot be read");
    absl::Status status = ApplyTritonText(*text, &base, &triton);
    if (status.ok()) status = ReadLabels(folder, &base);
    if (!status.ok()) return status;
  }
  if (absl::Status status = ReadWarmUpData(triton.data_files, &base); !status.ok()) return status;
  const absl::StatusOr<std::vector<std::string>> versions =
      Choose(VersionsIn(folder), triton.versions);
  if (!versions.ok()) return versions.status();
  FoundModels found;
  for (const std::string& key : triton.ignored) found.notes.emplace_back(name, key);
  for (const std::string& version : *versions) {
    base.version = version;
    absl::StatusOr<ModelConfig> model = ReadVersion(base, triton.file_name);
    if (!model.ok()) return model.status();
    found.models.push_back(*std::move(model));
  }
  return found;
}

absl::Status ModelRepository::ReadWarmUpData(const std::vector<std::vector<std::string>>& files,
                                             ModelConfig* model) const {
  uint64_t bytes_left = kMaxWarmUpDataBytes;
  for (size_t sample = 0; sample < files.size(); ++sample) {
    for (size_t i = 0; i < files[sample].size(); ++i) {
      const std::string& name = files[sample][i];
      if (name.empty()) continue;
      const fs::path path = fs::path(folder_) / model->name / "warmup" / name;
      std::error_code error;
      const uint64_t bytes = LiesIn(folder_, path) ? fs::file_size(path, error) : 0;
      if (error || bytes == 0) {
        return absl::InvalidArgumentError(absl::StrCat("there is no data in warmup/", name));
      }
      if (bytes > bytes_left) {
        return absl::InvalidArgumentError(
            absl::StrCat("the data of the warm-up has more than ", kMaxWarmUpDataBytes, " bytes"));
      }
      absl::StatusOr<std::string> data = ReadRegularFile(path.string(), bytes_left);
      if (!data.ok()) return absl::PermissionDeniedError("warmup/" + name + " cannot be read");
      bytes_left -= std::min<uint64_t>(bytes_left, data->size());
      model->warmup_samples[sample].inputs[i].data = *std::move(data);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelConfig> ModelRepository::ReadVersion(const ModelConfig& base,
                                                         const std::string& file_name) const {
  ModelConfig model = base;
  if (model.has_steps()) return model;
  if (model.format == ModelFormat::kSynthetic) {
    if (!model.spec.inputs.empty()) return model;
    return absl::InvalidArgumentError("an identity model must say its inputs");
  }
  const fs::path folder = fs::path(folder_) / model.name / model.version;
  std::vector<std::string> names = {"model.pt", "model.pt2"};
  if (!file_name.empty()) names = {file_name};
  std::error_code error;
  for (const std::string& name : names) {
    const fs::path path = folder / name;
    if (!fs::exists(path, error)) continue;
    if (!LiesIn(folder_, path)) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, " of version ", model.version, " is a link that leads out of the repository"));
    }
    model.path = fs::canonical(path, error).string();
    model.stamp = StampOf(model.path);
    model.format = FormatOfPath(name).value_or(model.format);
    return model;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("version ", model.version, " has no file ", names.front()));
}

}  // namespace mpsd
