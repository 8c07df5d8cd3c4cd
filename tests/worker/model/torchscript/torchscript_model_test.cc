#include "worker/model/torchscript/torchscript_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "tests/worker/model/collecting_sink.h"
#include "tests/worker/model/test_device.h"
#include "worker/load/load_model.h"
#include "worker/model/torch/torch_model.h"
#include "worker/tools/model_maker.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class TorchScript : public testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }

  // Makes a model from forward's source, and loads it with `spec` as the config's.
  absl::StatusOr<std::unique_ptr<Model>> LoadSource(const std::string& source,
                                                    const ModelSpec& spec,
                                                    const std::string& archive_json = "") {
    const absl::Status made = MakeScript(source, archive_json, path_);
    if (!made.ok()) return made;
    return LoadPath(spec);
  }
  absl::StatusOr<std::unique_ptr<Model>> LoadPath(const ModelSpec& spec) {
    LoadOrder order;
    order.model = "m";
    order.format = ModelFormat::kTorchScript;
    order.path = path_;
    order.device = TestDevice();
    order.spec = spec;
    absl::StatusOr<std::unique_ptr<Model>> model = LoadModel(order);
    if (!model.ok()) return model;
    EXPECT_TRUE((*model)->BindLane(0).ok());
    return model;
  }
  std::string LoadError(const std::string& source, const ModelSpec& spec) {
    const auto model = LoadSource(source, spec);
    return model.ok() ? "it loaded" : std::string(model.status().message());
  }

  const std::string path_ = testing::TempDir() + "mpsd_" + std::to_string(getpid()) + ".pt";
};

ModelSpec OneInput(Dims dims, uint32_t max_batch_size = 4, DataType datatype = DataType::kFp32) {
  ModelSpec spec;
  spec.max_batch_size = max_batch_size;
  spec.inputs = {{"x", datatype, std::move(dims)}};
  return spec;
}

constexpr char kIdentity[] = "def forward(self, x: Tensor) -> Tensor:\n    return x\n";

TEST_F(TorchScript, RunsTheIdentityBitForBit) {
  ASSERT_TRUE(MakeModel("identity", path_).ok());
  const auto model = LoadPath({});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->traits().device, TestDevice());
  EXPECT_EQ((*model)->spec().max_batch_size, 64u);
  std::vector<float> rows(2 * 256);
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = std::ldexp(1.0f, static_cast<int>(i % 64) - 32);
  const InputTensor input = InputOf(rows, DataType::kFp32, {2, 256});
  CollectingSink sink;
  ASSERT_TRUE((*model)->Run(0, {&input, 1}, 2, &sink).ok());
  EXPECT_EQ(sink.Elements<float>(0), rows);
  EXPECT_EQ(sink.outputs()[0].dims, Dims({2, 256}));
}

TEST_F(TorchScript, AsksForInputsByTheNamesOfForward) {
  EXPECT_EQ(
      LoadError("def forward(self, ids: Tensor, mask: Tensor) -> Tensor:\n    return ids\n", {}),
      "model 'm' does not tell its inputs; say them, for example "
      "--input ids:FP32[-1,…] --input mask:FP32[-1,…]");
}

TEST_F(TorchScript, LearnsTheOutputsOfATensor) {
  const auto model = LoadSource(
      "def forward(self, x: Tensor) -> Tensor:\n    return x.sum([1], True).expand([-1, 3, -1])\n",
      OneInput({-1, 5}));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT((*model)->spec().outputs,
              ElementsAre(TensorSpec{"OUTPUT__0", DataType::kFp32, {3, 5}}));
}

TEST_F(TorchScript, LearnsWhichDimsOfAnOutputVary) {
  const auto model = LoadSource(
      "def forward(self, x: Tensor) -> Tensor:\n    return x.transpose(1, 2)\n", OneInput({-1, 5}));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->spec().outputs[0].dims, Dims({5, -1}));
}

