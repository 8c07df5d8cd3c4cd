#include "tests/server/config/config_files.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/base/check.h"

namespace mpsd {

ConfigFiles::ConfigFiles(std::initializer_list<std::string> names) {
  std::string pattern = std::filesystem::temp_directory_path() / "mpsd_config_XXXXXX";
  MPSD_CHECK(mkdtemp(pattern.data()) != nullptr);
  folder_ = pattern;
  for (const std::string& name : names) Write(name, "");
}

ConfigFiles::~ConfigFiles() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void ConfigFiles::Write(const std::string& name, std::string_view text) const {
  WriteWithMode(name, text, 0644);  // whatever the user's umask is
}

void ConfigFiles::WriteSecret(const std::string& name, std::string_view text) const {
  WriteWithMode(name, text, 0600);
}

void ConfigFiles::WriteWithMode(const std::string& name, std::string_view text,
                                uint32_t mode) const {
  const std::filesystem::path path = std::filesystem::path(folder_) / name;
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  MPSD_CHECK(!error);
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  MPSD_CHECK(stream.good());
  std::filesystem::permissions(path, std::filesystem::perms(mode), error);
  MPSD_CHECK(!error);
}

absl::StatusOr<Config> ConfigFiles::Parse(std::string_view text) const {
  return ParseConfig(text, folder_ + "/c.json");
}

std::string ConfigFiles::Error(std::string_view text) const {
  return absl::StrReplaceAll(Parse(text).status().message(), {{folder_ + "/", ""}});
}

std::string ReadConfigFolder(const std::string& name) {
  std::ifstream stream(absl::StrCat(MPSD_SOURCE_DIR, "/config/", name));
  MPSD_CHECK(stream.good());
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace mpsd
