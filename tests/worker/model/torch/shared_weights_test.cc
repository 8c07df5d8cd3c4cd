// Storages that move to memory that other processes map: here a memory file of the host.

#include "worker/model/torch/shared_weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ATen/core/TensorBody.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/equal.h"
#include "ATen/ops/full.h"
#include "ATen/ops/zeros.h"
#include "worker/model/sharing/host_memory.h"

namespace mpsd {
namespace {

const c10::Device kCpu(c10::DeviceType::CPU);

class SharedWeights : public testing::Test {
 protected:
  // Two tensors of one storage, and one of another.
  struct Model {
    at::Tensor matrix = at::arange(15, at::kFloat).reshape({3, 5});
    at::Tensor turned = matrix.t();
    at::Tensor bias = at::full({7}, 0.5, at::kHalf);

    std::vector<c10::Storage> Weights() const {
      std::vector<c10::Storage> weights;
      for (const at::Tensor& tensor : {matrix, turned, bias}) {
        AddWeight(tensor.storage(), kCpu, &weights);
      }
      return weights;
    }
  };

  static std::shared_ptr<DeviceMemory> NewMemory() {
    absl::StatusOr<std::unique_ptr<DeviceMemory>> made = MakeHostMemory()->Make(4096);
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }

  static bool LiesIn(const at::Tensor& tensor, const DeviceMemory& memory) {
    const auto* data = static_cast<const char*>(tensor.const_data_ptr());
    return data >= memory.data() && data < memory.data() + memory.bytes();
  }
};

TEST_F(SharedWeights, AreListedOnce) {
  Model model;
  EXPECT_EQ(model.Weights().size(), 2u);
  EXPECT_EQ(WeightBytes(model.Weights()), 1024u);
  std::vector<c10::Storage> none;
  AddWeight(at::empty({0}).storage(), kCpu, &none);
  AddWeight(model.bias.storage(), c10::Device(c10::DeviceType::CUDA, 0), &none);
  EXPECT_TRUE(none.empty());
}

TEST_F(SharedWeights, MoveUnderAllTensorsThatHaveThem) {
  Model model;
  const std::shared_ptr<DeviceMemory> memory = NewMemory();
  MoveWeights(model.Weights(), memory);
  ASSERT_TRUE(memory->Protect().ok());
  for (const at::Tensor& tensor : {model.matrix, model.turned, model.bias}) {
    EXPECT_TRUE(LiesIn(tensor, *memory));
  }
  const Model other;
  EXPECT_TRUE(at::equal(model.matrix, other.matrix));
  EXPECT_TRUE(at::equal(model.turned, other.turned));
  EXPECT_TRUE(at::equal(model.bias, other.bias));
}

TEST_F(SharedWeights, AreUsedByAnotherModelThatHasTheSame) {
  Model model;
  Model other;
  const std::shared_ptr<DeviceMemory> memory = NewMemory();
  MoveWeights(model.Weights(), memory);
  ASSERT_TRUE(memory->Protect().ok());
  ASSERT_TRUE(AdoptWeights(other.Weights(), memory).ok());
  EXPECT_EQ(other.matrix.const_data_ptr(), model.matrix.const_data_ptr());
  EXPECT_EQ(other.turned.const_data_ptr(), model.turned.const_data_ptr());
  EXPECT_EQ(other.bias.const_data_ptr(), model.bias.const_data_ptr());
}

TEST_F(SharedWeights, OfOtherNumbersAreNotUsed) {
  Model model;
  const std::shared_ptr<DeviceMemory> memory = NewMemory();
  MoveWeights(model.Weights(), memory);
  Model other;
  other.bias[6] = 0.25;
  const absl::Status status = AdoptWeights(other.Weights(), memory);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_FALSE(LiesIn(other.matrix, *memory) || LiesIn(other.bias, *memory));
  EXPECT_EQ(other.bias[6].item<float>(), 0.25F);
}

// NaN is equal to nothing, and -0 to 0: what is compared are bytes.
TEST_F(SharedWeights, AreComparedByTheirBytes) {
  at::Tensor odd = at::full({4}, std::nan(""), at::kFloat);
  at::Tensor same = at::full({4}, std::nan(""), at::kFloat);
  const std::shared_ptr<DeviceMemory> memory = NewMemory();
  MoveWeights({odd.storage()}, memory);
  EXPECT_TRUE(AdoptWeights({same.storage()}, memory).ok());
  at::Tensor zeros = at::zeros({4}, at::kFloat);
  at::Tensor others = zeros.neg();
  const std::shared_ptr<DeviceMemory> further = NewMemory();
  MoveWeights({zeros.storage()}, further);
  EXPECT_FALSE(AdoptWeights({others.storage()}, further).ok());
}

TEST_F(SharedWeights, KeepTheirMemoryAsLongAsATensorHasIt) {
  std::weak_ptr<DeviceMemory> memory;
  at::Tensor last;
  {
    Model model;
    std::shared_ptr<DeviceMemory> made = NewMemory();
    memory = made;
    MoveWeights(model.Weights(), std::move(made));
    last = model.bias;
  }
  EXPECT_FALSE(memory.expired());
  EXPECT_EQ(last[0].item<float>(), 0.5F);
  last.reset();
  EXPECT_TRUE(memory.expired());
}

}  // namespace
}  // namespace mpsd
