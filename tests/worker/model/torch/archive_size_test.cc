#include "worker/model/torch/archive_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "caffe2/serialize/inline_container.h"
#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

class ArchiveSize : public testing::Test {
 protected:
  // Records of zeros, each of so many bytes.
  absl::Status Check(uint64_t bytes, int records, bool compressed) {
    const std::string zeros(bytes, '\0');
    caffe2::serialize::PyTorchStreamWriter writer(path_);
    for (int i = 0; i < records; ++i) {
      writer.writeRecord("data/" + std::to_string(i), zeros.data(), bytes, compressed);
    }
    writer.writeEndOfFile();
    return CheckArchiveSize(path_);
  }

  const WorkFolder folder_;
  const std::string path_ = folder_.PathOf("archive.pt");
};

TEST_F(ArchiveSize, ManyRecordsThatUnpackToFarMoreTogetherAreRefused) {
  const absl::Status status = Check(kUncheckedBytes / 4, 5, true);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("unpack to 80 MiB"));
}

TEST_F(ArchiveSize, WhatTakesLittleMemoryIsNoFault) {
  EXPECT_EQ(Check(kUncheckedBytes / 8, 7, true), absl::OkStatus());
}

TEST_F(ArchiveSize, WeightsAreAsLargeAsTheirFile) {
  EXPECT_EQ(Check(kUncheckedBytes, 2, false), absl::OkStatus());
}

TEST_F(ArchiveSize, AFileThatIsNotThereIsNotItsFault) {
  EXPECT_EQ(CheckArchiveSize("/nowhere.pt"), absl::OkStatus());
}

}  // namespace
}  // namespace mpsd
