// Decoupled modules: forward returns a list, and each element of it is an answer.
#include <gmock/gmock.h>

#include <vector>

#include "tests/worker/model/torchscript/script_rig.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// An answer for each element of x, with the same random number in all answers of a run.
constexpr char kListSource[] =
    "def forward(self, x: Tensor) -> List[Tuple[Tensor, Tensor]]:\n"
    "    answers: List[Tuple[Tensor, Tensor]] = []\n"
    "    run = torch.rand(1)\n"
    "    for i in range(x.size(0)):\n"
    "        answers.append((x[i:i + 1], run))\n"
    "    return answers\n";

class TorchScriptDecoupled : public ScriptRig {
 protected:
  TorchScriptDecoupled() : spec_(SpecOf({-1}, /*max_batch_size=*/0)) {
    spec_.decoupled = true;
    spec_.outputs = {{"y", DataType::kFp32, {1}}, {"run", DataType::kFp32, {1}}};
  }

  void Load(const std::string& source) {
    absl::StatusOr<std::unique_ptr<Model>> model = LoadSource(source, spec_);
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
    ASSERT_TRUE(model_->BindLane(0).ok());
  }

  // The elements of each output; none where there is no answer of that index.
  std::vector<float> Answer(const std::vector<float>& x, uint32_t index) {
    const InputTensor input = InputOf(x, DataType::kFp32, {static_cast<int64_t>(x.size())});
    CollectingSink sink;
    const absl::StatusOr<bool> answered = model_->answers()->Answer(0, {&input, 1}, index, &sink);
    error_ = std::string(answered.status().message());
    std::vector<float> elements;
    for (size_t i = 0; i < sink.outputs().size(); ++i) {
      for (const float element : sink.Elements<float>(i)) elements.push_back(element);
    }
    EXPECT_TRUE(!answered.ok() || *answered == !elements.empty());
    return elements;
  }

  ModelSpec spec_;
  std::unique_ptr<Model> model_;
  std::string error_;
};

TEST_F(TorchScriptDecoupled, EachElementOfTheListIsAnAnswer) {
  Load(kListSource);
  const std::vector<float> first = Answer({7, 8}, 0);
  const std::vector<float> second = Answer({7, 8}, 1);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0], 7);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[0], 8);
  EXPECT_EQ(first[1], second[1]) << "forward ran once for both";
  EXPECT_THAT(Answer({7, 8}, 2), ElementsAre());
  EXPECT_THAT(Answer({}, 0), ElementsAre());
}

TEST_F(TorchScriptDecoupled, RequestsTakeTurns) {
  Load(kListSource);
  const float run = Answer({7, 8}, 0).at(1);
  std::vector<float> other = {1, 2, 3};
  const float other_run = Answer(other, 0).at(1);
  EXPECT_NE(run, other_run);
  other = {0, 0, 0};  // as memory that another request has got
  EXPECT_THAT(Answer({7, 8}, 1), ElementsAre(8, run));
  EXPECT_THAT(Answer({1, 2, 3}, 1), ElementsAre(2, other_run));
}

TEST_F(TorchScriptDecoupled, ManyRequestsTakeTurnsWithOneRunEach) {
  Load(kListSource);
  std::vector<float> runs;
  for (float x = 0; x < 50; ++x) runs.push_back(Answer({x, 1}, 0).at(1));
  for (float x = 0; x < 50; ++x) EXPECT_EQ(Answer({x, 1}, 1).at(1), runs[x]);
}

TEST_F(TorchScriptDecoupled, AnEndedRequestLeavesNothing) {
  Load(kListSource);
  const float run = Answer({7}, 0).at(1);
  EXPECT_THAT(Answer({7}, 1), ElementsAre());
  EXPECT_NE(Answer({7}, 0).at(1), run) << "forward ran again for a new request";
}

TEST_F(TorchScriptDecoupled, LargeAnswersGiveWayToLaterOnes) {
  spec_.outputs[0].dims = {-1};
  Load(
      "def forward(self, x: Tensor) -> List[Tuple[Tensor, Tensor]]:\n"
      "    run = torch.rand(1)\n"
      "    return [(torch.zeros(6 * 1024 * 1024), run), (x, run)]\n");  // 24 MiB
  const float first = Answer({1}, 0).back();
  const float second = Answer({2}, 0).back();
  EXPECT_EQ(Answer({1}, 1).at(1), first);
  Answer({3}, 0);
  EXPECT_EQ(Answer({1}, 1).at(1), first);
  EXPECT_NE(Answer({2}, 1).at(1), second) << "it was used least recently";
}

TEST_F(TorchScriptDecoupled, HasOneLane) {
  Load(kListSource);
  EXPECT_EQ(model_->traits().lanes_max, 1u);
  EXPECT_THAT(model_->traits().lanes_reason, HasSubstr("on one lane"));
}

TEST_F(TorchScriptDecoupled, OutputsAreThoseOfAnAnswer) {
  spec_.outputs.clear();
  Load(
      "def forward(self, x: Tensor) -> List[Dict[str, Tensor]]:\n"
      "    return [{'sum': x.sum()}, {'sum': x.sum() * 2}]\n");
  ASSERT_EQ(model_->spec().outputs.size(), 1u);
  EXPECT_EQ(TensorText(model_->spec().outputs[0]), "sum:FP32[]");
  EXPECT_THAT(Answer({1, 2}, 1), ElementsAre(6));
}

TEST_F(TorchScriptDecoupled, ReturnsAList) {
  Load("def forward(self, x: Tensor) -> Tensor:\n    return x\n");
  EXPECT_THAT(Answer({1}, 0), ElementsAre());
  EXPECT_THAT(error_, HasSubstr("that of a decoupled model returns a list"));
  spec_.max_batch_size = 4;
  EXPECT_THAT(LoadError(kListSource, spec_), HasSubstr("its max_batch_size must be 0, not 4"));
}

}  // namespace
}  // namespace mpsd
