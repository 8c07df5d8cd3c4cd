#include "worker/model/aoti/aoti_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "proto/base/clock.h"
#include "tests/worker/model/collecting_sink.h"
#include "tests/worker/model/test_device.h"
#include "tests/worker/tools/package_folder.h"
#include "worker/execute/concurrency_check.h"
#include "worker/execute/record_runs.h"
#include "worker/load/load_model.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

absl::StatusOr<std::unique_ptr<Model>> Load(const std::string& file, uint32_t lanes = 1,
                                            const ModelSpec& spec = {},
                                            ModelFormat format = ModelFormat::kAoti) {
  LoadOrder order;
  order.model = "m";
  order.format = format;
  order.path = PackagePath(file);
  order.device = TestDevice();
  order.lanes = lanes;
  order.spec = spec;
  return LoadModel(order);
}

std::string LoadError(const std::string& file) {
  const auto model = Load(file);
  return model.ok() ? "it loaded" : std::string(model.status().message());
}

std::vector<float> Answer(Model* model, uint32_t rows) {
  const std::vector<float> halves(rows * 16, 0.5F);
  const InputTensor input = InputOf(halves, DataType::kFp32, {rows, 16});
  CollectingSink sink;
  EXPECT_TRUE(model->BindLane(0).ok());
  const absl::Status status = model->Run(0, {&input, 1}, rows, &sink);
  EXPECT_TRUE(status.ok()) << status;
  return status.ok() ? sink.Elements<float>(0) : std::vector<float>();
}

std::vector<float> Expected() {
  std::ifstream file(PackagePath("mlp_expected.bin"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<float> row(bytes.size() / sizeof(float));
  std::memcpy(row.data(), bytes.data(), bytes.size());
  return row;
}

TEST(Aoti, AnswersAsPythonDoesAtEveryBatchSize) {
  const auto model = Load("mlp.pt2");
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<float> row = Expected();
  ASSERT_EQ(row.size(), 4u);
  for (const uint32_t rows : {1u, 2u, 3u, 17u, 64u}) {
    const std::vector<float> answer = Answer(model->get(), rows);
    ASSERT_EQ(answer.size(), rows * 4) << rows;
    for (size_t i = 0; i < answer.size(); ++i) EXPECT_NEAR(answer[i], row[i % 4], 1e-5) << rows;
  }
}

TEST(Aoti, AnswersAsTheSameModelInTorchScript) {
  const auto script = Load("mlp.pt", 1, {}, ModelFormat::kTorchScript);
  ASSERT_TRUE(script.ok()) << script.status();
  const std::vector<float> row = Expected();
  const std::vector<float> answer = Answer(script->get(), 2);
  ASSERT_EQ(answer.size(), 8u);
  for (size_t i = 0; i < answer.size(); ++i) EXPECT_NEAR(answer[i], row[i % 4], 1e-5);
}

TEST(Aoti, KnowsItselfByItsMetadata) {
  const auto model = Load("mlp.pt2");
  ASSERT_TRUE(model.ok()) << model.status();
  const ModelSpec& spec = (*model)->spec();
  EXPECT_EQ(spec.max_batch_size, 64u);
  EXPECT_EQ(spec.inputs[0], (TensorSpec{"x", DataType::kFp32, {16}}));
  EXPECT_EQ(spec.outputs[0], (TensorSpec{"y", DataType::kFp32, {4}}));
  const Census census = (*model)->traits().census;
  EXPECT_TRUE(census.known);
  EXPECT_EQ(census.linear, 2u);
  EXPECT_EQ(census.layer_norm, 1u);
  EXPECT_EQ(census.parameter_bytes, (16 * 32 + 32 + 2 * 32 + 32 * 4 + 4) * 4u);
}

TEST(Aoti, PassesEveryDatatypeBitForBit) {
  const auto model = Load("datatypes.pt2");
  ASSERT_TRUE(model.ok()) << model.status();
  const ModelSpec& spec = (*model)->spec();
  ASSERT_EQ(spec.inputs.size(), 13u);
  std::vector<std::string> memory;
  std::vector<InputTensor> inputs;
  memory.reserve(spec.inputs.size());
  for (const TensorSpec& tensor : spec.inputs) {
    const Dims dims = {2, 3};
    std::string bytes(*TensorBytes(tensor.datatype, dims), '\1');
    // Patterns that would not survive a conversion through another type.
    if (tensor.datatype != DataType::kBool) {
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 37 + 3);
    }
    memory.push_back(std::move(bytes));
    inputs.push_back({memory.back().data(), memory.back().size(), tensor.datatype, dims});
  }
  CollectingSink sink;
  ASSERT_TRUE((*model)->BindLane(0).ok());
  const absl::Status status = (*model)->Run(0, inputs, 2, &sink);
  ASSERT_TRUE(status.ok()) << status;
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(spec.outputs[i].datatype, spec.inputs[i].datatype);
    EXPECT_EQ(sink.outputs()[i].bytes, memory[i]) << DataTypeName(spec.inputs[i].datatype);
  }
}

