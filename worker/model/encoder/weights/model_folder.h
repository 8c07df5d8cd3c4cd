// ModelFolder: where a model's files are read from, by their names in its folder.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/files/kept_folder.h"
#include "worker/model/encoder/weights/mapped_file.h"

namespace mpsd {

// A folder on disk, or files that the front end has kept (KeepFolder). Kept files are not opened by
// name: the folder may have changed. A value, cheap to copy. Thread-safe.
class ModelFolder {
 public:
  ModelFolder(std::string path,  // NOLINT(google-explicit-constructor): a path is a folder
              std::shared_ptr<const HandedFolder> handed = nullptr)
      : path_(std::move(path)), handed_(std::move(handed)) {}

  // Errors as MappedFile's.
  absl::StatusOr<MappedFile> Map(const std::string& name) const;
  bool Has(const std::string& name) const;

  ModelFolder Inner(absl::string_view name) const;

  // In Hugging Face's cache the name is the model's.
  std::string Name() const;

  // For people.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string prefix_;  // in front of a name in `handed_`: "2_Dense/"
  std::shared_ptr<const HandedFolder> handed_;
};

}  // namespace mpsd
