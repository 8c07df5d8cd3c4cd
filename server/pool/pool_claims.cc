#include "server/pool/pool_claims.h"

#include <algorithm>
#include <utility>

#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "server/request/device_list.h"

namespace mpsd {

PoolClaims::~PoolClaims() {
  for (const OnDevice& on : devices_) table_->Leave(on.claim);
}

PoolClaims::OnDevice* PoolClaims::Find(const std::string& device) {
  const auto is_it = [&device](const OnDevice& on) { return on.device == device; };
  const auto found = std::find_if(devices_.begin(), devices_.end(), is_it);
  return found == devices_.end() ? nullptr : &*found;
}

PoolClaims::OnDevice* PoolClaims::Find(const ResourceClaim* claim) {
  const auto is_it = [claim](const OnDevice& on) { return on.claim == claim; };
  return &*std::find_if(devices_.begin(), devices_.end(), is_it);
}

void PoolClaims::Attach(uint32_t worker) {
  const std::string& device = inflight_->worker(worker).link->device();
  if (facts_->options.lane_needs.empty() || Find(device) != nullptr) return;
  devices_.push_back({device, table_->Enter(facts_->options.lane_needs, device, LanesOn(device))});
}

void PoolClaims::Show(const OnDevice& on) {
  const size_t workers = inflight_->workers().size();
  for (uint32_t i = 0; i < workers; ++i) {
    const bool is_there = inflight_->worker(i).link->device() == on.device;
    if (!is_there) continue;
    WorkerView* view = inflight_->view(i);
    view->has_resources = !on.asked;
    view->turn_ns = on.turns.mean_ns();
    view->turn_since_ns = on.waits ? on.waits_since_ns : 0;
  }
}

// All the pool's lanes there while none of its workers is missing.
uint32_t PoolClaims::LanesOn(const std::string& device) const {
  const std::vector<std::string>& devices = facts_->model->facts.devices;
  const auto is_on_it = [&](const std::string& other) { return OneNameOf(other) == device; };
  const auto processes = std::count_if(devices.begin(), devices.end(), is_on_it);
  return std::max(1U, static_cast<uint32_t>(processes) * facts_->model->facts.lanes);
}

void PoolClaims::BeginPass() {
  if (devices_.empty()) return;
  for (OnDevice& on : devices_) on.asked = false;
  const size_t workers = inflight_->workers().size();
  for (uint32_t i = 0; i < workers; ++i) inflight_->view(i)->has_resources = true;
}

void PoolClaims::EndPass(DeferredWork* work) {
  for (OnDevice& on : devices_) {
    if (!on.waits || on.asked) continue;
    on.waits = false;
    on.turns.NoteInVain(facts_->clock->NowNs() - on.waits_since_ns);
    Show(on);
    table_->StopWaiting(on.claim);
    TellOthers(work);
  }
}

bool PoolClaims::Take(uint32_t worker, ResourceClaim** claim, DeferredWork* work) {
  if (devices_.empty()) return true;
  OnDevice* on = Find(inflight_->worker(worker).link->device());
  MPSD_CHECK(on != nullptr);
  if (table_->TryTake(on->claim)) {
    *claim = on->claim;
    NoteTurn(on);
    // Others may have waited behind this claim. A claim that has not waited was before nobody.
    const bool has_waited = std::exchange(on->waits, false);
    Show(*on);
    if (has_waited) TellOthers(work);
    return true;
  }
  if (!on->waits) {
    facts_->model->metrics.resource_waits.fetch_add(1, std::memory_order_relaxed);
    on->waits_since_ns = facts_->clock->NowNs();
  }
  on->waits = on->asked = true;
  Show(*on);
  return false;
}

void PoolClaims::NoteTurn(OnDevice* on) {
  on->turns_before = on->turns;
  on->turns.Note(on->waits ? facts_->clock->NowNs() - on->waits_since_ns : 0);
}

void PoolClaims::GiveBack(InflightBatch* batch, DeferredWork* work) {
  if (batch->claim == nullptr) return;
  table_->GiveBack(std::exchange(batch->claim, nullptr),
                   facts_->clock->NowNs() - batch->batched_ns);
  TellOthers(work);
}

void PoolClaims::PutBack(InflightBatch* batch, DeferredWork* work) {
  if (batch->claim == nullptr) return;
  OnDevice* on = Find(batch->claim);
  on->turns = on->turns_before;
  Show(*on);
  if (table_->PutBack(std::exchange(batch->claim, nullptr))) TellOthers(work);
}

void PoolClaims::TellOthers(DeferredWork* work) const {
  work->others_may_run = work->others_may_run || table_->has_waiting();
}

}  // namespace mpsd
