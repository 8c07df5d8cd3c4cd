// ConfigFiles: a temporary folder for a config and the files that it names.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/config/config.h"

namespace mpsd {

// Thread-compatible. The folder and what is in it are removed with the object.
class ConfigFiles {
 public:
  // Makes the folder with empty files of these names.
  explicit ConfigFiles(std::initializer_list<std::string> names);
  ~ConfigFiles();
  ConfigFiles(const ConfigFiles&) = delete;
  ConfigFiles& operator=(const ConfigFiles&) = delete;

  // Writes a file, and the folders above it.
  void Write(const std::string& name, std::string_view text) const;

  // The same, for nobody else to read.
  void WriteSecret(const std::string& name, std::string_view text) const;

  // Parses `text` as if it stood in the folder's "c.json".
  absl::StatusOr<Config> Parse(std::string_view text) const;

  // Parses a `text` without faults; the test fails where it has one.
  Config Read(std::string_view text) const { return Parse(text).value(); }

  // The faults of `text`, without the folder's name before each "c.json"; empty without any.
  std::string Error(std::string_view text) const;

  const std::string& folder() const { return folder_; }

 private:
  void WriteWithMode(const std::string& name, std::string_view text, uint32_t mode) const;

  std::string folder_;
};

// The text of a file in the folder config/ of the sources.
std::string ReadConfigFolder(const std::string& name);

}  // namespace mpsd
