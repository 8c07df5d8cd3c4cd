#include "server/control/repository_methods.h"

#include <gtest/gtest.h>

#include "proto/inference.pb.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

// Notes what it is asked to do, and answers with `status`.
class FakeControl final : public ModelControl {
 public:
  std::vector<ModelListing> List() const override { return listings; }
  ReloadReport LastReload() const override { return {}; }
  void Load(const std::string& name, const std::string& config, Done done) override {
    asked.push_back("load " + name + " " + config);
    done(status);
  }
  void Unload(const std::string& name, Done done) override {
    asked.push_back("unload " + name);
    done(status);
  }

  std::vector<ModelListing> listings;
  std::vector<std::string> asked;
  absl::Status status;
};

class RepositoryMethodsTest : public testing::Test {
 protected:
  RepositoryMethodsTest() { AddRepositoryMethods(&control_, &table_); }

  template <typename Request>
  absl::Status Call(const char* method, const Request& request) {
    absl::Status result = absl::UnknownError("not answered");
    table_.Find(std::string("/inference.GRPCInferenceService/") + method)
        ->deferred({}, request.SerializeAsString(),
                   [&](const absl::Status& status, const std::string&) { result = status; });
    return result;
  }

  absl::Status Load(const std::string& name) {
    load_.set_model_name(name);
    return Call("RepositoryModelLoad", load_);
  }

  absl::Status Unload(const std::string& name) {
    unload_.set_model_name(name);
    return Call("RepositoryModelUnload", unload_);
  }

  inference::RepositoryIndexResponse Index(bool ready) {
    inference::RepositoryIndexRequest request;
    request.set_ready(ready);
    std::string bytes;
    const auto* method = table_.Find("/inference.GRPCInferenceService/RepositoryIndex");
    EXPECT_TRUE(method->unary({}, request.SerializeAsString(), &bytes).ok());
    inference::RepositoryIndexResponse response;
    EXPECT_TRUE(response.ParseFromString(bytes));
    return response;
  }

  FakeControl control_;
  MethodTable table_;
  inference::RepositoryModelLoadRequest load_;
  inference::RepositoryModelUnloadRequest unload_;
};

TEST_F(RepositoryMethodsTest, LoadAndUnload) {
  EXPECT_TRUE(Load("m").ok());
  (*load_.mutable_parameters())["config"].set_string_param("{}");
  EXPECT_TRUE(Load("n").ok());
  (*unload_.mutable_parameters())["unload_dependents"].set_bool_param(true);
  EXPECT_TRUE(Unload("m").ok());
  EXPECT_EQ(control_.asked, (std::vector<std::string>{"load m ", "load n {}", "unload m"}));
}