TEST(Aoti, NeverWritesItsInputs) {
  const auto model = Load("writes.pt2");
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<float> ones(4, 1);
  const InputTensor input = InputOf(ones, DataType::kFp32, {1, 4});
  CollectingSink sink;
  ASSERT_TRUE((*model)->BindLane(0).ok());
  ASSERT_TRUE((*model)->Run(0, {&input, 1}, 1, &sink).ok());
  EXPECT_EQ(sink.Elements<float>(0), std::vector<float>(4, 4));
  EXPECT_EQ(ones, std::vector<float>(4, 1));
}

TEST(Aoti, HasARunnerForEachLane) {
  const auto model = Load("mlp.pt2", /*lanes=*/4);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(CheckConcurrency(model->get(), 4).ok());
}

TEST(Aoti, RecordedRunsAnswerAsOthersDo) {
  for (const char* file : {"mlp.pt2", "writes.pt2", "datatypes.pt2"}) {
    const auto model = Load(file, /*lanes=*/2);
    ASSERT_TRUE(model.ok()) << model.status();
    if ((*model)->recorder() == nullptr) GTEST_SKIP() << "no device that records";
    for (const uint32_t lane : {0u, 1u}) {
      std::thread([&] {
        ASSERT_TRUE((*model)->BindLane(lane).ok());
        const absl::StatusOr<RecordReport> report = RecordRuns(model->get(), lane, Clock::Real());
        ASSERT_TRUE(report.ok()) << report.status();
        EXPECT_EQ(report->kept, report->tried) << file << ": " << report->Text();
        EXPECT_GT(report->kept, 0u);
        (*model)->ReleaseLane(lane);
      }).join();
    }
  }
}

TEST(Aoti, OfManyLanesNoneRecords) {
  const auto few = Load("mlp.pt2", /*lanes=*/3);
  const auto many = Load("mlp.pt2", /*lanes=*/4);
  ASSERT_TRUE(few.ok() && many.ok()) << few.status() << many.status();
  if ((*few)->recorder() == nullptr) GTEST_SKIP() << "no device that records";
  EXPECT_EQ((*many)->recorder(), nullptr);
}

TEST(Aoti, UnpacksIntoTmpdirAndCleansUpBehindItself) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  const std::string folder = testing::TempDir() + "mpsd_aoti_" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  setenv("TMPDIR", folder.c_str(), 1);
  {
    const auto model = Load("mlp.pt2");
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_FALSE(std::filesystem::is_empty(folder));
    EXPECT_EQ(Answer(model->get(), 1).size(), 4u);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_NE(LoadError("truncated.pt2"), "it loaded");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
  if (before == nullptr) {
    unsetenv("TMPDIR");
  } else {
    setenv("TMPDIR", kept.c_str(), 1);
  }
}

TEST(Aoti, ATorchScriptArchiveIsNoPackage) {
  EXPECT_THAT(LoadError("mlp.pt"), HasSubstr("the package holds no compiled model; export it"));
}

TEST(Aoti, WithoutMetadataPrintsTheStanzaAndTakesIt) {
  EXPECT_THAT(LoadError("no_metadata.pt2"), HasSubstr(R"("inputs": [{"name": "input")"));
  ModelSpec spec;
  spec.max_batch_size = 8;
  spec.inputs = {{"x", DataType::kFp32, {16}}};
  spec.outputs = {{"y", DataType::kFp32, {4}}};
  const auto model = Load("no_metadata.pt2", 1, spec);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(Answer(model->get(), 5).size(), 20u);
}

TEST(Aoti, SaysForWhatElseAPackageWasCompiled) {
  EXPECT_THAT(LoadError("other_machine.pt2"), HasSubstr("was compiled for toaster64, but this"));
  if (TestDevice() != "cpu") return;
  EXPECT_THAT(LoadError("other_device.pt2"),
              HasSubstr("was compiled for cuda, but the model's device is cpu"));
}

TEST(Aoti, SaysThatAFileIsNoPackage) {
  EXPECT_THAT(LoadError("truncated.pt2"), HasSubstr("it is no .pt2 package, or is cut short"));
  EXPECT_THAT(LoadError("mlp_expected.bin"), HasSubstr("it is no .pt2 package, or is cut short"));
}

}  // namespace
}  // namespace mpsd
