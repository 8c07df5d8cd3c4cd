// SupervisedModel: one generation of a model, as its supervisor keeps it running.
//
// All that the supervisor is told of a model. It knows no config and no placement: ModelFactory has
// turned both into these values. The facts that a worker needs to load the model stand in the
// LoadOrder, which goes to each incarnation as it is, but for the epoch and the worker's device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/fd.h"
#include "proto/link/messages.h"
#include "server/dispatch/pool.h"
#include "server/request/served_model.h"
#include "server/supervise/device_share.h"
#include "server/supervise/policy/supervision_limits.h"

namespace mpsd {

// A value, handed over by Supervisor::Add() and constant from then on in the model's WorkerGroup.
//
// The group keeps the served model alive until its last worker is gone: workers may write into the
// pool's memory that long, even when no other part remembers the generation.
struct SupervisedModel {
  std::shared_ptr<ServedModel> served;
  Pool* pool = nullptr;  // the served model's queue, by its real type
  LoadOrder order;       // the epoch and the DeviceShare are filled in for each incarnation
  std::vector<UniqueFd> files{};  // the model's, which go with the order; empty: there are none
  // The workers that should serve; a replacement adds one for a while.
  std::vector<DeviceShare> processes = {DeviceShare()};
  // How large the pool's first segment is, once the model's spec is known: a worker reports the
  // spec when it has loaded the model. Pure.
  std::function<uint64_t(const ModelSpec& spec)> first_segment_bytes;
  // Why a model with such a spec cannot be served; null: any can. Asked before the first use of the
  // spec. Pure.
  std::function<absl::Status(const ModelSpec& spec)> spec_fault;
  SupervisionLimits limits;
};

}  // namespace mpsd