TEST_F(RepositoryMethodsTest, AConfigThatIsEmpty) {
  (*load_.mutable_parameters())["config"].set_string_param("");
  EXPECT_EQ(Load("m").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(control_.asked.empty());
}

TEST_F(RepositoryMethodsTest, ANameThatIsEmpty) {
  const absl::Status refusal = absl::InvalidArgumentError(
      "Model name cannot be empty. Please enter a valid name to deploy.");
  for (const char* name : {"", " ", "\t\n", " \v\f\r "}) {
    EXPECT_EQ(Load(name), refusal) << name;
    EXPECT_EQ(Unload(name), refusal) << name;
  }
  EXPECT_TRUE(control_.asked.empty());
}

TEST_F(RepositoryMethodsTest, ANameThatIsAPath) {
  const absl::Status refusal =
      absl::InvalidArgumentError("model name must not contain path traversal characters");
  for (const char* name :
       {"..", ".", " ..", ".. ", "../m", "a/../b", "a/b", "/etc/passwd", "m/", "a\\b", "m/.."}) {
    EXPECT_EQ(Load(name), refusal) << name;
  }
  EXPECT_EQ(Load(std::string("m\0.pt", 5)), refusal);
  EXPECT_TRUE(control_.asked.empty());
}

TEST_F(RepositoryMethodsTest, AnUnloadDoesNotMindAPath) {
  EXPECT_TRUE(Unload("../m").ok());
  EXPECT_EQ(control_.asked, std::vector<std::string>{"unload ../m"});
}

TEST_F(RepositoryMethodsTest, ANameOfDotsThatIsNoPath) {
  for (const char* name : {"...", "..m", "m..1", "m....1"}) EXPECT_TRUE(Load(name).ok()) << name;
}

TEST_F(RepositoryMethodsTest, ANameThatIsTooLong) {
  EXPECT_EQ(Load(std::string(129, 'a')).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Unload(std::string(129, 'a')).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(control_.asked.empty());
}

TEST_F(RepositoryMethodsTest, NoFileComesFromAClient) {
  (*load_.mutable_parameters())["file:1/model.pt"].set_bytes_param("x");
  EXPECT_EQ(Load("m"), absl::InvalidArgumentError("models come from configured places only: the "
                                                  "parameter 'file:' is not supported"));
}

TEST_F(RepositoryMethodsTest, ParametersThatAreUnknownOrOfAnotherType) {
  (*load_.mutable_parameters())["config"].set_int64_param(1);
  EXPECT_EQ(Load("m"),
            absl::InvalidArgumentError(
                "invalid value type for load parameter 'config', expected string_param."));
  load_.clear_parameters();
  (*load_.mutable_parameters())["x"].set_int64_param(1);
  EXPECT_EQ(Load("m"), absl::InvalidArgumentError("unrecognized load parameter 'x'"));
  (*unload_.mutable_parameters())["unload_dependents"].set_string_param("true");
  EXPECT_EQ(Unload("m"), absl::InvalidArgumentError("invalid value type for 'unload_dependents' "
                                                    "parameter, expected bool_param."));
  unload_.clear_parameters();
  (*unload_.mutable_parameters())["y"].set_bool_param(true);
  EXPECT_EQ(Unload("m"), absl::InvalidArgumentError("unrecognized unload parameter 'y'"));
}

TEST_F(RepositoryMethodsTest, AFailureIsToldWithoutPaths) {
  control_.status = absl::InternalError("failed to load 'm': '/srv/models/m.pt' is no archive");
  EXPECT_EQ(Load("m"), absl::InternalError("failed to load 'm': (…) is no archive"));
}

TEST_F(RepositoryMethodsTest, WhenToTryAgainIsTold) {
  control_.status = Busy("too many models are waiting to be loaded");
  EXPECT_EQ(Load("m"), control_.status);
  EXPECT_EQ(Unload("m"), control_.status);
}

TEST_F(RepositoryMethodsTest, TextsForClients) {
  EXPECT_EQ(WithoutPathsAndErrnos("model 'm': cannot load '/srv/my models/a b.pt': cut short"),
            "model 'm': cannot load (…): cut short");
  EXPECT_EQ(WithoutPathsAndErrnos("in \"/a b/it's\", '/o'clock/c d'"), "in (…), (…)");
  EXPECT_EQ(WithoutPathsAndErrnos("it's 'm' at 3 / 4 of /a/b"), "it's 'm' at 3 / 4 of (…)");
  EXPECT_EQ(WithoutPathsAndErrnos("an open ' and /a/b"), "an open ' and (…)");
  EXPECT_EQ(WithoutPathsAndErrnos(
                "open failed: errno 13: Permission denied, or No such file or directory"),
            "open failed: (…): (…), or (…)");
  EXPECT_EQ(WithoutPathsAndErrnos(""), "");
  EXPECT_EQ(WithoutPathsAndErrnos(std::string(1 << 20, 'x')), std::string(4096, 'x'));
  EXPECT_EQ(WithoutPathsAndErrnos(std::string(4095, 'x') + "é"), std::string(4095, 'x'));
}

TEST_F(RepositoryMethodsTest, ReasonsMayHaveAnyBytes) {
  control_.listings = {{"m", "", "UNAVAILABLE", "labels 'a\xFF' are not there"}};
  EXPECT_EQ(Index(false).models(0).reason(), "labels 'a\xEF\xBF\xBD' are not there");
}

TEST_F(RepositoryMethodsTest, TheIndexListsWhatIsKnownOrOnlyWhatIsReady) {
  control_.listings = {{"a", "2", "READY", ""}, {"b", "1", "UNAVAILABLE", "no file '/x/b.pt'"}};
  const inference::RepositoryIndexResponse all = Index(/*ready=*/false);
  ASSERT_EQ(all.models_size(), 2);
  EXPECT_EQ(all.models(0).name() + all.models(0).version() + all.models(0).state(), "a2READY");
  EXPECT_EQ(all.models(1).reason(), "no file (…)");
  ASSERT_EQ(Index(/*ready=*/true).models_size(), 1);
  EXPECT_EQ(Index(/*ready=*/true).models(0).name(), "a");
}

TEST_F(RepositoryMethodsTest, ThereIsOneRepositoryWithoutAName) {
  load_.set_repository_name("r");
  EXPECT_EQ(Load("m"),
            absl::UnimplementedError("'repository_name' specification is not supported"));
}

}  // namespace
}  // namespace mpsd
