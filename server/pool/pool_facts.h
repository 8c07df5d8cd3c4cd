// PoolFacts: what a pool is made with; PoolOptions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proto/base/limits.h"
#include "server/request/lane_needs.h"

namespace mpsd {

class Clock;
class PoolKeeper;
class ResourceTable;
class Scheduler;
struct ServedModel;

struct PoolOptions {
  uint32_t lane_depth = 1;               // limit of batches on a lane
  int64_t max_delay_ns = 0;              // how long a batch that is not full waits
  std::vector<uint32_t> preferred_rows;  // batch sizes, rising
  // The default is a PredictiveScheduler with these options.
  std::shared_ptr<const Scheduler> scheduler;
  // Without a lane; beyond these limits a request is refused as RESOURCE_EXHAUSTED.
  std::vector<uint32_t> queue_requests = {kDefaultQueueRequests};  // by priority level
  uint64_t queue_bytes = kDefaultQueueBytes;                       // bytes of payload
  int64_t queue_target_ns = 0;                                     // see StandingQueue; 0: none
  int64_t slo_ns = 0;          // promised time of 99 of 100 requests; 0: any
  uint32_t held_requests = 0;  // no batch before this many wait for the first time
  // When an answer of this size comes, workers get memory for one.
  uint64_t max_answer_bytes = kDefaultQueueBytes;
  // A lane's needs from the table, which outlives the pool; null: none.
  LaneNeeds lane_needs;
  ResourceTable* resources = nullptr;
};

// Constant. All pointers outlive the pool.
struct PoolFacts {
  ServedModel* model;
  PoolOptions options;  // with a scheduler
  const Clock* clock;
  PoolKeeper* keeper;
};

}  // namespace mpsd
