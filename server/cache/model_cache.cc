#include "server/cache/model_cache.h"

#include <atomic>
#include <memory>
#include <string>
#include <type_traits>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/access/sha256.h"
#include "server/request/infer_message.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {
namespace {

static_assert(std::is_same_v<ContentKey, Sha256Digest>);

void Put(uint64_t number, std::string* head) {
  head->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

uint64_t PayloadBytes(const Request& request) {
  uint64_t bytes = 0;
  for (const RequestInput& input : request.inputs) {
    if (!input.is_left_out()) bytes += input.payload->bytes;
  }
  return bytes;
}

void PutInput(const RequestInput& input, std::string* head) {
  Put(static_cast<uint64_t>(input.datatype), head);
  if (input.is_left_out()) return;
  Put(input.dims.size(), head);
  for (const int64_t dim : input.dims) Put(static_cast<uint64_t>(dim), head);
  Put(input.payload->bytes, head);
}

// Every number has a fixed width and every list begins with its length. So no two requests have the
// same head, and the head tells where each payload ends.
std::string HeadOf(const Request& request, CacheScope scope) {
  std::string head;
  const bool is_shared = scope == CacheScope::kShared;
  Put(is_shared ? 0 : request.rules_version, &head);
  Put(is_shared ? 0 : request.tenant, &head);
  Put(request.rows, &head);
  Put(request.wanted_outputs.size(), &head);
  for (const uint32_t output : request.wanted_outputs) Put(output, &head);
  for (const RequestInput& input : request.inputs) PutInput(input, &head);
  return head;
}

}  // namespace

std::optional<ContentKey> KeyOf(const Request& request, CacheScope scope) {
  const bool may_be_several = request.tenant == kMaxTenants - 1;
  if (scope == CacheScope::kTenant && may_be_several) return std::nullopt;
  if (PayloadBytes(request) > kMostDigestedBytes) return std::nullopt;
  const std::string head = HeadOf(request, scope);
  absl::InlinedVector<absl::string_view, 8> pieces = {head};
  for (const RequestInput& input : request.inputs) {
    if (input.is_left_out()) continue;
    pieces.insert(pieces.end(), input.payload->pieces.begin(), input.payload->pieces.end());
  }
  return Sha256(pieces);
}

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
