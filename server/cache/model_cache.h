// ModelCache: the kept answers of one generation of a model.
#pragma once

#include <cstdint>
#include <optional>

#include "proto/base/clock.h"
#include "server/cache/response_cache.h"
#include "server/request/answer_cache.h"
#include "server/request/cache_scope.h"
#include "server/request/request.h"

namespace mpsd {

// The digest of more would delay the thread's other calls by milliseconds.
inline constexpr uint64_t kMostDigestedBytes = 4 << 20;

// SHA-256 over the checked inputs (datatypes, dims and bytes, in the spec's order, and which
// optional ones are left out) and the wanted outputs in their order. With kTenant it covers the
// tenant and the rules that numbered it too. A client cannot make two requests with one key, so
// inputs need not be kept.
//
// Nothing if the inputs have more than kMostDigestedBytes, or the tenant is the last one, which may
// stand for several callers (AccessPolicy::TenantOf). Takes about 0.5 to 2 ms per MiB. REQUIRES:
// Validate() accepted the request, and its payloads are there. Pure.
std::optional<ContentKey> KeyOf(const Request& request, CacheScope scope);

// For a model whose config says `response_cache`:
//
//   a request, checked ─▶ KeyOf ─▶ found       given at once; no admission, no queue, no batch
//                               └▶ not found   admitted as ever; AnswerStep has its answer kept
//
// Hits and misses are counted before an answer is given. Owned by its ServedModel. Thread-safe;
// never blocks.
class ModelCache final : public AnswerCache {
 public:
  // REQUIRES: the scope is not kOff.
  ModelCache(ResponseCache* answers, CacheScope scope, const Clock* clock)
      : answers_(answers), scope_(scope), clock_(clock), shelf_(answers->AddShelf()) {}
  ~ModelCache() override { answers_->DropShelf(shelf_); }
  ModelCache(const ModelCache&) = delete;
  ModelCache& operator=(const ModelCache&) = delete;

  bool TryAnswer(Request* request) override;
  void Keep(const Request& request, const Answer& answer) override;

 private:
  ResponseCache* const answers_;
  const CacheScope scope_;
  const Clock* const clock_;
  const uint64_t shelf_;
};

}  // namespace mpsd
