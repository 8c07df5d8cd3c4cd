// GrowthPolicy: how long a text may become in a tokenizer's steps.
#pragma once

#include <algorithm>
#include <cstddef>

namespace mpsd::text {

inline constexpr size_t kMaxGrownBytes = 4 << 20;

// Limit of bytes for a text of `size` bytes in its normal form, and again as pieces. Unicode's
// steps make a character at most eleven times as long, and visible bytes double that. A
// tokenizer.json with steps beyond that wants memory and no tokens. Pure.
inline size_t MostGrownBytes(size_t size) { return std::min(kMaxGrownBytes, size * 32 + 4096); }

// One text's remaining room. A text is cut by its added tokens; its parts share this.
struct GrowthRoom {
  explicit GrowthRoom(size_t size) : normal(MostGrownBytes(size)), pieces(normal) {}

  size_t normal;  // bytes of normal forms
  size_t pieces;  // bytes of pieces
};

}  // namespace mpsd::text
