// PoolClaims: what the lanes of one pool need of the resources that models share, and hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/base/clock.h"
#include "server/dispatch/deferred_work.h"
#include "server/dispatch/inflight_table.h"
#include "server/request/lane_needs.h"
#include "server/request/served_model.h"
#include "server/resources/resource_table.h"
#include "server/schedule/turn_wait.h"

namespace mpsd {

// Owned by a pool. Thread-compatible: guarded by the pool's mutex. Between the Dispatcher, which
// runs a batch only once it has taken what the batch needs, and the ResourceTable. A pool that
// needs nothing pays for a look at an empty list.
//
// What a lack means for the scheduler: the workers of that device have no resources, and so no lane
// (WorkerView::has_resources), until the next pass. A pass is one call of Dispatcher::DispatchAt():
// a claim that waits and in which nobody asked for anything waits no more, since it would keep
// other pools from their turn for nothing. How long a turn takes is in the views as well
// (ExpectedTurnNs), so that nobody is let in whom others' turns would make too late.
class PoolClaims {
 public:
  // All outlive this. `table` may be null where `needs` are empty.
  PoolClaims(const Clock* clock, ResourceTable* table, const LaneNeeds& needs, ServedModel* model,
             InflightTable* inflight)
      : clock_(clock), table_(table), needs_(needs), model_(model), inflight_(inflight) {}

  // REQUIRES: no batch holds anything.
  ~PoolClaims();

  // A worker has come.
  void Attach(uint32_t worker);

  void BeginPass();
  void EndPass(DeferredWork* work);

  // Takes what a batch on that worker needs; `claim` is what the batch then holds. False: there is
  // not enough now, and the views say so.
  bool Take(uint32_t worker, ResourceClaim** claim, DeferredWork* work);

  // The batch holds it no more, if it has held any.
  void GiveBack(InflightBatch* batch, DeferredWork* work);

  // The same for a batch that does not begin after all.
  void PutBack(InflightBatch* batch, DeferredWork* work);

 private:
  // The workers of one device.
  struct OnDevice {
    std::string device;
    ResourceClaim* claim = nullptr;
    bool waits = false;
    bool asked = false;  // in this pass, and in vain
    int64_t waits_since_ns = 0;
    TurnWait turns = {};
    TurnWait turns_before = {};  // the last turn, which may turn out to be none
  };

  OnDevice* Find(const std::string& device);
  OnDevice* Find(const ResourceClaim* claim);
  void NoteTurn(OnDevice* on);
  uint32_t LanesOn(const std::string& device) const;
  // In the views of its workers.
  void Show(const OnDevice& on);
  void TellOthers(DeferredWork* work) const;

  const Clock* const clock_;
  ResourceTable* const table_;
  const LaneNeeds needs_;
  ServedModel* const model_;
  InflightTable* const inflight_;
  std::vector<OnDevice> devices_;
};

}  // namespace mpsd