TEST_F(TorchScript, LearnsTheOutputsOfATupleAndAList) {
  const auto tuple =
      LoadSource("def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:\n    return x, x > 0\n",
                 OneInput({2}));
  ASSERT_TRUE(tuple.ok()) << tuple.status();
  EXPECT_THAT((*tuple)->spec().outputs, ElementsAre(TensorSpec{"OUTPUT__0", DataType::kFp32, {2}},
                                                    TensorSpec{"OUTPUT__1", DataType::kBool, {2}}));
  const auto list = LoadSource(
      "def forward(self, x: Tensor) -> List[Tensor]:\n    return [x, x * 2]\n", OneInput({2}));
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ((*list)->spec().outputs.size(), 2u);
}

TEST_F(TorchScript, OrdersTheOutputsOfADictByTheirNames) {
  ModelSpec spec = OneInput({1});
  spec.outputs = {{"b", DataType::kFp32, {1}}, {"a", DataType::kFp32, {1}}};
  const auto model = LoadSource(
      "def forward(self, x: Tensor) -> Dict[str, Tensor]:\n    return {\"a\": x, \"b\": x * 2}\n",
      spec);
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<float> row = {3};
  const InputTensor input = InputOf(row, DataType::kFp32, {1, 1});
  CollectingSink sink;
  ASSERT_TRUE((*model)->Run(0, {&input, 1}, 1, &sink).ok());
  EXPECT_THAT(sink.Elements<float>(0), ElementsAre(6));
  EXPECT_THAT(sink.Elements<float>(1), ElementsAre(3));
}

TEST_F(TorchScript, UsesTheBucketsOfAPadRuleToLearn) {
  ModelSpec spec = OneInput({-1});
  spec.pad = {{"x", 0, {4, 8}, 0, {}}};
  const auto model = LoadSource(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    assert x.size(1) == 4 or x.size(1) == 8, \"no bucket\"\n    return x\n",
      spec);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->spec().outputs[0].dims, Dims({-1}));
}

TEST_F(TorchScript, SaysWhyOutputsCannotBeLearnt) {
  EXPECT_THAT(
      LoadError("def forward(self, x: Tensor) -> Tensor:\n    return x.sum()\n", OneInput({2})),
      HasSubstr("its first dim must be the batch, or max_batch_size must be 0"));
  EXPECT_THAT(LoadError("def forward(self, x: Tensor) -> int:\n    return 3\n", OneInput({2})),
              HasSubstr("forward returned int"));
  EXPECT_THAT(LoadError("def forward(self, x: Tensor) -> Tensor:\n"
                        "    assert x.size(1) > 9, \"too short\"\n    return x\n",
                        OneInput({-1})),
              HasSubstr("too short; say them, for example --output output:FP32[-1,…]"));
}

TEST_F(TorchScript, ServesAModelWithoutBatchDim) {
  const auto model = LoadSource("def forward(self, x: Tensor) -> Tensor:\n    return x.sum()\n",
                                OneInput({2}, /*max_batch_size=*/0));
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<float> row = {3, 4};
  const InputTensor input = InputOf(row, DataType::kFp32, {2});
  CollectingSink sink;
  ASSERT_TRUE((*model)->Run(0, {&input, 1}, 1, &sink).ok());
  EXPECT_THAT(sink.Elements<float>(0), ElementsAre(7));
  EXPECT_TRUE(sink.outputs()[0].dims.empty());
}

TEST_F(TorchScript, RefusesAnArgumentThatIsNoInput) {
  EXPECT_THAT(LoadError("def forward(self, x: Tensor, n: int) -> Tensor:\n    return x * n\n",
                        OneInput({2})),
              HasSubstr("forward's argument 'n' (int) is none of the inputs, and has no default"));
  EXPECT_EQ(LoadError("def forward(self, x: Tensor, n: int = 2) -> Tensor:\n    return x * n\n",
                      OneInput({2})),
            "it loaded");
}

class TorchScriptDatatype : public TorchScript, public testing::WithParamInterface<DataType> {};

TEST_P(TorchScriptDatatype, PassesThrough) {
  const auto model = LoadSource(kIdentity, OneInput({3}, 4, GetParam()));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->spec().outputs[0].datatype, GetParam());
  const std::vector<uint8_t> bytes(2 * 3 * ElementBytes(GetParam()), 1);
  const InputTensor input = InputOf(bytes, GetParam(), {2, 3});
  CollectingSink sink;
  const absl::Status status = (*model)->Run(0, {&input, 1}, 2, &sink);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(sink.Elements<uint8_t>(0), bytes);
}

