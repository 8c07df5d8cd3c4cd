#include "server/config/config_path.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"

namespace mpsd {

std::string ResolvePath(const std::string& folder, const std::string& path) {
  MPSD_CHECK(!folder.empty() && folder.front() == '/');
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

absl::StatusOr<std::string> AbsolutePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (!error) return absolute.lexically_normal().string();
  return absl::InternalError(absl::StrCat("'", path, "' has no place: ", error.message()));
}

std::string FileFault(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_regular_file(status)) return "";
  if (status.type() == std::filesystem::file_type::not_found) {
    return absl::StrCat("there is no file '", path, "'");
  }
  if (std::filesystem::exists(status)) return absl::StrCat("'", path, "' is not a file");
  return absl::StrCat("'", path, "' cannot be looked at: ", error.message());
}

}  // namespace mpsd
