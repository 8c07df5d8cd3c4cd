// SupervisedModel: one generation of a model, for its supervisor.
//
// The supervisor knows no config and no placement: ModelFactory has turned both into these values.
// The facts for loading the model are in the LoadOrder. Each incarnation gets it unchanged, except
// for the epoch and the worker's device.
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
#include "server/supervise/device_share.h"
#include "server/supervise/policy/supervision_limits.h"

namespace mpsd {

// A value, handed over by Supervisor::Add() and then constant in the model's WorkerGroup. The group
// keeps the served model alive until its last worker is gone: until then workers may write into the
// pool's memory, even if no other part remembers the generation.
struct SupervisedModel {
  std::shared_ptr<ServedModel> served;
  Pool* pool = nullptr;           // the served model's queue by its real type
  LoadOrder order;                // epoch and DeviceShare are filled in for each incarnation
  std::vector<UniqueFd> files{};  // the model's files, sent with the order; may be empty
  // One for each worker; a replacement adds one for a while.
  std::vector<DeviceShare> processes = {DeviceShare()};
  // Size of the pool's first segment for a spec, which a worker reports when it has loaded the
  // model. Pure.
  std::function<uint64_t(const ModelSpec& spec)> first_segment_bytes;
  // Why a model with that spec cannot be served; null: any can. Called before the first use of the
  // spec. Pure.
  std::function<absl::Status(const ModelSpec& spec)> spec_fault;
  SupervisionLimits limits;
};

}  // namespace mpsd
