#include "worker/model/encoder/weights/model_folder.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/files/hub_name.h"

namespace mpsd {

absl::StatusOr<MappedFile> ModelFolder::Map(const std::string& name) const {
  if (handed_ == nullptr) return MappedFile::Open(absl::StrCat(path_, "/", name));
  const std::optional<HandedFolder::File> file = handed_->Find(prefix_ + name);
  if (!file.has_value()) return absl::NotFoundError("is not there");
  return MappedFile::OfDescriptor(file->fd, file->bytes);
}

bool ModelFolder::Has(const std::string& name) const {
  if (handed_ != nullptr) return handed_->Find(prefix_ + name).has_value();
  std::error_code error;
  return std::filesystem::exists(absl::StrCat(path_, "/", name), error);
}

std::string ModelFolder::Name() const {
  std::filesystem::path path(path_);
  if (!path.has_filename()) path = path.parent_path();  // it ends in a slash
  return hub::NameOfSnapshot(path.string()).value_or(path.filename().string());
}

ModelFolder ModelFolder::Inner(absl::string_view name) const {
  ModelFolder inner(absl::StrCat(path_, "/", name), handed_);
  inner.prefix_ = absl::StrCat(prefix_, name, "/");
  return inner;
}

}  // namespace mpsd
