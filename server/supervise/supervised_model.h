// SupervisedModel: one generation of a model, as its supervisor keeps it running.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "proto/link/messages.h"
#include "server/dispatch/pool.h"
#include "server/request/served_model.h"
#include "server/supervise/policy/supervision_limits.h"

namespace mpsd {

struct SupervisedModel {
  std::shared_ptr<ServedModel> served;
  Pool* pool = nullptr;  // the served model's queue
  LoadOrder order;       // the epoch is filled in for each incarnation
  uint32_t processes = 1;
  // How large the pool's first segment is, once the model's spec is known. Pure.
  std::function<uint64_t(const ModelSpec& spec)> first_segment_bytes;
  SupervisionLimits limits;
};

}  // namespace mpsd
