// TokenBudget: how many rows of one length may share a batch, given a limit on its tokens.
#pragma once

#include <cstdint>
#include <limits>

#include "proto/link/model_spec.h"
#include "server/request/request.h"

namespace mpsd {

// The config's `models[].max_batch_tokens`: a batch of long rows takes many times the time and
// memory of one of short rows. Padding up to the bucket counts too, so the budget is a number of
// rows per line. Buckets double, so a batch that reaches the budget has at least about half of it
// in real tokens. A value, thread-compatible; allocates nothing.
class TokenBudget {
 public:
  static constexpr uint32_t kAnyRows = std::numeric_limits<uint32_t>::max();

  // No budget.
  TokenBudget() = default;
  // 0 tokens: no limit. `spec` outlives the budget, and may change until the first RowsOf().
  TokenBudget(const ModelSpec* spec, uint64_t tokens) : spec_(spec), tokens_(tokens) {}

  // How many rows of this request's length may share a batch, at least 1. A request with more rows
  // runs alone. kAnyRows if there is no budget, or the model takes no tokens. Pure.
  uint32_t RowsOf(const Request& request) const;

 private:
  const ModelSpec* spec_ = nullptr;
  uint64_t tokens_ = 0;
};

}  // namespace mpsd
