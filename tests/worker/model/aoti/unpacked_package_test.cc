#include "worker/model/aoti/unpacked_package.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "caffe2/serialize/inline_container.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const std::string kModel = "data/aotinductor/model/";

// Archives are written to, and unpacked in, a folder of the test's own.
class UnpackedPackageTest : public testing::Test {
 protected:
  UnpackedPackageTest() {
    std::string pattern = testing::TempDir() + "mpsd_unpacked_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    temporary_ = folder_ / "a/b/c/d";
    std::filesystem::create_directories(temporary_);
    if (const char* before = getenv("TMPDIR"); before != nullptr) before_ = before;
    setenv("TMPDIR", temporary_.c_str(), 1);
  }
  ~UnpackedPackageTest() override {
    before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }

  std::string Archive(const std::map<std::string, std::string>& records) {
    const std::string path = folder_ / "model.pt2";
    caffe2::serialize::PyTorchStreamWriter writer(path);
    for (const auto& [name, bytes] : records) writer.writeRecord(name, bytes.data(), bytes.size());
    writer.writeEndOfFile();
    return path;
  }

  // The files below the test's folder, except the archive.
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      if (!entry.is_regular_file() || entry.path().filename() == "model.pt2") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().filename()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return files;
  }

  std::filesystem::path folder_;
  std::filesystem::path temporary_;
  std::string before_;
};

TEST_F(UnpackedPackageTest, HoldsWhatIsNeededToRunAndGoesWithTheObject) {
  const std::string large(5 << 19, 'w');  // two and a half chunks
  const std::string path = Archive({{kModel + "m.so", "library"},
                                    {kModel + "m.wrapper.cpp", "source"},
                                    {kModel + "m.o", "object"},
                                    {kModel + "m_metadata.json", "{}"},
                                    {kModel + "weights.bin", large}});
  {
    const auto package = UnpackedPackage::Unpack(path);
    ASSERT_TRUE(package.ok()) << package.status();
    EXPECT_THAT(Files(), ElementsAre(Pair("m.so", "library"), Pair("weights.bin", large)));
    EXPECT_EQ((*package)->library(), (*package)->folder() + "/m.so");
    EXPECT_THAT((*package)->folder(), HasSubstr(temporary_.string() + "/"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(temporary_));
}

TEST_F(UnpackedPackageTest, NothingOfItLiesElsewhere) {
  const auto package = UnpackedPackage::Unpack(Archive({{kModel + "m.so", "library"},
                                                        {kModel + "../stray.so", "up"},
                                                        {kModel + "deeper/stray.so", "down"},
                                                        {"data/weights/stray", "beside"}}));
  ASSERT_TRUE(package.ok()) << package.status();
  EXPECT_THAT(Files(), ElementsAre(Pair("m.so", "library")));
}

TEST_F(UnpackedPackageTest, WithoutALibraryThereIsNone) {
  const absl::Status status =
      UnpackedPackage::Unpack(Archive({{kModel + "weights.bin", "w"}})).status();
  EXPECT_EQ(status, absl::InvalidArgumentError("the package holds no compiled library"));
  EXPECT_TRUE(std::filesystem::is_empty(temporary_));
}

TEST_F(UnpackedPackageTest, TheTextsOfItsMetadataAreRead) {
  const auto metadata = UnpackedPackage::ReadMetadata(
      Archive({{kModel + "m.so", ""}, {kModel + "m_metadata.json", R"({"a": "1", "b": 2})"}}));
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_THAT(*metadata, ElementsAre(Pair("a", "1")));
}

TEST_F(UnpackedPackageTest, SaysWhatIsWrongWithItsMetadata) {
  const auto fault = [this](const std::map<std::string, std::string>& records) {
    return UnpackedPackage::ReadMetadata(Archive(records)).status();
  };
  EXPECT_EQ(fault({{kModel + "m_metadata.json", "[1]"}}),
            absl::InvalidArgumentError("the package's metadata is no JSON"));
  EXPECT_EQ(fault({{"data/m_metadata.json", "{}"}}),
            absl::InvalidArgumentError(
                "the package holds no compiled model; export it with export_model.py"));
}

}  // namespace
}  // namespace mpsd