INSTANTIATE_TEST_SUITE_P(All, TorchScriptDatatype,
                         testing::Values(DataType::kBool, DataType::kUint8, DataType::kUint16,
                                         DataType::kUint32, DataType::kUint64, DataType::kInt8,
                                         DataType::kInt16, DataType::kInt32, DataType::kInt64,
                                         DataType::kFp16, DataType::kFp32, DataType::kFp64,
                                         DataType::kBf16),
                         [](const testing::TestParamInfo<DataType>& test) {
                           return std::string(DataTypeName(test.param));
                         });

TEST_F(TorchScript, GivesWhatTheModelThrewInOneLine) {
  ASSERT_TRUE(MakeModel("throws", path_).ok());
  const auto model = LoadPath({});
  ASSERT_TRUE(model.ok()) << model.status();
  std::vector<float> row(16, 1);
  const InputTensor input = InputOf(row, DataType::kFp32, {1, 16});
  CollectingSink sink;
  EXPECT_TRUE((*model)->Run(0, {&input, 1}, 1, &sink).ok());
  row[7] = std::numeric_limits<float>::quiet_NaN();
  const absl::Status status = (*model)->Run(0, {&input, 1}, 1, &sink);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(), "PyTorch execute failure: AssertionError: the input holds a NaN");
}

TEST_F(TorchScript, RefusesAnswersThatAreNotAsTheSpecSays) {
  ModelSpec spec = OneInput({2});
  spec.outputs = {{"y", DataType::kFp32, {2}}};
  const std::vector<float> rows = {1, 2, 3, 4};
  const InputTensor input = InputOf(rows, DataType::kFp32, {2, 2});
  const auto run = [&](const std::string& expression) -> std::string {
    const auto model = LoadSource(
        "def forward(self, x: Tensor) -> Tensor:\n    return " + expression + "\n", spec);
    if (!model.ok()) return std::string(model.status().message());
    CollectingSink sink;
    return std::string((*model)->Run(0, {&input, 1}, 2, &sink).message());
  };
  EXPECT_EQ(run("x"), "");
  EXPECT_EQ(run("x[:1]"),
            "PyTorch execute failure: output 'y' has the shape [1,2] for a batch of 2 rows");
  EXPECT_EQ(run("x > 1"), "PyTorch execute failure: output 'y' is of the type Bool, not FP32");
  EXPECT_EQ(run("x[:, :1]"),
            "PyTorch execute failure: output 'y' has rows of the shape [1], not [2]");
}

