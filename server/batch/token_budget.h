// TokenBudget: how many rows of a length may share a batch, for its number of tokens.
#pragma once

#include <cstdint>
#include <limits>

#include "proto/link/model_spec.h"
#include "server/request/request.h"

namespace mpsd {

// `models[].max_batch_tokens`. What rows are to a model of fixed shapes, tokens are to one of text,
// whose batches of long rows take many times the time and memory of as many short ones.
//
// A token counts as it lies in the batch, padding to the bucket included, though a model may leave
// padding out. So the budget is a number of rows for each line, which schedulers and forecasts know
// anyway, and nobody counts a batch's tokens while it is formed. Buckets double, so the tokens that
// texts have are at least some half of the budget in a batch that reaches it.
//
// Part of a RequestLines, of one model's requests. A value, thread-compatible; allocates nothing.
class TokenBudget {
 public:
  static constexpr uint32_t kAnyRows = std::numeric_limits<uint32_t>::max();

  // No budget.
  TokenBudget() = default;
  // 0 tokens: any. `spec` outlives the budget, and may still change until the first RowsOf().
  TokenBudget(const ModelSpec* spec, uint64_t tokens) : spec_(spec), tokens_(tokens) {}

  // The most rows as long as this request's that requests may share a batch with. At least 1, and
  // fewer than the request has where it exceeds the budget itself: then it runs alone. kAnyRows
  // where there is no budget, or the model takes no tokens. Pure.
  uint32_t RowsOf(const Request& request) const;

 private:
  const ModelSpec* spec_ = nullptr;
  uint64_t tokens_ = 0;
};

}  // namespace mpsd
