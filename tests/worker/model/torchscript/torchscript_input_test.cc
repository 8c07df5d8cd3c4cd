// The inputs and outputs that a model may have, and the uses of them that it may not make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "tests/worker/model/torchscript/script_rig.h"
#include "worker/model/elements.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TorchScriptInput : public ScriptRig {
 protected:
  // Runs the model on one row of 4 elements in memory that cannot be written.
  std::vector<float> RunReadOnly(Model* model, const std::vector<float>& row) {
    const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* page =
        mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(page, row.data(), row.size() * sizeof(float));
    mprotect(page, page_bytes, PROT_READ);
    const InputTensor input = {
        page, row.size() * sizeof(float), DataType::kFp32, {1, static_cast<int64_t>(row.size())}};
    CollectingSink sink;
    const absl::Status status = Run(model, {&input, 1}, 1, &sink);
    EXPECT_TRUE(status.ok()) << status;
    const bool unchanged = std::memcmp(page, row.data(), row.size() * sizeof(float)) == 0;
    EXPECT_TRUE(unchanged);
    munmap(page, page_bytes);
    return sink.Elements<float>(0);
  }
};

TEST_F(TorchScriptInput, WrittenForSomeDataOnlyIsStillNeverWritten) {
  const auto model = LoadSource(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    if bool((x[0, 0] > 5).item()):\n        x.add_(1)\n    return x * 1\n",
      SpecOf({4}));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(RunReadOnly(model->get(), {1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(RunReadOnly(model->get(), {6, 7, 8, 9}), ElementsAre(7, 8, 9, 10));
}

TEST_F(TorchScriptInput, WrittenThroughAViewIsNeverWritten) {
  const auto model = LoadSource(
      "def forward(self, x: Tensor) -> Tensor:\n    y = x[:, 1:3]\n    y.mul_(10)\n    return x\n",
      SpecOf({4}));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(RunReadOnly(model->get(), {1, 2, 3, 4}), ElementsAre(1, 20, 30, 4));
}

TEST_F(TorchScriptInput, WrittenByIndexAssignmentInALoopIsNeverWritten) {
  const auto model = LoadSource(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    for i in range(x.size(1)):\n        x[:, i] = float(i)\n    return x\n",
      SpecOf({4}));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(RunReadOnly(model->get(), {9, 9, 9, 9}), ElementsAre(0, 1, 2, 3));
}

TEST_F(TorchScriptInput, TrainingModeIsRefusedUnlessItIsToBeEvaluated) {
  ASSERT_TRUE(MakeTrainingModel(path_).ok());
  const auto refused = LoadPath({});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("model 'm': it was saved in training mode"));
  const auto model = LoadPath({}, {{"training_mode", "evaluate"}});
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<float> row(8, 1);
  const InputTensor input = InputOf(row, DataType::kFp32, {1, 8});
  CollectingSink first;
  CollectingSink second;
  ASSERT_TRUE(Run(model->get(), {&input, 1}, 1, &first).ok());
  ASSERT_TRUE(Run(model->get(), {&input, 1}, 1, &second).ok());
  EXPECT_EQ(first.outputs()[0].bytes, second.outputs()[0].bytes) << "no dropout";
}

TEST_F(TorchScriptInput, AModelThatReturnsNothingIsRefused) {
  EXPECT_THAT(LoadError("def forward(self, x: Tensor):\n    y = x + 1\n", SpecOf({2})),
              HasSubstr("forward returned NoneType"));
  ModelSpec spec = SpecOf({2});
  spec.outputs = {{"y", DataType::kFp32, {2}}};
  const auto model = LoadSource("def forward(self, x: Tensor):\n    y = x + 1\n", spec);
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<float> row(2, 1);
  const InputTensor input = InputOf(row, DataType::kFp32, {1, 2});
  CollectingSink sink;
  const absl::Status status = Run(model->get(), {&input, 1}, 1, &sink);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("forward returned NoneType"));
}

TEST_F(TorchScriptInput, NanAndInfinityPassBitForBit) {
  const auto model =
      LoadSource("def forward(self, x: Tensor) -> Tensor:\n    return x.clone()\n", SpecOf({5}));
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<uint32_t> bits = {0x7FC00000, 0x7FC12345, 0xFF800000, 0x7F800000, 0x80000000};
  const InputTensor input = InputOf(bits, DataType::kFp32, {1, 5});
  CollectingSink sink;
  ASSERT_TRUE(Run(model->get(), {&input, 1}, 1, &sink).ok());
  EXPECT_EQ(sink.Elements<uint32_t>(0), bits);
}

TEST_F(TorchScriptInput, SeveralInputsAreTakenByName) {
  ModelSpec spec;
  spec.max_batch_size = 4;
  spec.inputs = {{"b", DataType::kFp32, {1}}, {"a", DataType::kFp32, {1}}};
  const auto model = LoadSource(
      "def forward(self, a: Tensor, b: Tensor) -> Tensor:\n    return a * 10 + b\n", spec);
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<float> b = {1};
  const std::vector<float> a = {2};
  const InputTensor inputs[] = {InputOf(b, DataType::kFp32, {1, 1}),
                                InputOf(a, DataType::kFp32, {1, 1})};
  CollectingSink sink;
  ASSERT_TRUE(Run(model->get(), inputs, 1, &sink).ok());
  EXPECT_THAT(sink.Elements<float>(0), ElementsAre(21));
}

TEST_F(TorchScriptInput, AnOptionalArgumentThatIsNoInputIsNone) {
  constexpr char kSource[] =
      "def forward(self, x: Tensor, mask: Optional[Tensor] = None) -> Tensor:\n"
      "    if mask is None:\n        return x + 100\n    return x * mask\n";
  const auto without = LoadSource(kSource, SpecOf({1}));
  ASSERT_TRUE(without.ok()) << without.status();
  const std::vector<float> three = {3};
  const InputTensor x = InputOf(three, DataType::kFp32, {1, 1});
  CollectingSink sink;
  ASSERT_TRUE(Run(without->get(), {&x, 1}, 1, &sink).ok());
  EXPECT_THAT(sink.Elements<float>(0), ElementsAre(103));

  ModelSpec spec = SpecOf({1});
  spec.inputs.push_back({"mask", DataType::kFp32, {1}});
  const auto with = LoadSource(kSource, spec);
  ASSERT_TRUE(with.ok()) << with.status();
  const InputTensor both[] = {x, x};
  CollectingSink masked;
  ASSERT_TRUE(Run(with->get(), both, 1, &masked).ok());
  EXPECT_THAT(masked.Elements<float>(0), ElementsAre(9));
}

TEST_F(TorchScriptInput, AnOptionalInputThatIsLeftOutIsTheDefaultOfItsArgument) {
  ModelSpec spec = SpecOf({1});
  spec.inputs.push_back({"a", DataType::kFp32, {1}, /*optional=*/true});
  spec.inputs.push_back({"b", DataType::kFp32, {1}, /*optional=*/true});
  const auto model = LoadSource(
      "def forward(self, x: Tensor, a: Optional[Tensor] = None, b: Optional[Tensor] = None) -> "
      "Tensor:\n"
      "    if a is not None:\n        x = x + a\n"
      "    if b is not None:\n        x = x * b\n    return x + 100\n",
      spec);
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<float> three = {3};
  const InputTensor x = InputOf(three, DataType::kFp32, {1, 1});
  const auto answer = [&](const InputTensor& a, const InputTensor& b) {
    const InputTensor inputs[] = {x, a, b};
    CollectingSink sink;
    EXPECT_TRUE(Run(model->get(), inputs, 1, &sink).ok());
    return sink.Elements<float>(0);
  };
  EXPECT_THAT(answer(x, x), ElementsAre(118));
  EXPECT_THAT(answer(x, {}), ElementsAre(106));
  EXPECT_THAT(answer({}, x), ElementsAre(109));
  EXPECT_THAT(answer({}, {}), ElementsAre(103));
}

TEST_F(TorchScriptInput, AnOptionalInputNeedsADefault) {
  ModelSpec spec = SpecOf({1});
  spec.inputs[0].optional = true;
  const auto model = LoadSource("def forward(self, x: Tensor) -> Tensor:\n    return x\n", spec);
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("input 'x' is optional, but forward's argument 'x' has no default"));
}

