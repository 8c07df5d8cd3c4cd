// FakeDeviceMemory: memory of the device that tests/fakes/fake_cuda.cc imitates.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/fd.h"
#include "proto/link/copier_records.h"

namespace mpsd {

// Owns a file, which it removes at the end. The end of the file's name decides how copies of it go.
// Lives on the test's thread.
class FakeDeviceMemory {
 public:
  FakeDeviceMemory(absl::string_view name, uint64_t bytes)
      : path_(absl::StrCat("/tmp/mpsd-", getpid(), "-", name)),
        fd_(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
    EXPECT_TRUE(fd_.valid());
    EXPECT_EQ(ftruncate(fd_.get(), static_cast<off_t>(bytes)), 0);
  }
  ~FakeDeviceMemory() { unlink(path_.c_str()); }

  std::string handle() const {
    std::string handle = "FAKE" + path_;
    handle.resize(kDeviceHandleBytes, '\0');
    EXPECT_EQ(handle.back(), '\0');
    return handle;
  }
  void Put(uint64_t offset, absl::string_view text) {
    EXPECT_EQ(pwrite(fd_.get(), text.data(), text.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(text.size()));
  }
  std::string Get(uint64_t offset, size_t bytes) {
    std::string text(bytes, '\0');
    EXPECT_EQ(pread(fd_.get(), &text[0], bytes, static_cast<off_t>(offset)),
              static_cast<ssize_t>(bytes));
    return text;
  }

 private:
  const std::string path_;
  const UniqueFd fd_;
};

}  // namespace mpsd
