#include "worker/model/torch/shared_weights.h"

#include <algorithm>

#include "ATen/ops/empty.h"
#include "ATen/ops/equal.h"
#include "ATen/ops/from_blob.h"
#include "c10/core/InferenceMode.h"
#include "proto/base/check.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/torch/torch_device.h"

namespace mpsd {
namespace {

// The strictest alignment that any kernel asks for.
constexpr uint64_t kAlignment = 512;

uint64_t Room(const c10::Storage& storage) {
  return (storage.nbytes() + kAlignment - 1) / kAlignment * kAlignment;
}

// As tensors: a storage's bytes, and the bytes at its place in the memory.
at::Tensor BytesOf(const c10::Storage& storage) {
  at::Tensor bytes = at::empty({0}, at::TensorOptions(at::kByte).device(storage.device()));
  bytes.set_(storage);
  return bytes;
}

at::Tensor BytesAt(char* data, const c10::Storage& storage) {
  const at::TensorOptions options = at::TensorOptions(at::kByte).device(storage.device());
  return at::for_blob(data, {static_cast<int64_t>(storage.nbytes())})
      .options(options)
      .target_device(storage.device())
      .make_tensor();
}

using Keeper = std::shared_ptr<DeviceMemory>;

void ForgetKeeper(void* keeper) { delete static_cast<Keeper*>(keeper); }

void MoveTo(char* data, const Keeper& memory, const c10::Storage& storage) {
  c10::DataPtr place(data, new Keeper(memory), &ForgetKeeper, storage.device());
  storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(place));
}

// Calls `step` with each storage and its place.
template <typename Step>
void ForEach(const std::vector<c10::Storage>& weights, DeviceMemory* memory, const Step& step) {
  MPSD_CHECK(memory->bytes() >= WeightBytes(weights));
  char* place = memory->data();
  for (const c10::Storage& storage : weights) {
    step(storage, place);
    place += Room(storage);
  }
}

}  // namespace

void AddWeight(const c10::Storage& storage, c10::Device device,
               std::vector<c10::Storage>* weights) {
  if (storage.nbytes() == 0 || storage.device() != device) return;
  const auto is_same = [&storage](const c10::Storage& other) {
    return other.unsafeGetStorageImpl() == storage.unsafeGetStorageImpl();
  };
  if (std::none_of(weights->begin(), weights->end(), is_same)) weights->push_back(storage);
}

uint64_t WeightBytes(const std::vector<c10::Storage>& weights) {
  uint64_t bytes = 0;
  for (const c10::Storage& storage : weights) bytes += Room(storage);
  return bytes;
}

void MoveWeights(const std::vector<c10::Storage>& weights, std::shared_ptr<DeviceMemory> memory) {
  const c10::InferenceMode inference_mode;
  ForEach(weights, memory.get(), [&](const c10::Storage& storage, char* place) {
    BytesAt(place, storage).copy_(BytesOf(storage));
    MoveTo(place, memory, storage);
  });
}

absl::Status AdoptWeights(const std::vector<c10::Storage>& weights,
                          std::shared_ptr<DeviceMemory> memory) {
  const c10::InferenceMode inference_mode;
  bool are_alike = true;
  ForEach(weights, memory.get(), [&](const c10::Storage& storage, char* place) {
    are_alike = are_alike && at::equal(BytesAt(place, storage), BytesOf(storage));
  });
  if (!are_alike) {
    return absl::FailedPreconditionError("the shared weights are not those of the model's file");
  }
  ForEach(weights, memory.get(),
          [&](const c10::Storage& storage, char* place) { MoveTo(place, memory, storage); });
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> TorchWeights::Share() {
  absl::StatusOr<std::unique_ptr<DeviceMemory>> made = source_->Make(bytes());
  if (!made.ok()) return made.status();
  const std::shared_ptr<DeviceMemory> memory = *std::move(made);
  const absl::Status moved = CatchForeign([&] {
    MoveWeights(storages_, memory);
    SynchronizeDevice(device_);
    return memory->Protect();
  });
  if (!moved.ok()) return moved;
  ReleaseUnusedMemory(device_);
  return memory->Export();
}

absl::Status TorchWeights::Use(UniqueFd memory) {
  absl::StatusOr<std::unique_ptr<DeviceMemory>> opened = source_->Open(std::move(memory), bytes());
  if (!opened.ok()) return opened.status();
  const absl::Status used =
      CatchForeign([&] { return AdoptWeights(storages_, *std::move(opened)); });
  ReleaseUnusedMemory(device_);
  return used;
}

}  // namespace mpsd