ModelSpec Strings() { return SpecOf({2}, 4, DataType::kBytes); }

TEST_F(TorchScriptInput, BytesAreListsOfStringsInAndOut) {
  const auto model = LoadSource(
      "def forward(self, x: List[str]) -> List[str]:\n"
      "    out: List[str] = []\n"
      "    for s in x:\n        out.append(s + \"!\")\n    return out\n",
      Strings());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT((*model)->spec().outputs,
              ElementsAre(TensorSpec{"OUTPUT__0", DataType::kBytes, {2}}));
  const std::vector<std::string> words = {"", "a", std::string("\0\xff", 2), "dd"};
  std::string bytes(ElementsBytes(words), '\0');
  WriteElements(words, bytes.data());
  const InputTensor input = {bytes.data(), bytes.size(), DataType::kBytes, {2, 2}};
  CollectingSink sink;
  const absl::Status status = Run(model->get(), {&input, 1}, 2, &sink);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(sink.outputs()[0].dims, (Dims{2, 2}));
  const std::string& answer = sink.outputs()[0].bytes;
  const auto read = ReadElements(answer.data(), answer.size(), 4);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(*read, ElementsAre("!", "a!", absl::string_view("\0\xff!", 3), "dd!"));
}

TEST_F(TorchScriptInput, BytesBesideTensorsInADict) {
  const auto model = LoadSource(
      "def forward(self, x: List[str]) -> Dict[str, Tensor]:\n"
      "    return {\"length\": torch.tensor([len(s) for s in x]).view(-1, 2)}\n",
      Strings());
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<std::string> words = {"abc", "z"};
  std::string bytes(ElementsBytes(words), '\0');
  WriteElements(words, bytes.data());
  const InputTensor input = {bytes.data(), bytes.size(), DataType::kBytes, {1, 2}};
  CollectingSink sink;
  ASSERT_TRUE(Run(model->get(), {&input, 1}, 1, &sink).ok());
  EXPECT_THAT(sink.Elements<int64_t>(0), ElementsAre(3, 1));
}

