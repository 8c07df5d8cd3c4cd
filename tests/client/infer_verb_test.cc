#include "client/cli/infer_verb.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/match.h"
#include "client/format/npy.h"
#include "client/tensor.h"
#include "proto/files/whole_file.h"
#include "tests/client/full_output.h"
#include "tests/fakes/fake_inference_server.h"

namespace mpsd::cli {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;

template <class T>
std::string BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

void AddInput(inference::ModelMetadataResponse* metadata, const std::string& name,
              const std::string& datatype, const std::vector<int64_t>& shape) {
  auto* input = metadata->add_inputs();
  input->set_name(name);
  input->set_datatype(datatype);
  input->mutable_shape()->Add(shape.begin(), shape.end());
}

// A vector of two for each row: (1, 0), (1, 1), (1, 2), ...
grpc::Status Embed(grpc::ServerContext&, const ModelInferRequest& request,
                   ModelInferResponse* response) {
  std::vector<float> values;
  for (int64_t i = 0; i < request.inputs(0).shape(0); ++i) {
    values.insert(values.end(), {1, static_cast<float>(i)});
  }
  response->set_model_name("m");
  response->set_model_version("1");
  auto* output = response->add_outputs();
  output->set_name("y");
  output->set_datatype("FP32");
  output->add_shape(request.inputs(0).shape(0));
  output->add_shape(2);
  response->add_raw_output_contents(BytesOf(values));
  return grpc::Status::OK;
}

class InferVerbTest : public testing::Test {
 protected:
  InferVerbTest() {
    server_.metadata.set_name("m");
    AddInput(&server_.metadata, "x", "FP32", {-1, 3});
    server_.infer = Embed;
    options_.server.address = server_.address();
    options_.model = "m";
  }

  void ServeTexts() { AddInput(&server_.metadata, "text", "BYTES", {-1, 1}); }

  int Run() {
    server_.Start();
    return RunInfer(options_, out_, err_);
  }

