// Recorded runs of TorchScript modules. Only cuda records, so most of these need a device:
// MPSD_TEST_DEVICE=cuda:0, and libmpsd-cuda-graphs.so beside this program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "proto/base/clock.h"
#include "tests/worker/model/collecting_sink.h"
#include "tests/worker/model/test_device.h"
#include "worker/execute/record_runs.h"
#include "worker/load/load_model.h"
#include "worker/tools/model_maker.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

constexpr uint32_t kRowsMax = 8;
constexpr int64_t kWidth = 64;

constexpr char kLayers[] =
    "def forward(self, x: Tensor) -> Tensor:\n"
    "    for i in range(40):\n"
    "        x = torch.tanh(x + 0.01)\n"
    "    return x\n";

class TorchScriptRecords : public testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }

  absl::StatusOr<std::unique_ptr<Model>> Load(const std::string& source,
                                              const std::string& graphs = "auto") {
    if (absl::Status made = MakeScript(source, "", path_); !made.ok()) return made;
    LoadOrder order;
    order.model = "m";
    order.format = ModelFormat::kTorchScript;
    order.path = path_;
    order.device = TestDevice();
    order.lanes = 2;
    order.parameters["graphs"] = graphs;
    order.spec.max_batch_size = kRowsMax;
    order.spec.inputs = {{"x", DataType::kFp32, {kWidth}}};
    return LoadModel(order);
  }

  // The model with its lane 0 bound and its runs recorded; null where the device cannot record.
  std::unique_ptr<Model> LoadAndRecord(const std::string& source) {
    absl::StatusOr<std::unique_ptr<Model>> model = Load(source);
    EXPECT_TRUE(model.ok()) << model.status();
    if (!model.ok() || (*model)->recorder() == nullptr) return nullptr;
    EXPECT_TRUE((*model)->BindLane(0).ok());
    const absl::StatusOr<RecordReport> report = RecordRuns(model->get(), 0, Clock::Real());
    EXPECT_TRUE(report.ok()) << report.status();
    report_ = report.value_or(RecordReport());
    return *std::move(model);
  }

  const std::string path_ = testing::TempDir() + "mpsd_" + std::to_string(getpid()) + ".pt";
  RecordReport report_;
};

std::vector<float> Rows(uint32_t rows, float first) {
  std::vector<float> numbers(rows * kWidth);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = first + 0.001F * static_cast<float>(i);
  return numbers;
}

std::string Answer(Model* model, const std::vector<float>& numbers, uint32_t lane = 0) {
  const auto rows = static_cast<uint32_t>(numbers.size() / kWidth);
  const InputTensor input = InputOf(numbers, DataType::kFp32, {rows, kWidth});
  CollectingSink sink;
  const absl::Status status = model->Run(lane, {input}, rows, &sink);
  return status.ok() ? std::string(sink.outputs().at(0).bytes) : std::string(status.message());
}

TEST_F(TorchScriptRecords, NoOtherDeviceRecords) {
  if (TestDevice() != "cpu") GTEST_SKIP() << "this device may";
  const auto model = Load(kLayers);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->recorder(), nullptr);
  EXPECT_THAT(Load(kLayers, "on").status().message(), HasSubstr("graphs: only cuda records runs"));
}

TEST_F(TorchScriptRecords, ReplaysGiveTheBytesOfRunsAtEachNumberOfRows) {
  const std::unique_ptr<Model> model = LoadAndRecord(kLayers);
  if (model == nullptr) GTEST_SKIP() << "no device that records";
  EXPECT_EQ(report_.Text(), "replays 4 of 4 shapes");
  const auto plain = Load(kLayers, "off");
  ASSERT_TRUE(plain.ok() && (*plain)->recorder() == nullptr);
  std::vector<std::string> expected(kRowsMax + 1);
  std::thread([&] {
    ASSERT_TRUE((*plain)->BindLane(1).ok());
    for (uint32_t rows = 1; rows <= kRowsMax; ++rows) {
      expected[rows] = Answer(plain->get(), Rows(rows, 0.1F * static_cast<float>(rows)), 1);
    }
    (*plain)->ReleaseLane(1);
  }).join();
  for (uint32_t rows = kRowsMax; rows >= 1; --rows) {
    EXPECT_EQ(expected[rows].size(), rows * kWidth * sizeof(float));
    EXPECT_EQ(Answer(model.get(), Rows(rows, 0.1F * static_cast<float>(rows))), expected[rows])
        << rows;
  }
}

TEST_F(TorchScriptRecords, AModelThatLooksAtItsNumbersRunsAsEver) {
  const std::unique_ptr<Model> model = LoadAndRecord(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    if bool(x.sum() > 0):\n"
      "        return x + 1\n"
      "    return x - 1\n");
  if (model == nullptr) GTEST_SKIP() << "no device that records";
  EXPECT_EQ(report_.kept, 0U);
  EXPECT_EQ(report_.tried, 4U);
  const std::vector<float> numbers(kWidth, 1.0F);
  const std::vector<float> expected(kWidth, 2.0F);
  EXPECT_EQ(Answer(model.get(), numbers),
            std::string(reinterpret_cast<const char*>(expected.data()), kWidth * sizeof(float)));
  // A record that was begun and given up is in nobody's way.
  const std::unique_ptr<Model> next = LoadAndRecord(kLayers);
  EXPECT_EQ(report_.kept, 4U);
}

TEST_F(TorchScriptRecords, RandomNumbersAreNotReplayed) {
  const std::unique_ptr<Model> model = LoadAndRecord(
      "def forward(self, x: Tensor) -> Tensor:\n"
      "    return x + torch.rand_like(x)\n");
  if (model == nullptr) GTEST_SKIP() << "no device that records";
  EXPECT_EQ(report_.kept, 0U);
  EXPECT_THAT(report_.why, HasSubstr("a replay answers otherwise"));
}

TEST_F(TorchScriptRecords, LanesReplayBesideEachOther) {
  const std::unique_ptr<Model> model = LoadAndRecord(kLayers);
  if (model == nullptr) GTEST_SKIP() << "no device that records";
  const std::vector<float> first = Rows(3, 0.5F);
  const std::vector<float> second = Rows(3, -0.5F);
  const std::string of_first = Answer(model.get(), first);
  const std::string of_second = Answer(model.get(), second);
  ASSERT_NE(of_first, of_second);
  absl::Notification recorded;
  std::thread other([&] {
    ASSERT_TRUE(model->BindLane(1).ok());
    EXPECT_EQ(RecordRuns(model.get(), 1, Clock::Real()).value_or(RecordReport()).kept, 4U);
    recorded.Notify();
    for (int i = 0; i < 2'000; ++i) EXPECT_EQ(Answer(model.get(), second, 1), of_second);
    model->ReleaseLane(1);
  });
  recorded.WaitForNotification();
  for (int i = 0; i < 2'000; ++i) EXPECT_EQ(Answer(model.get(), first), of_first);
  other.join();
}

}  // namespace
}  // namespace mpsd
