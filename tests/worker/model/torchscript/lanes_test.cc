// The acceptance list for lanes of one process, with the names that docs/systems.md uses. Runs on
// the cpu, or on the device that MPSD_TEST_DEVICE names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/equal.h"
#include "ATen/ops/full.h"
#include "ATen/ops/ones.h"
#include "tests/worker/model/torchscript/script_rig.h"
#include "worker/execute/concurrency_check.h"
#include "worker/model/torch/torch_device.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

class Lanes : public ScriptRig {
 protected:
  // Rows for the model's only input that differ from lane to lane.
  static std::vector<float> RowsOf(uint32_t lane, size_t count) {
    std::vector<float> rows(count);
    for (size_t i = 0; i < count; ++i) {
      rows[i] = static_cast<float>((i * 7 + lane * 13) % 31) / 31.0F;
    }
    return rows;
  }

  // Runs the model `runs` times on each of `lanes` threads, with inputs of their own. Every answer
  // must equal the answer to the same inputs on one thread.
  void RunLanes(Model* model, uint32_t lanes, int runs, const Dims& dims) {
    const size_t count = static_cast<size_t>(*ElementCount(dims));
    const auto rows = static_cast<uint32_t>(dims[0]);
    std::vector<CollectingSink> expected(lanes);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const std::vector<float> elements = RowsOf(lane, count);
      const InputTensor input = InputOf(elements, DataType::kFp32, dims);
      const absl::Status status = Run(model, {&input, 1}, rows, &expected[lane]);
      ASSERT_TRUE(status.ok()) << status;
    }
    std::vector<std::thread> threads;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      threads.emplace_back([&, lane] {
        const std::vector<float> elements = RowsOf(lane, count);
        const InputTensor input = InputOf(elements, DataType::kFp32, dims);
        ASSERT_TRUE(model->BindLane(lane).ok());
        for (int run = 0; run < runs; ++run) {
          CollectingSink sink;
          const absl::Status status = model->Run(lane, {&input, 1}, rows, &sink);
          ASSERT_TRUE(status.ok()) << status;
          ExpectClose(expected[lane], sink);
        }
        model->ReleaseLane(lane);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  static void ExpectClose(const CollectingSink& expected, const CollectingSink& got) {
    const std::vector<float> want = expected.Elements<float>(0);
    const std::vector<float> have = got.Elements<float>(0);
    ASSERT_EQ(want.size(), have.size());
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_LE(std::fabs(want[i] - have[i]), 1e-4F * std::max(1.0F, std::fabs(want[i])));
    }
  }

  std::unique_ptr<Model> Made(const std::string& name) {
    EXPECT_TRUE(MakeModel(name, path_).ok());
    auto model = LoadPath({});
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }
  std::unique_ptr<Model> Source(const std::string& body, Dims dims) {
    auto model =
        LoadSource("def forward(self, x: Tensor) -> Tensor:\n" + body, SpecOf(std::move(dims), 64));
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }
};

constexpr char kTinyLinear[] =
    "    w = torch.linspace(-1, 1, 64, device=x.device).view(4, 16)\n"
    "    b = torch.ones([4], device=x.device)\n"
    "    return torch.linear(x, w, b)\n";

TEST_F(Lanes, ParallelTwoToFour) {
  const auto model = Made("mlp_256x512x4");
  for (const uint32_t lanes : {2u, 3u, 4u}) RunLanes(model.get(), lanes, 10, {2, 256});
}

TEST_F(Lanes, ExtendedStressEightTimesHundred) {
  const auto model = Source(kTinyLinear, {16});
  RunLanes(model.get(), 8, 100, {4, 16});
}

TEST_F(Lanes, ExtendedStressSixteenTimesFifty) {
  const auto model = Source(kTinyLinear, {16});
  RunLanes(model.get(), 16, 50, {4, 16});
}

TEST_F(Lanes, ThirtyOneTimesHundred) {
  const auto model = Source(kTinyLinear, {16});
  RunLanes(model.get(), 31, 100, {1, 16});
}

TEST_F(Lanes, ThreadBoundaryALaneMovesToAnotherThread) {
  const auto model = Source(kTinyLinear, {16});
  for (int thread = 0; thread < 3; ++thread) RunLanes(model.get(), 1, 2, {1, 16});
}

TEST_F(Lanes, Linear) {
  const auto model = Source(kTinyLinear, {-1, 16});
  RunLanes(model.get(), 4, 20, {3, 5, 16});
}

TEST_F(Lanes, RealModelMlp) { RunLanes(Made("mlp_256x512x4").get(), 4, 5, {8, 256}); }

TEST_F(Lanes, RealModelConv1d) {
  const auto model = Source(
      "    w = torch.linspace(-1, 1, 24, device=x.device).view(4, 2, 3)\n"
      "    return torch.relu(torch.conv1d(x, w, None, [1], [1]))\n",
      {2, 32});
  RunLanes(model.get(), 4, 20, {4, 2, 32});
}

TEST_F(Lanes, RealModelConv2d) { RunLanes(Made("conv").get(), 3, 3, {2, 3, 32, 32}); }

TEST_F(Lanes, RealModelTransformer) { RunLanes(Made("transformer").get(), 4, 10, {2, 6, 64}); }

TEST_F(Lanes, LayerNorm) {
  const auto model = Source("    return torch.layer_norm(x, [64])\n", {64});
  RunLanes(model.get(), 8, 50, {8, 64});
}

TEST_F(Lanes, Linalg) {
  const auto model = Source(
      "    a = torch.matmul(x, x.transpose(1, 2)) + torch.eye(8, device=x.device)\n"
      "    return torch.linalg_solve(a, x)\n",
      {8, 8});
  RunLanes(model.get(), 4, 20, {3, 8, 8});
}

TEST_F(Lanes, OversubscriptionFarMoreLanesThanCores) {
  RunLanes(Made("mlp_256x512x4").get(), 24, 2, {1, 256});
}

TEST_F(Lanes, ThreadChurn) {
  const auto model = Source(kTinyLinear, {16});
  for (int generation = 0; generation < 25; ++generation) RunLanes(model.get(), 4, 1, {1, 16});
}

// A tensor that one stream has made is used on another one, once its maker was waited for.
TEST_F(Lanes, CrossStreamTensor) {
  const c10::Device device = *PickDevice(TestDevice());
  if (device.is_cpu()) GTEST_SKIP() << "a cpu has no streams";
  const std::unique_ptr<StreamDevice> streams = MakeStreamDevice(device);
  streams->MakeCurrent(streams->MainStream());
  at::Tensor made;
  for (int hop = 0; hop < 8; ++hop) {
    std::thread([&] {
      const int64_t stream = streams->NextStream();
      streams->MakeCurrent(stream);
      made = hop == 0 ? at::ones({1 << 24}, at::TensorOptions().device(device)) : made * 2 + 1;
      ASSERT_TRUE(streams->Synchronize(stream).ok());
    }).join();
  }
  EXPECT_TRUE(at::equal(made.cpu(), at::full({1 << 24}, 255.0)));
}

// One lane's answer is another lane's input, and all lanes share the weights.
TEST_F(Lanes, AnswersPassFromLaneToLane) {
  const auto model = Source("    return x * 2 + 1\n", {16});
  std::vector<float> rows(16, 1);
  for (uint32_t lane = 0; lane < 8; ++lane) {
    std::thread([&] {
      ASSERT_TRUE(model->BindLane(lane).ok());
      const InputTensor input = InputOf(rows, DataType::kFp32, {1, 16});
      CollectingSink sink;
      ASSERT_TRUE(model->Run(lane, {&input, 1}, 1, &sink).ok());
      rows = sink.Elements<float>(0);
      model->ReleaseLane(lane);
    }).join();
  }
  EXPECT_EQ(rows, std::vector<float>(16, 511)) << "2x + 1, eight times";
}

TEST_F(Lanes, GraphCompilationStressManyShapesAtOnce) {
  const auto model = Made("transformer");
  std::vector<std::thread> threads;
  for (uint32_t lane = 0; lane < 4; ++lane) {
    threads.emplace_back([&, lane] {
      ASSERT_TRUE(model->BindLane(lane).ok());
      for (int64_t length = 1; length <= 12; ++length) {
        const std::vector<float> rows = RowsOf(lane, static_cast<size_t>(length) * 64);
        const InputTensor input = InputOf(rows, DataType::kFp32, {1, length, 64});
        CollectingSink sink;
        ASSERT_TRUE(model->Run(lane, {&input, 1}, 1, &sink).ok());
        ASSERT_EQ(sink.outputs()[0].dims, (Dims{1, length, 64}));
      }
      model->ReleaseLane(lane);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Lanes, OutOfMemoryRecovery) {
  const auto model = Source(
      "    if bool((x[0, 0] > 1).item()):\n"
      "        return torch.zeros([1 << 45], device=x.device)[:16].view(1, 16)\n"
      "    return x + 1\n",
      {16});
  std::vector<float> rows(16, 5);
  const InputTensor input = InputOf(rows, DataType::kFp32, {1, 16});
  CollectingSink failed;
  const absl::Status status = Run(model.get(), {&input, 1}, 1, &failed);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "PyTorch execute failure: out of memory");
  rows.assign(16, 0);
  CollectingSink sink;
  EXPECT_TRUE(Run(model.get(), {&input, 1}, 1, &sink).ok());
  EXPECT_EQ(sink.Elements<float>(0), std::vector<float>(16, 1));
}

// A program that ends by exit() destroys the model with its streams, and then libtorch's statics.
TEST_F(Lanes, StaticDestructionAfterLanesRan) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        static const std::unique_ptr<Model> model = Source(kTinyLinear, {16});
        RunLanes(model.get(), 2, 20, {1, 16});
        std::exit(42);
      },
      testing::ExitedWithCode(42), "");
}

