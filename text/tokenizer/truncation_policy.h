// TruncationPolicy: how many tokens of a text, or of each text of a pair, fit into a row.
#pragma once

#include <algorithm>
#include <cstddef>

namespace mpsd::text {

struct KeptCounts {
  size_t first = 0;
  size_t second = 0;
};

// Cuts the longer text down to the shorter one, then both; the second keeps the odd token. Pure.
inline KeptCounts KeepLongestFirst(size_t first, size_t second, size_t room) {
  if (first + second <= room) return {first, second};
  const bool swaps = first > second;
  size_t shorter = std::min(first, second);
  size_t longer = shorter > room ? shorter : std::max(shorter, room - shorter);
  if (shorter + longer > room) {
    shorter = room / 2;
    longer = shorter + room % 2;
  }
  return swaps ? KeptCounts{longer, shorter} : KeptCounts{shorter, longer};
}

}  // namespace mpsd::text
