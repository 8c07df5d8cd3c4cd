// SupervisedModel: one generation of a model, for its supervisor, which knows no config and no
// placement.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/fd.h"
#include "proto/link/messages.h"
#include "server/pool/pool.h"
#include "server/request/served_model.h"
#include "server/request/supervision_limits.h"
#include "server/supervise/device_share.h"

namespace mpsd {

// Made by ModelFactory, then constant in the model's WorkerGroup. The group keeps the served model
// alive until its last worker is gone, since workers may write into the pool's memory until then. A
// value.
struct SupervisedModel {
  std::shared_ptr<ServedModel> served;
  Pool* pool = nullptr;           // the served model's queue by its real type
  LoadOrder order;                // each incarnation has its own epoch and DeviceShare
  std::vector<UniqueFd> files{};  // sent with the order; may be empty
  // By worker; a replacement adds one for a while.
  std::vector<DeviceShare> processes = {DeviceShare()};
  // Size of the pool's first segment. Pure.
  std::function<uint64_t(const ModelSpec& spec)> first_segment_bytes;
  // Why a model with that spec cannot be served; null: any can. Asked before the spec is used.
  // Pure.
  std::function<absl::Status(const ModelSpec& spec)> spec_fault;
  SupervisionLimits limits;
};

}  // namespace mpsd
