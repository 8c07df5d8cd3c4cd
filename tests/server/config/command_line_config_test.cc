// ConfigFromModelFiles: the config of `mpsd serve FILE`.
#include "server/config/command_line_config.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "server/config/config.h"
#include "tests/server/config/config_files.h"

namespace mpsd {
namespace {

TensorSpec Tensor(std::string_view text) {
  const absl::StatusOr<TensorSpec> tensor = ParseTensorText(text);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return tensor.ok() ? *tensor : TensorSpec();
}

std::string CommandLineError(const std::vector<TensorSpec>& inputs, uint32_t max_batch_size) {
  const ConfigFiles files({"m.pt"});
  return std::string(ConfigFromModelFiles({files.folder() + "/m.pt"}, {inputs, max_batch_size})
                         .status()
                         .message());
}

TEST(FindConfig, TakesTheFirstThatIsThere) {
  const ConfigFiles files({"a.json", "b.json"});
  const std::string a = files.folder() + "/a.json";
  const std::string b = files.folder() + "/b.json";
  const std::string none = files.folder() + "/none.json";
  EXPECT_EQ(FindConfig({a, b}).value(), a);
  EXPECT_EQ(FindConfig({b, a}).value(), b);
  EXPECT_EQ(FindConfig({none, b}).value(), b);
}

TEST(FindConfig, SaysWhereItHasLooked) {
  const absl::Status status = FindConfig({"/none/mpsd.json", "/none/etc/mpsd.json"}).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_TRUE(absl::StrContains(status.message(),
                                "neither /none/mpsd.json nor /none/etc/mpsd.json; `mpsd init"))
      << status;
}

TEST(ConfigFromModelFiles, ServesOneModelWithTheDefaults) {
  const ConfigFiles files({"m.pt"});
  const Config config = ConfigFromModelFiles({files.folder() + "/m.pt"}, {}).value();
  EXPECT_EQ(config.listen.grpc, DefaultGrpcAddresses(DefaultStateDir()));
  EXPECT_EQ(config.state_dir, DefaultStateDir());
  ASSERT_EQ(config.models.size(), 1U);
  EXPECT_EQ(config.models[0].name, "m");
  EXPECT_EQ(config.models[0].path, files.folder() + "/m.pt");
  EXPECT_EQ(config.models[0].format, ModelFormat::kTorchScript);
  EXPECT_EQ(config.models[0].spec, ModelSpec());
}

// A file under a tokenizer's name is read or refused, and never passed over.
TEST(ConfigFromModelFiles, TakesTheTokenizerThatAFolderSaysItHas) {
  const ConfigFiles files({"config.json", "model.safetensors"});
  const std::filesystem::path folder = files.folder();
  const auto tokenizer = [&folder] {
    const absl::StatusOr<Config> config = ConfigFromModelFiles({folder.string()}, {});
    return config.ok() ? config->models[0].text.tokenizer : std::string(config.status().message());
  };
  EXPECT_EQ(tokenizer(), "");
  std::ofstream(folder / "tokenizer_config.json") << "{}";
  EXPECT_EQ(tokenizer(), folder / "tokenizer.json") << "which is missing";
  std::ofstream(folder / "vocab.txt") << "a";
  EXPECT_EQ(tokenizer(), folder / "vocab.txt");
  std::filesystem::create_symlink("nothing", folder / "tokenizer.json");
  EXPECT_EQ(tokenizer(), folder / "tokenizer.json");
  std::filesystem::remove(folder / "tokenizer.json");
  ASSERT_EQ(mkfifo((folder / "tokenizer.json").c_str(), 0600), 0);
  EXPECT_EQ(tokenizer(), folder / "tokenizer.json");
}

TEST(ConfigFromModelFiles, WithoutRoomForASocketThereIsNone) {
  const ConfigFiles files({"m.pt"});
  const char* const before = std::getenv("XDG_RUNTIME_DIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("XDG_RUNTIME_DIR", ("/" + std::string(100, 'd')).c_str(), 1);
  const absl::StatusOr<Config> config = ConfigFromModelFiles({files.folder() + "/m.pt"}, {});
  before == nullptr ? unsetenv("XDG_RUNTIME_DIR") : setenv("XDG_RUNTIME_DIR", kept.c_str(), 1);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->listen.grpc, std::vector<std::string>{"127.0.0.1:8001"});
}

TEST(ConfigFromModelFiles, ABatchDimOfMinusOneMakesTheModelBatch) {
  const ConfigFiles files({"m.pt2"});
  const Config config = ConfigFromModelFiles({files.folder() + "/m.pt2"},
                                             {{Tensor("x:FP32[-1,16]"), Tensor("y:INT64[-1,-1]")}})
                            .value();
  EXPECT_EQ(config.models[0].format, ModelFormat::kAoti);
  ModelSpec spec;
  spec.max_batch_size = 64;
  spec.inputs = {{"x", DataType::kFp32, {16}}, {"y", DataType::kInt64, {-1}}};
  EXPECT_EQ(config.models[0].spec, spec);
  EXPECT_TRUE(config.models[0].inputs_by_name);
}

TEST(ConfigFromModelFiles, TheBatchSizeMayBeSaid) {
  const ConfigFiles files({"m.pt"});
  const Config config =
      ConfigFromModelFiles({files.folder() + "/m.pt"}, {{Tensor("x:FP32[-1,16]")}, 8}).value();
  EXPECT_EQ(config.models[0].spec.max_batch_size, 8U);
}

TEST(ConfigFromModelFiles, OtherShapesAreWholeWithoutABatchDim) {
  const ConfigFiles files({"m.pt"});
  const Config config =
      ConfigFromModelFiles({files.folder() + "/m.pt"}, {{Tensor("x:FP32[4,-1]")}}).value();
  EXPECT_FALSE(config.models[0].spec.batches());
  EXPECT_EQ(config.models[0].spec.inputs[0].dims, (Dims{4, -1}));
}

TEST(ConfigFromModelFiles, MakesANameThatClientsMayUse) {
  const auto name = [](const std::string& file) {
    const ConfigFiles files({file});
    const absl::StatusOr<Config> config = ConfigFromModelFiles({files.folder() + "/" + file}, {});
    return config.ok() ? config->models[0].name : std::string(config.status().message());
  };
  EXPECT_EQ(name("all-MiniLM-L6.v2.pt"), "all-MiniLM-L6.v2");
  EXPECT_EQ(name("my model (1).pt"), "my-model--1-");
  EXPECT_EQ(name("_-x.pt"), "x");
  EXPECT_EQ(name("--.pt"), "model");
  EXPECT_EQ(name(std::string(200, 'a') + ".pt"), std::string(128, 'a'));
}

TEST(ConfigFromModelFiles, AFolderIsOneOfHuggingFaces) {
  const ConfigFiles files({"all-MiniLM-L6.v2/config.json", "all-MiniLM-L6.v2/model.safetensors"});
  for (const std::string end : {"", "/"}) {
    const Config config =
        ConfigFromModelFiles({files.folder() + "/all-MiniLM-L6.v2" + end}, {}).value();
    EXPECT_EQ(config.models[0].format, ModelFormat::kHuggingFace);
    EXPECT_EQ(config.models[0].name, "all-MiniLM-L6.v2");
    EXPECT_NE(config.models[0].stamp, FileStamp{});
  }
}

TEST(ConfigFromModelFiles, ServesSeveralFilesAndFolders) {
  const ConfigFiles files({"m.pt", "n.pt2", "bge/config.json", "bge/pytorch_model.bin"});
  const Config config =
      ConfigFromModelFiles(
          {files.folder() + "/m.pt", files.folder() + "/bge", files.folder() + "/n.pt2"}, {})
          .value();
  ASSERT_EQ(config.models.size(), 3U);
  EXPECT_EQ(config.models[0].name, "m");
  EXPECT_EQ(config.models[1].name, "bge");
  EXPECT_EQ(config.models[1].format, ModelFormat::kHuggingFace);
  EXPECT_EQ(config.models[2].name, "n");
}

TEST(ConfigFromModelFiles, RefusesSeveralThatCannotBeToldApart) {
  const ConfigFiles files({"m.pt", "m.pt2"});
  const std::string m = files.folder() + "/m.pt";
  EXPECT_EQ(ConfigFromModelFiles({m, m + "2"}, {}).status(),
            absl::InvalidArgumentError("'" + m + "' and '" + m + "2' would both be model 'm'"));
  EXPECT_EQ(ConfigFromModelFiles(std::vector<std::string>(257, m), {}).status(),
            absl::InvalidArgumentError("257 models are given; at most 256 are served"));
  EXPECT_EQ(ConfigFromModelFiles({m, m + "2"}, {{}, 8}).status(),
            absl::InvalidArgumentError(
                "inputs and a batch size are those of one model, and several are given"));
  EXPECT_EQ(ConfigFromModelFiles({m, m + "2"}, {{}, 0, "cpu", "both"}).status(),
            absl::InvalidArgumentError("--name is that of one model, and several are given"));
}

TEST(ConfigFromModelFiles, TakesTheDeviceAndTheNameOfTheFlags) {
  const ConfigFiles files({"m.pt", "n.pt"});
  const std::string m = files.folder() + "/m.pt";
  const Config one = ConfigFromModelFiles({m}, {{}, 0, "cpu", "mine"}).value();
  EXPECT_EQ(one.models[0].name, "mine");
  EXPECT_EQ(one.models[0].device, "cpu");
  const Config two = ConfigFromModelFiles({m, files.folder() + "/n.pt"}, {{}, 0, "cuda:1"}).value();
  EXPECT_EQ(two.models[1].device, "cuda:1");
}

TEST(ConfigFromModelFiles, RefusesADeviceAndANameThatCannotBe) {
  const ConfigFiles files({"m.pt"});
  const std::string m = files.folder() + "/m.pt";
  EXPECT_EQ(ConfigFromModelFiles({m}, {{}, 0, "cpuu"}).status(),
            absl::InvalidArgumentError("--device: there is no 'cpuu' here; did you mean 'cpu'?"));
  EXPECT_TRUE(absl::StartsWith(ConfigFromModelFiles({m}, {{}, 0, "cpu", "a/b"}).status().message(),
                               "--name must be 1 to"));
}

TEST(ConfigFromModelFiles, OnlyKeepGoingServesWithoutAModel) {
  const ConfigFiles files({"m.pt"});
  const std::string m = files.folder() + "/m.pt";
  EXPECT_FALSE(ConfigFromModelFiles({m}, {})->keep_going);
  EXPECT_TRUE(ConfigFromModelFiles({m}, {{}, 0, "auto", "", true})->keep_going);
}

TEST(ConfigFromModelFiles, AFolderOfAHubsCacheIsNamedForItsModel) {
  const std::string snapshot = "models--ORG--NAME/snapshots/12ab";
  const ConfigFiles files({snapshot + "/config.json", snapshot + "/model.safetensors"});
  const Config config = ConfigFromModelFiles({files.folder() + "/" + snapshot}, {}).value();
  EXPECT_EQ(config.models[0].name, "NAME");
}

class SetAddressesTest : public testing::Test {
 protected:
  SetAddressesTest() : files_({"m.pt"}) {
    config_ = *ConfigFromModelFiles({files_.folder() + "/m.pt"}, {});
  }