// A process that ends as a worker does, without destructors and in the middle of everything, must
// end with its own exit code.
TEST_F(Lanes, ItEndsWhileLanesRun) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        auto model = Source(kTinyLinear, {16});
        std::atomic<int> runs{0};
        for (uint32_t lane = 0; lane < 2; ++lane) {
          std::thread([&model, &runs, lane] {
            const std::vector<float> rows = RowsOf(lane, 16);
            const InputTensor input = InputOf(rows, DataType::kFp32, {1, 16});
            if (!model->BindLane(lane).ok()) return;
            for (;;) {
              CollectingSink sink;
              if (model->Run(lane, {&input, 1}, 1, &sink).ok()) ++runs;
            }
          }).detach();
        }
        while (runs < 20) std::this_thread::yield();
        _exit(42);
      },
      testing::ExitedWithCode(42), "");
}

// A module that keeps its intermediate result in one buffer, as some framework kernels did.
TEST_F(Lanes, TheSelfCheckCatchesAPlantedRaceOfAModule) {
  const absl::Status made = MakeRacyModel(path_);
  ASSERT_TRUE(made.ok()) << made;
  const auto model = LoadPath({});
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE((*model)->traits().wants_self_check);
  const absl::Status status = CheckConcurrency(model->get(), 4);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
}

TEST_F(Lanes, TheSelfCheckPassesAModelWithoutOne) {
  const auto model = Made("transformer");
  EXPECT_TRUE(CheckConcurrency(model.get(), 4).ok());
}

}  // namespace
}  // namespace mpsd
