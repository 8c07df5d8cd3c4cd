// HeadLayout, Sight: how an attention's numbers lie in a token, and which tokens a token sees.
#pragma once

#include <cstdint>
#include <optional>

namespace mpsd {

// A token's numbers are [heads, size]: queries, then keys, then values. Plain data.
struct HeadLayout {
  int64_t queries = 0;
  int64_t keys = 0;        // also of values; divides `queries`: neighbours share a key
  double score_scale = 0;  // 0: 1 over the root of a head's size

  int64_t turned() const { return queries + keys; }
  int64_t all() const { return queries + 2 * keys; }

  std::optional<double> scale() const {
    return score_scale > 0 ? std::optional(score_scale) : std::nullopt;
  }
};

// The tokens of its row that a token sees. Plain data.
struct Sight {
  int64_t reach = 0;       // above 0: only this many to each side
  bool is_causal = false;  // only itself and tokens before it; excludes a reach
};

}  // namespace mpsd
