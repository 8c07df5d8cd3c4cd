// shared_weights: a model's weights in memory that the model's other workers map as well.
//
// A storage holds the numbers of one or several tensors of libtorch. Here it is moved under all its
// tensors at once.
//
//   worker that shares:   Make ─▶ MoveWeights() ─▶ Protect, Export
//   every other one:      Open ─▶ AdoptWeights()   first checks that the bytes equal its own
//
// The order of the storages decides where each one lies. Workers that load one file with one
// program list them alike.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "c10/core/Storage.h"
#include "worker/model/shareable_weights.h"
#include "worker/model/sharing/device_memory.h"

namespace mpsd {

// Adds a storage, unless it is already there, is empty, or lies on another device.
void AddWeight(const c10::Storage& storage, c10::Device device, std::vector<c10::Storage>* weights);

uint64_t WeightBytes(const std::vector<c10::Storage>& weights);

// Copies and moves the storages to `memory`, which they keep alive. May throw what libtorch throws;
// then only some storages have been moved, but all are whole. REQUIRES: no lane runs, and the
// memory has WeightBytes().
void MoveWeights(const std::vector<c10::Storage>& weights, std::shared_ptr<DeviceMemory> memory);

// Moves the storages to `memory`. FAILED_PRECONDITION if its numbers differ: nothing was moved. May
// throw. REQUIRES: as for MoveWeights().
absl::Status AdoptWeights(const std::vector<c10::Storage>& weights,
                          std::shared_ptr<DeviceMemory> memory);

// Owned by its TorchModel. Thread-compatible.
class TorchWeights final : public ShareableWeights {
 public:
  // The storages lie on `device`, each listed once. `source` outlives this object.
  TorchWeights(std::vector<c10::Storage> storages, c10::Device device, DeviceMemorySource* source)
      : storages_(std::move(storages)), device_(device), source_(source) {}

  uint64_t bytes() const override { return WeightBytes(storages_); }
  absl::StatusOr<UniqueFd> Share() override;
  absl::Status Use(UniqueFd memory) override;

 private:
  const std::vector<c10::Storage> storages_;
  const c10::Device device_;
  DeviceMemorySource* const source_;
};

}  // namespace mpsd
