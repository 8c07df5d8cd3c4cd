// TokenBudget: how many rows of one length may share a batch, given a limit on its tokens.
#pragma once

#include <cstdint>
#include <limits>

#include "proto/link/model_spec.h"
#include "server/request/request.h"

namespace mpsd {

// The config's `models[].max_batch_tokens`. Rows of text differ in length: a batch of long rows
// takes many times the time and memory of one of short rows. So tokens are limited instead of rows.
//
// Padding up to the bucket counts too, even if a model leaves it out. So the budget becomes a
// number of rows per line, which schedulers and forecasts know anyway; nobody counts tokens while a
// batch is formed. Buckets double, so a batch that reaches the budget has at least about half of it
// in real tokens.
//
// Part of a RequestLines, for one model's requests. A value, thread-compatible; allocates nothing.
class TokenBudget {
 public:
  static constexpr uint32_t kAnyRows = std::numeric_limits<uint32_t>::max();

  // No budget.
  TokenBudget() = default;
  // 0 tokens: no limit. `spec` outlives the budget, and may still change until the first RowsOf().
  TokenBudget(const ModelSpec* spec, uint64_t tokens) : spec_(spec), tokens_(tokens) {}

  // The most rows of this request's length that may share a batch. At least 1. If the request
  // itself exceeds the budget, this is less than its own rows, and it runs alone. kAnyRows if there
  // is no budget, or the model takes no tokens. Pure.
  uint32_t RowsOf(const Request& request) const;

 private:
  const ModelSpec* spec_ = nullptr;
  uint64_t tokens_ = 0;
};

}  // namespace mpsd
