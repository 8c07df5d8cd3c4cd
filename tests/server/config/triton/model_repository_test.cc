#include "server/config/triton/model_repository.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace mpsd {
namespace {

namespace fs = std::filesystem;

class ModelRepositoryTest : public testing::Test {
 protected:
  ModelRepositoryTest() {
    std::string pattern = fs::temp_directory_path() / "mpsd_repository_XXXXXX";
    folder_ = fs::canonical(mkdtemp(pattern.data()));
    fs::create_directories(root());
  }
  ~ModelRepositoryTest() override { fs::remove_all(folder_); }

  fs::path root() const { return folder_ / "repository"; }

  void Write(const std::string& name, const std::string& text = "x") const {
    fs::create_directories((root() / name).parent_path());
    std::ofstream(root() / name) << text;
  }

  FoundModels ReadAll() const { return ModelRepository(root().string(), {}).ReadAll(); }

  std::string Fault(const std::string& name) const {
    return std::string(ModelRepository(root().string(), {}).Read(name).status().message());
  }

  static std::vector<std::string> Versions(const FoundModels& found) {
    std::vector<std::string> versions;
    for (const ModelConfig& model : found.models) versions.push_back(model.version);
    return versions;
  }

  fs::path folder_;
};

using Words = std::vector<std::string>;

TEST_F(ModelRepositoryTest, TheHighestVersionOfEachModel) {
  Write("a/1/model.pt");
  Write("b/2/model.pt2");
  Write("b/10/model.pt2");
  Write("b/latest/model.pt2");
  Write("b/03/model.pt2");
  Write(".git/1/model.pt");
  Write("README.md");
  const FoundModels found = ReadAll();
  ASSERT_EQ(found.models.size(), 2u);
  EXPECT_TRUE(found.faults.empty());
  EXPECT_EQ(found.models[0].name, "a");
  EXPECT_EQ(found.models[0].path, (root() / "a/1/model.pt").string());
  EXPECT_EQ(found.models[0].format, ModelFormat::kTorchScript);
  EXPECT_EQ(found.models[0].stamp, StampOf(found.models[0].path));
  EXPECT_TRUE(found.models[0].from_repository);
  EXPECT_EQ(found.models[1].version, "10") << "10 is higher than 2";
  EXPECT_EQ(found.models[1].format, ModelFormat::kAoti);
}

TEST_F(ModelRepositoryTest, VersionsAsThePolicySays) {
  for (const char* version : {"1", "2", "3"}) Write(std::string("m/") + version + "/model.pt");
  Write("m/config.pbtxt", "version_policy { all {} }");
  EXPECT_EQ(Versions(ReadAll()), (Words{"3", "2", "1"}));
  Write("m/config.pbtxt", "version_policy { latest { num_versions: 2 } }");
  EXPECT_EQ(Versions(ReadAll()), (Words{"3", "2"}));
  Write("m/config.pbtxt", "version_policy { specific { versions: [ 1, 3 ] } }");
  EXPECT_EQ(Versions(ReadAll()), (Words{"3", "1"}));
  Write("m/config.pbtxt", "version_policy { specific { versions: [ 4 ] } }");
  EXPECT_EQ(Fault("m"), "'version_policy.specific' names version 4, which is not there");
}

TEST_F(ModelRepositoryTest, AModelThatIsFaultyKeepsNoOtherBack) {
  Write("empty/notes.txt");
  Write("good/1/model.pt");
  Write("nofile/1/other.bin");
  Write("typo/1/model.pt");
  Write("typo/config.pbtxt", "nmae: \"typo\"");
  Write("bad name/1/model.pt");
  const FoundModels found = ReadAll();
  ASSERT_EQ(found.models.size(), 1u);
  EXPECT_EQ(found.models[0].name, "good");
  ASSERT_EQ(found.faults.size(), 4u);
  EXPECT_EQ(found.faults[0].first, "bad name");
  EXPECT_EQ(found.faults[1], (std::pair<std::string, std::string>("empty", "it has no version")));
  EXPECT_EQ(found.faults[2].second, "version 1 has no file model.pt");
  EXPECT_NE(found.faults[3].second.find("nmae"), std::string::npos) << found.faults[3].second;
}

TEST_F(ModelRepositoryTest, AConfigThatIsNoFileIsAFaultOfItsModel) {
  Write("folder/1/model.pt");
  Write("folder/config.pbtxt/x");
  Write("pipe/1/model.pt");
  ASSERT_EQ(mkfifo((root() / "pipe/config.pbtxt").c_str(), 0600), 0);
  EXPECT_EQ(Fault("folder"), "config.pbtxt cannot be read");
  EXPECT_EQ(Fault("pipe"), "config.pbtxt cannot be read");
}

// Row 18: no link leads out of the repository, whichever part of the path it is.
TEST_F(ModelRepositoryTest, Row18ALinkThatLeadsOutIsRefused) {
  std::ofstream(folder_ / "secret.pt") << "x";
  fs::create_directories(folder_ / "outside/1");
  std::ofstream(folder_ / "outside/1/model.pt") << "x";
  fs::create_directories(root() / "file/1");
  fs::create_symlink(folder_ / "secret.pt", root() / "file/1/model.pt");
  fs::create_symlink(folder_ / "outside", root() / "folder");
  fs::create_directories(root() / "version");
  fs::create_symlink(folder_ / "outside/1", root() / "version/1");
  Write("config/1/model.pt");
  fs::create_symlink(folder_ / "secret.pt", root() / "config/config.pbtxt");
  EXPECT_EQ(Fault("file"), "model.pt of version 1 is a link that leads out of the repository");
  EXPECT_EQ(Fault("folder"), "its folder is a link that leads out of the repository");
  EXPECT_EQ(Fault("version"), "model.pt of version 1 is a link that leads out of the repository");
  EXPECT_EQ(Fault("config"), "config.pbtxt is a link that leads out of the repository");
  EXPECT_TRUE(ReadAll().models.empty());
}

TEST_F(ModelRepositoryTest, ALinkThatStaysInsideIsFollowed) {
  Write("store/1/model.pt");
  fs::create_directories(root() / "m/1");
  fs::create_symlink(root() / "store/1/model.pt", root() / "m/1/model.pt");
  EXPECT_EQ(Fault("m"), "");
}

TEST_F(ModelRepositoryTest, TheLabelsOfAnOutputsClasses) {
  Write("m/1/model.pt");
  Write("m/config.pbtxt",
        "output { name: 'y' data_type: TYPE_FP32 dims: 3 label_filename: 'labels.txt' }");
  EXPECT_EQ(Fault("m"), "'output.label_filename' of 'y' names 'labels.txt', which is not there");
  Write("m/labels.txt", "cat\r\n\ndog");
  ASSERT_EQ(Fault("m"), "");
  EXPECT_EQ(ReadAll().models[0].labels.at("y"), (Words{"cat", "", "dog"}));
  Write("m/labels.txt", std::string((1 << 20) + 1, '\n'));
  EXPECT_EQ(Fault("m"),
            "'output.label_filename' of 'y' names 'labels.txt', which is larger than 1 MiB");
  fs::remove(root() / "m/labels.txt");
  std::ofstream(folder_ / "secret") << "x";
  fs::create_symlink(folder_ / "secret", root() / "m/labels.txt");
  EXPECT_EQ(Fault("m"),
            "'output.label_filename' of 'y' names 'labels.txt', which is a link that leads out of "
            "the model's folder");
}

TEST_F(ModelRepositoryTest, AFileOfAnotherName) {
  Write("m/1/net.pt");
  Write("m/config.pbtxt", "default_model_filename: \"net.pt\"");
  ASSERT_EQ(ReadAll().models.size(), 1u);
  EXPECT_EQ(ReadAll().models[0].path, (root() / "m/1/net.pt").string());
}

TEST_F(ModelRepositoryTest, AnIdentityModelHasNoFile) {
  fs::create_directories(root() / "m/1");
  Write("m/config.pbtxt", "backend: \"identity\"");
  EXPECT_EQ(Fault("m"), "an identity model must say its inputs");
  Write("m/config.pbtxt",
        "backend: \"identity\" input { name: \"x\" data_type: TYPE_FP32 dims: 4 }");
  EXPECT_EQ(Fault("m"), "");
}

TEST_F(ModelRepositoryTest, NothingIsFoundWhereNothingIs) {
  EXPECT_TRUE(absl::IsNotFound(ModelRepository(root().string(), {}).Read("nope").status()));
  EXPECT_TRUE(absl::IsNotFound(ModelRepository("", {}).Read("nope").status()));
  EXPECT_TRUE(ModelRepository("", {}).ReadAll().models.empty());
}

TEST_F(ModelRepositoryTest, TheQueueHoldsOneLegalRequest) {
  Write("m/1/model.pt");
  LimitsConfig limits;
  limits.message_bytes = 1ULL << 30;
  EXPECT_EQ(ModelRepository(root().string(), limits).ReadAll().models[0].queue_bytes, 1ULL << 30);
}

TEST_F(ModelRepositoryTest, TheDataOfAWarmUpIsReadFromItsFolder) {
  Write("a/1/model.pt");
  Write("a/config.pbtxt", R"pb(model_warmup {
                                 inputs {
                                   key: "x"
                                   value { data_type: TYPE_UINT8 dims: 3 input_data_file: "x.bin" }
                                 }
                               })pb");
  EXPECT_EQ(Fault("a"), "there is no data in warmup/x.bin");
  Write("a/warmup/x.bin", "abc");
  const FoundModels found = ReadAll();
  ASSERT_EQ(found.models.size(), 1U);
  EXPECT_EQ(found.models[0].warmup_samples[0].inputs[0].data, "abc");
  Write("a/warmup/x.bin", std::string(kMaxWarmUpDataBytes + 1, 'x'));
  EXPECT_EQ(Fault("a"), "the data of the warm-up has more than 2097152 bytes");
  fs::remove(root() / "a/warmup/x.bin");
  std::ofstream(folder_ / "secret") << "s";
  fs::create_symlink(folder_ / "secret", root() / "a/warmup/x.bin");
  EXPECT_EQ(Fault("a"), "there is no data in warmup/x.bin") << "it leads out of the repository";
}

}  // namespace
}  // namespace mpsd
