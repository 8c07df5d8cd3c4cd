// SupervisedModel: one generation of a model, as its supervisor keeps it running.
#pragma once

#include <cstdint>
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
  uint32_t queue_requests = 0;
  uint64_t queue_bytes = 0;
  SupervisionLimits limits;
};

}  // namespace mpsd