  FakeInferenceServer server_;
  InferOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(InferVerbTest, SendsAFileAndKeepsAnOutput) {
  const std::string input = server_.folder() + "/x.npy";
  const std::string output = server_.folder() + "/y.npy";
  const std::string bytes = BytesOf<float>({1, 2, 3});
  ASSERT_TRUE(WriteWholeFile(input, *FormatNpy({DataType::kFp32, {1, 3}, bytes})).ok());
  options_.inputs = {"x=@" + input};
  options_.outputs = {"y=@" + output};
  options_.id = "seven";
  EXPECT_EQ(Run(), 0) << err_.str();
  const ModelInferRequest sent = server_.LastInfer();
  EXPECT_EQ(sent.raw_input_contents(0), bytes);
  EXPECT_EQ(sent.outputs(0).name(), "y");
  EXPECT_EQ(sent.id(), "seven");
  EXPECT_TRUE(absl::StrContains(out_.str(), "y       FP32      [1,2]")) << out_.str();
  EXPECT_EQ(ParseNpy(*ReadWholeFile(output, 4096))->bytes, BytesOf<float>({1, 0}));
}

TEST_F(InferVerbTest, SendsElementsThatWereTyped) {
  options_.inputs = {"x=1,-2.5,3e1,4,5,6"};
  EXPECT_EQ(Run(), 0) << err_.str();
  const ModelInferRequest sent = server_.LastInfer();
  EXPECT_EQ(sent.raw_input_contents(0), BytesOf<float>({1, -2.5, 30, 4, 5, 6}));
  EXPECT_EQ(sent.inputs(0).shape(0), 2);
  EXPECT_EQ(sent.inputs(0).shape(1), 3);
}

TEST_F(InferVerbTest, SendsAFileOfJson) {
  const std::string input = server_.folder() + "/x.json";
  ASSERT_TRUE(WriteWholeFile(input, "[[1, 2, 3], [4, 5, 6]]").ok());
  options_.inputs = {"x=@" + input};
  EXPECT_EQ(Run(), 0) << err_.str();
  EXPECT_EQ(server_.LastInfer().raw_input_contents(0), BytesOf<float>({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(server_.LastInfer().inputs(0).shape(0), 2);
}

TEST_F(InferVerbTest, Exits64ForElementsThatDoNotFitTheModel) {
  options_.inputs = {"x=1,2"};
  EXPECT_EQ(Run(), 64);
  options_.inputs = {"x=1,two,3"};
  EXPECT_EQ(RunInfer(options_, out_, err_), 64);
  EXPECT_EQ(err_.str(),
            "mpsd: input 'x': 2 elements do not make up [-1,3]\n"
            "mpsd: input 'x': 'two' is no FP32\n");
}

TEST_F(InferVerbTest, MakesRandomInputsOfTheModelsShape) {
  options_.inputs = {"x=random"};
  EXPECT_EQ(Run(), 0) << err_.str();
  EXPECT_EQ(server_.LastInfer().inputs(0).shape(0), 1);
  EXPECT_EQ(server_.LastInfer().inputs(0).shape(1), 3);
  EXPECT_EQ(server_.LastInfer().raw_input_contents(0).size(), 12U);
}

TEST_F(InferVerbTest, PutsTheBatchWhereTheModelLeavesDim0Open) {
  options_.inputs = {"x=random"};
  options_.batch = 5;
  EXPECT_EQ(Run(), 0) << err_.str();
  EXPECT_EQ(server_.LastInfer().inputs(0).shape(0), 5);
}

TEST_F(InferVerbTest, TakesTheShapeThatWasAskedFor) {
  options_.inputs = {"x=random"};
  options_.shapes = {"x=2,7"};
  EXPECT_EQ(Run(), 0) << err_.str();
  EXPECT_EQ(server_.LastInfer().inputs(0).shape(1), 7);
}

TEST_F(InferVerbTest, SendsTextsAsTheyAre) {
  ServeTexts();
  options_.texts = {"Hello", "hello w\xff"};
  EXPECT_EQ(Run(), 0) << err_.str();
  const ModelInferRequest sent = server_.LastInfer();
  ASSERT_EQ(sent.inputs_size(), 1);
  EXPECT_EQ(sent.inputs(0).name(), "text");
  EXPECT_EQ(sent.inputs(0).datatype(), "BYTES");
  EXPECT_EQ(sent.inputs(0).shape(0), 2);
  EXPECT_EQ(sent.inputs(0).shape(1), 1);
  EXPECT_EQ(sent.raw_input_contents(0), client::PackBytes(options_.texts));
  EXPECT_TRUE(absl::StrContains(out_.str(), "2  0.7071  1.0000")) << out_.str();
}

TEST_F(InferVerbTest, SaysHowManyTextsTheServerCut) {
  ServeTexts();
  server_.infer = [infer = server_.infer](auto& rpc, const auto& request, auto* response) {
    (*response->mutable_parameters())["truncated_texts"].set_int64_param(1);
    return infer(rpc, request, response);
  };
  options_.texts = {"hello", "world"};
  options_.server.json = true;
  EXPECT_EQ(Run(), 0) << err_.str();
  EXPECT_EQ(err_.str(),
            "mpsd: 1 of 2 texts had too many tokens for the model: their rest was cut\n");
  EXPECT_EQ(nlohmann::json::parse(out_.str())["truncated_texts"], 1);
}

TEST_F(InferVerbTest, WritesJsonForPrograms) {
  ServeTexts();
  options_.texts = {"hello", "world"};
  options_.server.json = true;
  EXPECT_EQ(Run(), 0) << err_.str();
  const auto report = nlohmann::json::parse(out_.str());
  EXPECT_EQ(report["outputs"][0]["data"], nlohmann::json({1.0, 0.0, 1.0, 1.0}));
  EXPECT_EQ(report["outputs"][0]["shape"], nlohmann::json({2, 2}));
  EXPECT_EQ(report["texts"][1]["text"], "world");
  EXPECT_NEAR(report["cosine"][0][1].get<double>(), 0.70710678, 1e-6);
}

TEST_F(InferVerbTest, AReportThatCannotBeWrittenIsAnErrorAndFilesAreWritten) {
  options_.inputs = {"x=random"};
  options_.outputs = {"y=@" + server_.folder() + "/y.npy"};
  server_.Start();
  FullOutput full;
  EXPECT_EQ(RunInfer(options_, full, err_), kExitCannotWrite);
  EXPECT_EQ(err_.str(), "mpsd: the output cannot be written\n");
  EXPECT_TRUE(ReadWholeFile(server_.folder() + "/y.npy", 1 << 20).ok());
}

TEST_F(InferVerbTest, Exits1WithTheServersText) {
  server_.infer = [](auto&, auto&, auto*) {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "worker lost");
  };
  options_.inputs = {"x=random"};
  EXPECT_EQ(Run(), 1);
  EXPECT_EQ(err_.str(), "mpsd: UNAVAILABLE: worker lost\n");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(InferVerbTest, Exits1ForAnUnknownModel) {
  options_.model = "other";
  options_.inputs = {"x=random"};
  EXPECT_EQ(Run(), 1);
  EXPECT_EQ(err_.str(), "mpsd: NOT_FOUND: Request for unknown model: 'other' is not found\n");
}

TEST_F(InferVerbTest, Exits64ForACommandLineWithoutSense) {
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> wrong = {
      {{}, {}},
      {{"x"}, {}},
      {{"x=file.npy"}, {}},
      {{"=random"}, {}},
      {{"x=@"}, {}},
      {{"x=random"}, {"x=1,a"}},
      {{"x=random"}, {"x"}},
      {{"x=random"}, {"z=1"}},
      {{"x=random"}, {"x=-1"}},
  };
  server_.Start();
  for (const auto& [inputs, shapes] : wrong) {
    options_.inputs = inputs;
    options_.shapes = shapes;
    EXPECT_EQ(RunInfer(options_, out_, err_), 64) << testing::PrintToString(inputs);
  }
  options_.inputs = {"x=random"};
  options_.shapes = {};
  for (const char* timeout : {"5", "0", "-1s"}) {
    options_.server.timeout = timeout;
    EXPECT_EQ(RunInfer(options_, out_, err_), 64) << timeout;
  }
}

TEST_F(InferVerbTest, Exits64ForAnInputThatTheModelHasNot) {
  options_.inputs = {"z=random"};
  EXPECT_EQ(Run(), 64);
  EXPECT_EQ(err_.str(), "mpsd: input 'z': model 'm' has none of this name; its inputs are x\n");
}

TEST_F(InferVerbTest, Exits64WhereTheModelTakesNoTexts) {
  options_.texts = {"hello"};
  EXPECT_EQ(Run(), 64);
  EXPECT_EQ(err_.str(), "mpsd: input 'text': model 'm' takes no --text\n");
}

TEST_F(InferVerbTest, Exits66ForAFileThatCannotBeRead) {
  options_.inputs = {"x=@" + server_.folder() + "/none.npy"};
  EXPECT_EQ(Run(), 66);
  EXPECT_TRUE(absl::StrContains(err_.str(), "none.npy")) << err_.str();
}

TEST_F(InferVerbTest, Exits69WhereNobodyListens) {
  options_.inputs = {"x=random"};
  EXPECT_EQ(RunInfer(options_, out_, err_), 69);
  EXPECT_EQ(err_.str(), "mpsd: no server is reachable at " + server_.address() +
                            ": No such file or directory\n");
}

TEST_F(InferVerbTest, Exits73WhereAnOutputCannotBeWritten) {
  options_.inputs = {"x=random"};
  options_.outputs = {"y=@" + server_.folder() + "/no/such/folder/y.npy"};
  EXPECT_EQ(Run(), 73);
}

}  // namespace
}  // namespace mpsd::cli
