#include "worker/model/encoder/weights/weight_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/worker/model/encoder/weights/checkpoint_file.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

class WeightFilesTest : public testing::Test {
 protected:
  WeightFilesTest() { std::filesystem::create_directories(folder_); }
  ~WeightFilesTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
  }
  // A safetensors file with one tensor of four bytes.
  void WriteShard(const std::string& name, const std::string& tensor) const {
    const std::string header = absl::StrCat(
        R"({")", tensor, R"(": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})");
    const uint64_t bytes = header.size();
    std::string file(sizeof(bytes), '\0');
    std::memcpy(file.data(), &bytes, sizeof(bytes));
    Write(name, file + header + "abcd");
  }
  // A file of torch.save()'s with one tensor of four bytes.
  void WriteCheckpoint(const std::string& name, const std::string& tensor,
                       const std::string& bytes) const {
    const std::string value = pickle::Tensor(pickle::Storage("FloatStorage", "0", 1), 0, {1}, {1});
    Write(name, CheckpointOf(pickle::Of({{tensor, value}}), {bytes}));
  }
  void WriteIndex(const std::string& map) const {
    Write("model.safetensors.index.json", absl::StrCat(R"({"weight_map": )", map, "}"));
  }
  std::string Error() const {
    const absl::StatusOr<WeightFiles> files = WeightFiles::Open(folder_);
    return files.ok() ? "it opened" : std::string(files.status().message());
  }

  const std::string folder_ = testing::TempDir() + "mpsd_weights_" + std::to_string(getpid());
};

TEST_F(WeightFilesTest, ReadsOneFile) {
  WriteShard("model.safetensors", "a");
  const absl::StatusOr<WeightFiles> files = WeightFiles::Open(folder_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->tensors().at("a").bytes, "abcd");
}

TEST_F(WeightFilesTest, ReadsTheShardsOfAnIndex) {
  WriteShard("one.safetensors", "a");
  WriteShard("two.safetensors", "b");
  WriteIndex(R"({"a": "one.safetensors", "b": "two.safetensors"})");
  const absl::StatusOr<WeightFiles> files = WeightFiles::Open(folder_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->tensors().size(), 2u);
  EXPECT_EQ(files->tensors().at("b").bytes, "abcd");
}

TEST_F(WeightFilesTest, NamesAShardThatContradictsTheIndex) {
  WriteShard("one.safetensors", "a");
  WriteIndex(R"({"a": "one.safetensors", "b": "one.safetensors"})");
  EXPECT_EQ(Error(), "model.safetensors.index.json: 'b' is not in one.safetensors");
  WriteIndex(R"({"b": "gone.safetensors"})");
  EXPECT_EQ(Error(), "gone.safetensors is not there");
  WriteShard("two.safetensors", "a");
  WriteIndex(R"({"a": "one.safetensors"})");
  EXPECT_EQ(Error(), "it opened");
  WriteShard("one.safetensors", "c");
  EXPECT_EQ(Error(), "model.safetensors.index.json: 'a' is not in one.safetensors");
}

TEST_F(WeightFilesTest, NamesATensorThatTheIndexDoesNotKnow) {
  const std::string header = R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
                                 "b": {"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}})";
  const uint64_t bytes = header.size();
  std::string file(sizeof(bytes), '\0');
  std::memcpy(file.data(), &bytes, sizeof(bytes));
  Write("one.safetensors", file + header + "ab");
  WriteIndex(R"({"a": "one.safetensors"})");
  EXPECT_EQ(Error(), "model.safetensors.index.json: does not say that 'b' is in one.safetensors");
}

TEST_F(WeightFilesTest, RefusesAnIndexThatLeadsElsewhere) {
  for (const char* shard : {R"("../x.safetensors")", R"("/x.safetensors")", R"("x.bin")", "3"}) {
    WriteIndex(absl::StrCat(R"({"a": )", shard, "}"));
    EXPECT_THAT(Error(), HasSubstr("names no safetensors file of the folder for 'a'")) << shard;
  }
  WriteIndex("{}");
  EXPECT_THAT(Error(), HasSubstr("names 0 files"));
  WriteIndex("[]");
  EXPECT_THAT(Error(), HasSubstr("has no object 'weight_map'"));
}

TEST_F(WeightFilesTest, RefusesAFileThatIsCutShortOrEmpty) {
  WriteShard("model.safetensors", "a");
  std::filesystem::resize_file(folder_ + "/model.safetensors", 70);
  EXPECT_THAT(Error(), HasSubstr("model.safetensors: "));
  std::filesystem::resize_file(folder_ + "/model.safetensors", 0);
  EXPECT_EQ(Error(), "model.safetensors: the file is too short for a header");
}

TEST_F(WeightFilesTest, ReadsWhatTorchHasSavedUnlessThereAreSafetensors) {
  WriteCheckpoint("pytorch_model.bin", "a", "abcd");
  absl::StatusOr<WeightFiles> files = WeightFiles::Open(folder_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->tensors().at("a").bytes, "abcd");
  WriteShard("model.safetensors", "b");
  files = WeightFiles::Open(folder_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->tensors().count("a"), 0u);
  EXPECT_EQ(files->tensors().count("b"), 1u);
}

TEST_F(WeightFilesTest, ReadsTheShardsThatTorchHasSaved) {
  WriteCheckpoint("pytorch_model-1.bin", "a", "abcd");
  WriteCheckpoint("pytorch_model-2.bin", "b", "efgh");
  const auto write_index = [this](const std::string& second) {
    Write("pytorch_model.bin.index.json",
          absl::StrCat(R"({"weight_map": {"a": "pytorch_model-1.bin", "b": ")", second, R"("}})"));
  };
  write_index("pytorch_model-2.bin");
  const absl::StatusOr<WeightFiles> files = WeightFiles::Open(folder_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->tensors().at("b").bytes, "efgh");
  for (const char* other : {"training_args.bin", "one.safetensors", "../pytorch_model-2.bin"}) {
    write_index(other);
    EXPECT_EQ(Error(),
              "pytorch_model.bin.index.json: 'weight_map' names no bin file of the folder "
              "for 'b'");
  }
}

TEST_F(WeightFilesTest, NamesAFileOfTorchThatIsNone) {
  Write("pytorch_model.bin", "x");
  EXPECT_EQ(Error(), "pytorch_model.bin: the file is too short for a zip file");
}

TEST_F(WeightFilesTest, SaysHowToConvertOtherWeights) {
  EXPECT_EQ(Error(), "there is no model.safetensors");
  Write("tf_model.h5", "x");
  EXPECT_THAT(Error(), HasSubstr("has its weights in tf_model.h5 only"));
  EXPECT_THAT(Error(), HasSubstr("save_pretrained"));
}

TEST_F(WeightFilesTest, AFolderInTheFilesPlaceIsNoFile) {
  std::filesystem::create_directory(folder_ + "/model.safetensors");
  EXPECT_EQ(Error(), "model.safetensors is no file");
}

}  // namespace
}  // namespace mpsd
