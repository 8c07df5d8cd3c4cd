#include "client/cli/inspect_verb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "client/cli/exit_code.h"

namespace mpsd::cli {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kLine[] =
    R"({"file": "/m.pt", "format": "torchscript", "device": "cpu", "runtime": "torch 2.11.0", )"
    R"("runtime_kind": "stock", "precision": "bf16", "precision_note": "it agrees", )"
    R"("max_batch_size": 8, )"
    R"("inputs": [{"name": "ids", "datatype": "INT64", "shape": [-1, 3]}], )"
    R"("outputs": [{"name": "y", "datatype": "FP32", "shape": [4]}], )"
    R"("census": {"known": true, "operators": 9, "linear": 2, "layer_norm": 1, )"
    R"("parameter_bytes": 2048, "parameter_dtypes": ["FP32"]}, )"
    R"("facts": {"family": "bert", "pooling": "mean"}, )"
    R"("config": {"models": [{"name": "m"}]}})";

// For a folder whose model knows ten words.
constexpr char kFolderLine[] =
    R"({"file": "/m", "format": "huggingface", "device": "cpu", "max_batch_size": 8, )"
    R"("facts": {"family": "bert", "words": "10"}, "config": {"models": [{"name": "m"}]}})";

// A worker of two lines of shell, so that no libtorch is needed.
class InspectVerb : public testing::Test {
 protected:
  InspectVerb() { options_.target = base_ + ".json"; }
  void TearDown() override {
    std::remove(options_.target.c_str());
    std::remove(worker_.c_str());
    std::remove(model_.c_str());
  }
  void WorkerThat(const std::string& script) {
    std::ofstream(worker_) << "#!/bin/sh\n" << script << "\n";
    chmod(worker_.c_str(), 0700);
    std::ofstream(model_).put(' ');
    options_.file = model_;
    options_.worker = worker_;
  }
  void WorkerThatSays(const std::string& line) {
    WorkerThat("echo noise\ncat <<'END'\n" + line + "\nEND");
  }
  int Inspect() {
    const auto tokenizer_of = [this](const std::string& folder) {
      asked_.push_back(folder);
      return tokenizer_;
    };
    return RunInspect(options_, tokenizer_of, out_, err_);
  }
  ordered_json Json() {
    options_.json = true;
    EXPECT_EQ(Inspect(), kExitOk) << err_.str();
    return ordered_json::parse(out_.str(), nullptr, /*allow_exceptions=*/false);
  }

