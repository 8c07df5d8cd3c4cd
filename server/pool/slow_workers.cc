#include "server/pool/slow_workers.h"

#include <algorithm>

#include "absl/types/span.h"
#include "server/pool/schedule/lane_choice.h"
#include "server/pool/schedule/slowness.h"

namespace mpsd {

void SlowWorkers::Note(uint32_t lane, uint32_t rows, int64_t took_ns, LatencyCurve* curve) {
  if (!curve->known()) return curve->Note(rows, took_ns);
  const uint32_t worker = inflight_->lanes()[lane].worker;
  if (!inflight_->worker(worker).slowness.known()) TryNext(worker);
  if (WarmsUp(lane)) return;
  const int64_t expected_ns = std::max<int64_t>(1, curve->MeanNs(rows));
  inflight_->slowness(worker)->Note(expected_ns, took_ns);
  if (!inflight_->workers()[worker].is_slow()) curve->Note(rows, took_ns);
  if (inflight_->workers().size() == 1) return;
  const double usual = Judge();
  const bool recovers = inflight_->worker(worker).slowness.last() < kSlowUntil * usual;
  if (recovers && inflight_->workers()[worker].is_slow()) TryNext(worker);
}

void SlowWorkers::TryNext(uint32_t worker) { inflight_->view(worker)->passed_over = kProbeEvery; }

bool SlowWorkers::WarmsUp(uint32_t lane) const {
  const uint32_t worker = inflight_->lanes()[lane].worker;
  return inflight_->worker(worker).joined_late && inflight_->port(lane)->completed <= kWarmUpRuns;
}

double SlowWorkers::Judge() {
  const absl::Span<const WorkerView> views = inflight_->workers();
  ratios_.clear();
  for (uint32_t i = 0; i < views.size(); ++i) {
    const Slowness& slowness = inflight_->worker(i).slowness;
    if (views[i].takes_batches && slowness.known()) ratios_.push_back(slowness.ratio());
  }
  if (ratios_.empty()) return 1;
  const double usual = UsualRatio(absl::MakeSpan(ratios_));
  for (uint32_t i = 0; i < views.size(); ++i) {
    const Slowness& slowness = inflight_->worker(i).slowness;
    if (!slowness.known()) continue;
    inflight_->view(i)->slowness = SlownessOf(slowness.ratio(), usual, views[i].is_slow());
  }
  return usual;
}

}  // namespace mpsd
