#include "server/cache/model_cache.h"

#include <atomic>
#include <memory>

#include "proto/base/check.h"
#include "server/cache/content_key.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

bool ModelCache::TryAnswer(Request* request) {
  const int64_t start_ns = clock_->NowNs();
  request->cache_key = KeyOf(*request, scope_);
  if (!request->cache_key.has_value()) return false;
  const std::shared_ptr<const KeptAnswer> kept = answers_->Find(shelf_, *request->cache_key);
  const int64_t lookup_ns = clock_->NowNs() - start_ns;
  ModelMetrics& metrics = *request->metrics;
  if (kept == nullptr) {
    metrics.cache_misses.fetch_add(1, std::memory_order_relaxed);
    metrics.inference.AddCacheMiss(lookup_ns);
    return false;
  }
  metrics.cache_hits.fetch_add(1, std::memory_order_relaxed);
  metrics.inference.AddCacheHit(start_ns - request->arrival_ns, lookup_ns);
  request->reply.Send(kept->View());
  return true;
}

void ModelCache::Keep(const Request& request, const Answer& answer) {
  MPSD_CHECK(request.cache_key.has_value());
  const uint64_t bytes = KeptAnswer::BytesOf(answer);
  if (!answers_->Takes(bytes)) return;
  const int64_t start_ns = clock_->NowNs();
  answers_->Put(shelf_, *request.cache_key, std::make_shared<const KeptAnswer>(answer), bytes);
  request.metrics->inference.AddCacheCopy(clock_->NowNs() - start_ns);
}

}  // namespace mpsd
