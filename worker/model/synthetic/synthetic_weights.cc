#include "worker/model/synthetic/synthetic_weights.h"

#include <algorithm>
#include <utility>

#include "worker/model/sharing/host_memory.h"

namespace mpsd {

SyntheticWeights::SyntheticWeights(uint64_t bytes) : bytes_(bytes), own_(bytes) {
  for (size_t i = 0; i < own_.size(); ++i) own_[i] = static_cast<char>(i * 7);
}

absl::StatusOr<UniqueFd> SyntheticWeights::Share() {
  absl::StatusOr<std::unique_ptr<DeviceMemory>> made = MakeHostMemory()->Make(bytes_);
  if (!made.ok()) return made.status();
  std::copy(own_.begin(), own_.end(), (*made)->data());
  if (absl::Status status = (*made)->Protect(); !status.ok()) return status;
  shared_ = *std::move(made);
  own_ = {};
  return shared_->Export();
}

absl::Status SyntheticWeights::Use(UniqueFd memory) {
  absl::StatusOr<std::unique_ptr<DeviceMemory>> opened =
      MakeHostMemory()->Open(std::move(memory), bytes_);
  if (!opened.ok()) return opened.status();
  if (!std::equal(own_.begin(), own_.end(), (*opened)->data())) {
    return absl::FailedPreconditionError("the shared weights are not those of the model");
  }
  shared_ = *std::move(opened);
  own_ = {};
  return absl::OkStatus();
}

}  // namespace mpsd