TEST_F(TorchScript, CopiesOutputsOfAnyStrides) {
  const auto model = LoadSource(
      "def forward(self, x: Tensor) -> Tensor:\n    return x.transpose(1, 2)\n", OneInput({2, 3}));
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<float> row = {1, 2, 3, 4, 5, 6};
  const InputTensor input = InputOf(row, DataType::kFp32, {1, 2, 3});
  CollectingSink sink;
  ASSERT_TRUE((*model)->Run(0, {&input, 1}, 1, &sink).ok());
  EXPECT_THAT(sink.Elements<float>(0), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST_F(TorchScript, NeverWritesItsInputs) {
  const auto model = LoadSource(
      "def forward(self, x: Tensor) -> Tensor:\n    x.add_(1)\n    return x\n", OneInput({4}));
  ASSERT_TRUE(model.ok()) << model.status();
  const long page_bytes = sysconf(_SC_PAGESIZE);
  void* page =
      mmap(nullptr, static_cast<size_t>(page_bytes), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const InputTensor input = {page, 16, DataType::kFp32, {1, 4}};
  CollectingSink sink;
  ASSERT_TRUE((*model)->Run(0, {&input, 1}, 1, &sink).ok());
  EXPECT_THAT(sink.Elements<float>(0), ElementsAre(1, 1, 1, 1));
  munmap(page, static_cast<size_t>(page_bytes));
}

TEST_F(TorchScript, TakesRowsOfNoElements) {
  const auto model = LoadSource(kIdentity, OneInput({-1}));
  ASSERT_TRUE(model.ok()) << model.status();
  const InputTensor input = {nullptr, 0, DataType::kFp32, {2, 0}};
  CollectingSink sink;
  ASSERT_TRUE((*model)->Run(0, {&input, 1}, 2, &sink).ok());
  EXPECT_EQ(sink.outputs()[0].dims, Dims({2, 0}));
}

TEST_F(TorchScript, GivesLanesTheSameAnswersAtTheSameTime) {
  ASSERT_TRUE(MakeModel("mlp_256x512x4", path_).ok());
  const auto model = LoadPath({});
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<float> rows(2 * 256, 0.5f);
  const InputTensor input = InputOf(rows, DataType::kFp32, {2, 256});
  CollectingSink expected;
  ASSERT_TRUE((*model)->Run(0, {&input, 1}, 2, &expected).ok());
  std::vector<std::thread> lanes;
  for (uint32_t lane = 0; lane < 3; ++lane) {
    lanes.emplace_back([&, lane] {
      EXPECT_TRUE((*model)->BindLane(lane).ok());
      for (int i = 0; i < 20; ++i) {
        CollectingSink sink;
        ASSERT_TRUE((*model)->Run(lane, {&input, 1}, 2, &sink).ok());
        ASSERT_EQ(sink.outputs()[0].bytes, expected.outputs()[0].bytes);
      }
    });
  }
  for (std::thread& lane : lanes) lane.join();
}

TEST_F(TorchScript, SaysWhatAFileIsThatIsNoArchive) {
  std::ofstream(path_) << "no archive";
  const auto model = LoadPath(OneInput({2}));
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(std::string(model.status().message()), HasSubstr("cannot load '" + path_ + "'"));
  EXPECT_THAT(std::string(model.status().message()), HasSubstr("it is no TorchScript archive"));
  EXPECT_THAT(std::string(model.status().message()), Not(HasSubstr("\n")));
}

TEST_F(TorchScript, SaysInItsOwnWordsThatAFileCannotBeRead) {
  std::filesystem::create_directory(path_);
  EXPECT_EQ(LoadPath(OneInput({2})).status(),
            absl::NotFoundError("model 'm': there is no file '" + path_ + "'"));
  LoadOrder order;
  order.model = "m";
  order.path = "/a/b c.pt";
  EXPECT_EQ(
      CannotLoad(order, "open file failed because of errno 13 on fopen: Permission denied"),
      absl::PermissionDeniedError("model 'm': cannot load '/a/b c.pt': its file cannot be read"));
  EXPECT_EQ(CannotLoad(order, "DefaultCPUAllocator: can't allocate memory").code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(
      CannotLoad(order, "no record in /a/b c.pt"),
      absl::InvalidArgumentError("model 'm': cannot load '/a/b c.pt': no record in the file"));
}

TEST_F(TorchScript, RefusesADeviceThatIsNotThere) {
  ASSERT_TRUE(MakeModel("identity", path_).ok());
  LoadOrder order;
  order.model = "m";
  order.format = ModelFormat::kTorchScript;
  order.path = path_;
  order.device = "toaster";
  EXPECT_THAT(std::string(LoadModel(order).status().message()), HasSubstr("device 'toaster'"));
  order.device = "xpu";
  EXPECT_THAT(std::string(LoadModel(order).status().message()), HasSubstr("without xpu"));
}

TEST_F(TorchScript, EveryMadeModelLoadsAndRunsZeros) {
  for (const std::string& name : MadeModels(/*large=*/false)) {
    ASSERT_TRUE(MakeModel(name, path_).ok()) << name;
    const auto model = LoadPath({});
    ASSERT_TRUE(model.ok()) << name << ": " << model.status();
    const ModelSpec& spec = (*model)->spec();
    Dims dims = {2};
    for (const int64_t dim : spec.inputs[0].dims) dims.push_back(dim < 0 ? 5 : dim);
    const std::vector<char> zeros(*TensorBytes(spec.inputs[0].datatype, dims));
    const InputTensor input = InputOf(zeros, spec.inputs[0].datatype, dims);
    CollectingSink sink;
    const absl::Status status = (*model)->Run(0, {&input, 1}, 2, &sink);
    ASSERT_TRUE(status.ok()) << name << ": " << status;
    EXPECT_EQ(sink.outputs().size(), spec.outputs.size());
  }
}

}  // namespace
}  // namespace mpsd
