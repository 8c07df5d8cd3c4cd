// HeadLayout, Sight: how an attention's numbers lie in a token, and which tokens a token sees.
#pragma once

#include <cstdint>
#include <optional>

namespace mpsd {

// How the numbers of a token, [heads, size] of queries, then of keys, then of values, lie in a row.
// Plain data.
struct HeadLayout {
  int64_t queries = 0;
  int64_t keys = 0;        // and values; a divisor of `queries`: neighbours share a key
  double score_scale = 0;  // 0: 1 over the root of a head's size

  int64_t turned() const { return queries + keys; }
  int64_t all() const { return queries + 2 * keys; }

  // As libtorch's functions take it.
  std::optional<double> scale() const {
    return score_scale > 0 ? std::optional(score_scale) : std::nullopt;
  }
};

// Which tokens of its row a token sees. Plain data.
struct Sight {
  int64_t reach = 0;       // above 0: that many to each side and no more
  bool is_causal = false;  // those before it, and itself; without a reach
};

}  // namespace mpsd
