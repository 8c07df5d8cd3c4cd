// ModelCache: the kept answers of one generation of a model.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"
#include "server/cache/response_cache.h"
#include "server/request/answer_cache.h"
#include "server/request/cache_scope.h"

namespace mpsd {

// The step between Validate() and the queue, for a model whose config says `response_cache`:
//
//   a request, checked ─▶ KeyOf ─▶ found       given at once; no admission, no queue, no batch
//                               └▶ not found   admitted as ever; AnswerStep has its answer kept
//
// Hits and misses are counted in the model's metrics and statistics before an answer is given, so
// that a client with an answer finds it counted. Equal requests that run at the same time are not
// merged.
//
// Owned by its ServedModel, and so kept alive by the requests inside: its shelf is dropped when the
// last of them has ended. Thread-safe; never blocks.
class ModelCache final : public AnswerCache {
 public:
  // The referents outlive it. REQUIRES: the scope is not kOff.
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
