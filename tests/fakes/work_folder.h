// WorkFolder: a temporary folder of a test, with files and scripts in it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "proto/base/check.h"

namespace mpsd {

// Thread-compatible. The folder and all that is in it go with the object. A name that is a whole
// path stays as it is, so that a test may write beside a file.
class WorkFolder {
 public:
  WorkFolder() {
    std::string pattern = testing::TempDir() + "/mpsd_test_XXXXXX";
    MPSD_CHECK(mkdtemp(pattern.data()) != nullptr);
    path_ = std::filesystem::canonical(pattern).string();
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string PathOf(const std::string& name) const {
    return (std::filesystem::path(path_) / name).string();
  }

  // Writes a file, and the folders above it. Returns its path.
  std::string Write(const std::string& name, std::string_view text = "") const {
    const std::filesystem::path path = PathOf(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return path.string();
  }

  // Gives the name another file, as one who never leaves half a file there.
  std::string Replace(const std::string& name, std::string_view text) const {
    std::filesystem::rename(Write(name + ".new", text), PathOf(name));
    return PathOf(name);
  }

  // Writes a program in the language of the shell. Returns its path.
  std::string Script(const std::string& name, const std::string& lines) const {
    const std::string path = Write(name, "#!/bin/sh\n" + lines + "\n");
    MPSD_CHECK(chmod(path.c_str(), 0700) == 0);
    return path;
  }

  // The bytes of a file; none where it is not there.
  std::string Read(const std::string& name) const {
    std::ifstream file(PathOf(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

}  // namespace mpsd