TEST_F(TorchScriptInput, BytesForATensorAndTheOtherWayRoundAreRefused) {
  EXPECT_THAT(
      LoadError("def forward(self, x: Tensor) -> Tensor:\n    return x\n", Strings()),
      HasSubstr("argument 'x' is of the type Tensor, but input 'x' is BYTES; BYTES is List[str]"));
  EXPECT_THAT(
      LoadError("def forward(self, x: List[str]) -> List[str]:\n    return x\n", SpecOf({2})),
      HasSubstr("is of the type List[str], but input 'x' is FP32"));
}

TEST_F(TorchScriptInput, InputsThatAreMissingAreSuggestedByTheirTypes) {
  EXPECT_THAT(
      LoadError("def forward(self, ids: Tensor, s: List[str]) -> Tensor:\n    return ids\n", {}),
      HasSubstr("--input ids:FP32[-1,…] --input s:BYTES[-1,1]"));
}

TEST_F(TorchScriptInput, ALaneThatIsOutOfGateWaitsForNobodyElse) {
  const auto model = LoadSource(
      "def forward(self, x: Tensor) -> Tensor:\n    assert bool((x[0, 0] > 0).item())\n"
      "    return x\n",
      SpecOf({1}), {{"device_inflight", "1"}});
  ASSERT_FALSE(model.ok()) << "zeros make the trial run throw";
  ModelSpec spec = SpecOf({1});
  spec.outputs = {{"y", DataType::kFp32, {1}}};
  const auto told = LoadPath(spec, {{"device_inflight", "1"}});
  ASSERT_TRUE(told.ok()) << told.status();
  const std::vector<float> zero = {0};
  const InputTensor input = InputOf(zero, DataType::kFp32, {1, 1});
  for (int i = 0; i < 3; ++i) {
    CollectingSink sink;
    EXPECT_FALSE(Run(told->get(), {&input, 1}, 1, &sink).ok()) << "and gives its permit back";
  }
}

}  // namespace
}  // namespace mpsd
