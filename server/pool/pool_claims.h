// PoolClaims: the shared resources that one pool's lanes need and hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/pool/deferred_work.h"
#include "server/pool/inflight_table.h"
#include "server/pool/pool_facts.h"
#include "server/pool/resources/resource_table.h"
#include "server/pool/schedule/turn_wait.h"

namespace mpsd {

// Thread-compatible: its pool's mutex guards it. Without resources the scheduler gets no lane on
// that device's workers (WorkerView::has_resources) until the next pass, a call of
// Dispatcher::DispatchAt(). At the end of a pass, a claim that nobody asked for stops waiting: it
// would block other pools for no reason. The views also say how long a turn takes, for admission.
class PoolClaims {
 public:
  PoolClaims(const PoolFacts* facts, InflightTable* inflight)
      : facts_(facts), table_(facts->options.resources), inflight_(inflight) {}

  // REQUIRES: no batch holds anything.
  ~PoolClaims();

  void Attach(uint32_t worker);

  void BeginPass();
  void EndPass(DeferredWork* work);

  // The batch then holds `claim`. False if there is not enough now.
  bool Take(uint32_t worker, ResourceClaim** claim, DeferredWork* work);

  void GiveBack(InflightBatch* batch, DeferredWork* work);

  // The batch does not begin after all.
  void PutBack(InflightBatch* batch, DeferredWork* work);

 private:
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
  void Show(const OnDevice& on);
  void TellOthers(DeferredWork* work) const;

  const PoolFacts* const facts_;
  ResourceTable* const table_;  // null: the pool needs nothing
  InflightTable* const inflight_;
  std::vector<OnDevice> devices_;
};

}  // namespace mpsd
