#include "server/texts/file_beside.h"

#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/files/whole_file.h"
#include "server/request/tokenizer_files.h"

namespace mpsd {

absl::StatusOr<std::string> ReadFileBeside(const std::string& path, absl::string_view name,
                                           uint64_t bytes_max) {
  MPSD_CHECK(IsTokenizerSetting({name.data(), name.size()}));
  const auto beside = std::filesystem::path(path).replace_filename(std::string(name));
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(beside, error);
  if (!std::filesystem::exists(status)) return std::string();
  if (!std::filesystem::is_regular_file(status)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": is no file"));
  }
  return ReadRegularFile(beside.string(), bytes_max);
}

}  // namespace mpsd