  const ConfigFiles files_;
  Config config_;
};

TEST_F(SetAddressesTest, WithoutFlagsTheDefaultsStay) {
  const ListenConfig before = config_.listen;
  EXPECT_TRUE(SetAddresses({}, &config_).ok());
  EXPECT_EQ(config_.listen.grpc, before.grpc);
  EXPECT_EQ(config_.listen.http, before.http);
  EXPECT_EQ(config_.state_dir, DefaultStateDir());
}

TEST_F(SetAddressesTest, AnotherPortHasAStateFolderOfItsOwn) {
  ASSERT_TRUE(SetAddresses({"", 9000, 9001}, &config_).ok());
  EXPECT_EQ(config_.state_dir, DefaultStateDir() + "-9000");
  EXPECT_EQ(config_.listen.grpc,
            (std::vector<std::string>{"127.0.0.1:9000",
                                      "unix:" + DefaultStateDir() + "-9000/mpsd.sock"}));
  EXPECT_EQ(config_.listen.http, std::vector<std::string>{"127.0.0.1:9001"});
}

TEST_F(SetAddressesTest, AHostIsThatOfAllAddresses) {
  ASSERT_TRUE(SetAddresses({"::1"}, &config_).ok());
  EXPECT_EQ(config_.listen.grpc.front(), "[::1]:8001");
  EXPECT_EQ(config_.listen.http, (std::vector<std::string>{"[::1]:8000", "[::1]:8002"}));
  EXPECT_EQ(config_.state_dir, DefaultStateDir());
  EXPECT_EQ(SetAddresses({"a b"}, &config_),
            absl::InvalidArgumentError(
                "--host: 'a b:8001' has a host that is neither a name nor an address"));
}

TEST_F(SetAddressesTest, OtherHostsReachItOnlyWherePlaintextIsSaid) {
  for (const char* host : {"0.0.0.0", "::", "192.0.2.1", "example.org"}) {
    const absl::Status status = SetAddresses({host, 9000}, &config_);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << host;
    EXPECT_TRUE(absl::StartsWith(status.message(), "--host: '")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "--plaintext")) << status;
  }
  EXPECT_FALSE(config_.listen.plaintext);
  ASSERT_TRUE(SetAddresses({"0.0.0.0", {}, 9001, true}, &config_).ok());
  EXPECT_EQ(config_.listen.grpc.front(), "0.0.0.0:8001");
  EXPECT_TRUE(config_.listen.plaintext);
}

TEST(ConfigFromModelFiles, RefusesWhatDoesNotFitTogether) {
  EXPECT_EQ(CommandLineError({Tensor("x:FP32[-1,16]"), Tensor("y:FP32[16]")}, 0),
            "either all inputs begin with a batch dim of -1 or none does");
  EXPECT_EQ(CommandLineError({Tensor("x:FP32[16]")}, 8),
            "a batch size was given, but no input begins with a batch dim of -1");
}

TEST(ConfigFromModelFiles, HoldsTheInputsToTheRulesOfAConfig) {
  EXPECT_EQ(CommandLineError({Tensor("x:FP32[-1]"), Tensor("x:FP32[-1]")}, 0),
            "inputs[1].name: 'x' stands twice");
  EXPECT_EQ(CommandLineError({Tensor("x:FP32[-1,1,1,1,1,1,1,1,1]")}, 0), "");
  EXPECT_EQ(CommandLineError({Tensor("x:FP32[1,1,1,1,1,1,1,1,1]")}, 0),
            "inputs[0].shape: has 9 elements; at most 8 are allowed");
  EXPECT_EQ(CommandLineError({Tensor("x:FP32[-1]")}, kMaxBatchRows + 1),
            "max_batch_size: must be a whole number from 0 to 1024, not 1025");
}

TEST(ConfigFromModelFiles, SaysWhatIsWrongWithTheFile) {
  const ConfigFiles files({"m.bin"});
  EXPECT_EQ(ConfigFromModelFiles({files.folder() + "/none.pt"}, {}).status(),
            absl::NotFoundError("there is no file '" + files.folder() + "/none.pt'"));
  EXPECT_EQ(ConfigFromModelFiles({files.folder() + "/m.bin"}, {}).status(),
            absl::InvalidArgumentError("'" + files.folder() +
                                       "/m.bin' ends in neither .pt nor .pt2; of a "
                                       "model of Hugging Face's, name the folder that has its "
                                       "config.json"));
}

TEST(ConfigFromModelFiles, SaysWhatAFolderLacks) {
  const ConfigFiles files(
      {"empty/readme", "bare/config.json", "foreign/config.json", "foreign/model.onnx"});
  const auto fault = [&files](const std::string& name) {
    return std::string(ConfigFromModelFiles({files.folder() + name}, {}).status().message());
  };
  const std::string head = "' is no model's folder of Hugging Face's: ";
  EXPECT_EQ(fault("/empty"), "'" + files.folder() + "/empty" + head +
                                 "there is no config.json in it; --model-repository takes a folder "
                                 "of models");
  EXPECT_EQ(fault("/bare"), "'" + files.folder() + "/bare" + head +
                                "there are no weights in it, such as model.safetensors");
  EXPECT_EQ(fault("/foreign"), "") << "the worker tells how to convert them";
}

// The flags that ReadEnvironment() fills in.
struct FilledFlags {
  ListenFlags listen;
  ModelFlags model;
  absl::Status status;
};

FilledFlags Environment(const std::map<std::string, std::string>& variables) {
  FilledFlags flags;
  const auto variable = [&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  flags.status = ReadEnvironment(variable, &flags.listen, &flags.model);
  return flags;
}

TEST(ReadEnvironment, SaysWhatNoFlagSays) {
  const FilledFlags read = Environment({{"MPSD_HOST", "0.0.0.0"},
                                        {"MPSD_PORT", "9000"},
                                        {"PORT", "8080"},
                                        {"MPSD_PLAINTEXT", "1"},
                                        {"MPSD_DEVICE", "cpu"}});
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.listen, (ListenFlags{"0.0.0.0", 9000, 8080, true}));
  EXPECT_EQ(read.model.device, "cpu");
  EXPECT_EQ(Environment({{"MPSD_HTTP_PORT", "9001"}, {"PORT", "8080"}}).listen.http_port, 9001);
  EXPECT_EQ(Environment({{"PORT", ""}}).listen, ListenFlags{});
}

TEST(ReadEnvironment, AFlagGoesFirst) {
  ListenFlags listen{"localhost", 1, 2, false};
  ModelFlags model;
  model.device = "cuda";
  ASSERT_TRUE(ReadEnvironment([](const char*) { return "7"; }, &listen, &model).ok());
  EXPECT_EQ(listen, (ListenFlags{"localhost", 1, 2, false}));
  EXPECT_EQ(model.device, "cuda");
}

TEST(ReadEnvironment, NamesAVariableThatIsNoPort) {
  EXPECT_EQ(Environment({{"PORT", "tcp://10.0.0.1:80"}}).status,
            absl::InvalidArgumentError("PORT='tcp://10.0.0.1:80' is no port"));
  EXPECT_FALSE(Environment({{"MPSD_PORT", "65536"}}).status.ok());
  EXPECT_TRUE(Environment({{"MPSD_PORT", "tcp://10.0.0.1:8001"}}).status.ok()) << "a Service's";
}

}  // namespace
}  // namespace mpsd