  const std::string base_ = testing::TempDir() + "mpsd_inspect_" + std::to_string(getpid());
  const std::string worker_ = base_ + ".sh";
  const std::string model_ = base_ + ".pt";
  InspectOptions options_;
  ordered_json tokenizer_;
  std::vector<std::string> asked_;  // folders whose tokenizer was asked for
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(InspectVerb, ShowsTensorsCensusAndConfig) {
  WorkerThatSays(kLine);
  EXPECT_EQ(Inspect(), kExitOk) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("torchscript, on cpu with torch 2.11.0 (stock)"));
  EXPECT_THAT(out_.str(), HasSubstr("\nprecision: bf16; it agrees\nbatches of up to 8 rows"));
  EXPECT_THAT(out_.str(), HasSubstr("operators: 9, layer_norm 1, linear 2\n"));
  EXPECT_THAT(out_.str(), HasSubstr("parameters: 2 KiB FP32\nfamily: bert\npooling: mean\n"));
  EXPECT_THAT(out_.str(), HasSubstr("input   ids   INT64  [-1,3]  0"));
  EXPECT_THAT(out_.str(), HasSubstr("output  y     FP32   [4]     none"));
  EXPECT_THAT(out_.str(), HasSubstr("\"name\": \"m\""));
}

TEST_F(InspectVerb, OfAFolderTellsTheTokenizer) {
  WorkerThatSays(kFolderLine);
  tokenizer_ = {{"file", "/m/tokenizer.json"}, {"kind", "BPE"}, {"pieces", 10}, {"id_bound", 10}};
  EXPECT_EQ(Inspect(), kExitOk) << err_.str();
  EXPECT_THAT(asked_, ElementsAre(model_));
  EXPECT_THAT(out_.str(), HasSubstr("words: 10\ntokenizer: BPE, 10 pieces, of tokenizer.json\n"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("warning")));
}

TEST_F(InspectVerb, TheJsonHasTheTokenizerBesideWhatTheWorkerSays) {
  WorkerThatSays(kFolderLine);
  tokenizer_ = {{"kind", "BPE"}, {"id_bound", 13}};
  const ordered_json json = Json();
  EXPECT_EQ(json["tokenizer"],
            ordered_json({{"kind", "BPE"}, {"id_bound", 13}, {"ids_beyond_model", 3}}));
  EXPECT_EQ(json["facts"], ordered_json::parse(kFolderLine)["facts"]);
}

TEST_F(InspectVerb, ATokenizerOfFewerIdsThanWordsIsNoFault) {
  WorkerThatSays(kFolderLine);
  tokenizer_ = {{"id_bound", 9}};
  EXPECT_EQ(Json()["tokenizer"]["ids_beyond_model"], 0);
}

TEST_F(InspectVerb, ARefusedTokenizerIsNoFailure) {
  WorkerThatSays(kFolderLine);
  tokenizer_ = {{"file", "/m/tokenizer.json"}, {"refused", "the type 'X' is not known"}};
  EXPECT_EQ(Json()["tokenizer"], tokenizer_);
}

TEST_F(InspectVerb, AFolderWithoutATokenizerHasNull) {
  WorkerThatSays(kFolderLine);
  const ordered_json json = Json();
  ASSERT_TRUE(json.contains("tokenizer"));
  EXPECT_EQ(json["tokenizer"], nullptr);
}

TEST_F(InspectVerb, AFileOfAnotherFormatHasNoTokenizer) {
  WorkerThatSays(kLine);
  EXPECT_EQ(Json(), ordered_json::parse(kLine));
  EXPECT_TRUE(asked_.empty());
}

TEST_F(InspectVerb, SaysWhatTheWorkerSaysIsWrong) {
  WorkerThat(R"(echo '{"error": "model does not tell its inputs"}'; exit 65)");
  EXPECT_EQ(Inspect(), kExitNoInput);
  EXPECT_THAT(err_.str(), HasSubstr("model does not tell its inputs"));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(InspectVerb, AnInputThatIsWrittenWronglyIsTheCallersMistake) {
  WorkerThat(R"(echo '{"error": "unknown datatype FP31"}'; exit 64)");
  EXPECT_EQ(Inspect(), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("unknown datatype FP31"));
  EXPECT_EQ(RunInit(options_, out_, err_), kExitUsage);
}

TEST_F(InspectVerb, AFolderIsForTheWorkerToJudge) {
  WorkerThat(R"(printf '{"error": "%s"}\n' "$2"; exit 65)");
  options_.file = testing::TempDir();
  EXPECT_EQ(Inspect(), kExitNoInput);
  EXPECT_EQ(err_.str(), "mpsd: " + testing::TempDir() + "\n");
}

TEST_F(InspectVerb, AFileThatIsNotThereIsNamed) {
  WorkerThatSays(kLine);
  options_.file = base_ + ".none";
  EXPECT_EQ(Inspect(), kExitNoInput);
  EXPECT_EQ(err_.str(), "mpsd: there is no file '" + options_.file + "'\n");
}

TEST_F(InspectVerb, SaysThatTheWorkerDied) {
  WorkerThat("echo unhappy; kill -11 $$");
  EXPECT_EQ(Inspect(), kExitNoInput);
  EXPECT_THAT(err_.str(), HasSubstr("could not read " + model_ + " (exit 139): unhappy"));
}

TEST_F(InspectVerb, TheWorkersFolderGoesWithIt) {
  WorkerThat(R"(touch "$TMPDIR/left"; printf '{"error": "%s"}\n' "$TMPDIR"; kill -9 $$)");
  EXPECT_EQ(Inspect(), kExitNoInput);
  const size_t begin = err_.str().find('/');
  ASSERT_NE(begin, std::string::npos) << err_.str();
  const std::string folder = err_.str().substr(begin, err_.str().find('\n', begin) - begin);
  EXPECT_THAT(folder, HasSubstr("/mpsd-"));
  EXPECT_FALSE(std::filesystem::exists(folder)) << folder;
}

TEST_F(InspectVerb, PassesOnWhatTheFileDoesNotTell) {
  WorkerThat(R"(printf '{"error": "%s"}\n' "$*"; exit 65)");
  options_.inputs = {"x:FP32[-1,2]"};
  options_.precision = "auto";
  options_.max_batch_size = 4;
  Inspect();
  EXPECT_THAT(err_.str(), HasSubstr(model_ + " --device cpu --precision auto --input x:FP32[-1,2] "
                                             "--max-batch-size 4"));
}

TEST_F(InspectVerb, InitWritesTheConfigOnce) {
  WorkerThatSays(kLine);
  EXPECT_EQ(RunInit(options_, out_, err_), kExitOk) << err_.str();
  std::ifstream file(options_.target);
  const std::string config((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  EXPECT_THAT(config, HasSubstr("\"models\""));
  EXPECT_EQ(RunInit(options_, out_, err_), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--force"));
  options_.force = true;
  EXPECT_EQ(RunInit(options_, out_, err_), kExitOk);
}

TEST_F(InspectVerb, SaysWhyTheConfigCannotBeWritten) {
  WorkerThatSays(kLine);
  options_.target = base_ + ".none/mpsd.json";
  EXPECT_EQ(RunInit(options_, out_, err_), kExitCannotWrite);
  EXPECT_THAT(err_.str(), HasSubstr(options_.target + ": No such file or directory"));
}

TEST_F(InspectVerb, WritesNothingForAFileThatIsNoModel) {
  WorkerThat(R"(echo '{"error": "no archive"}'; exit 65)");
  EXPECT_EQ(RunInit(options_, out_, err_), kExitNoInput);
  EXPECT_FALSE(std::ifstream(options_.target).is_open());
}

}  // namespace
}  // namespace mpsd::cli
