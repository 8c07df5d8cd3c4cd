// ShapeCurves: one latency curve per shape of a model's requests.
#pragma once

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "server/request/request.h"
#include "server/schedule/latency_curve.h"

namespace mpsd {

// Owned by a pool's queue. Thread-compatible: guarded by the pool's mutex. The address of a curve
// is stable as long as this object lives. Shapes beyond the first kMostShapes share one curve.
class ShapeCurves {
 public:
  static constexpr size_t kMostShapes = 64;

  LatencyCurve* Of(const ShapeKey& key) {
    const auto known = curves_.find(key);
    if (known != curves_.end()) return known->second.get();
    if (curves_.size() >= kMostShapes) return &of_others_;
    return curves_.emplace(key, std::make_unique<LatencyCurve>()).first->second.get();
  }

 private:
  absl::flat_hash_map<ShapeKey, std::unique_ptr<LatencyCurve>> curves_;
  LatencyCurve of_others_;
};

}  // namespace mpsd
