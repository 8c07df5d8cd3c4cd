// GrowthPolicy: how long a text may become on its way through the steps of a tokenizer.
#pragma once

#include <algorithm>
#include <cstddef>

namespace mpsd::text {

inline constexpr size_t kMaxGrownBytes = 4 << 20;

// The bytes that a text of `size` bytes may have in its normal form, and again as pieces. No step
// of Unicode's makes a character more than eleven times as long, and the bytes of that, made
// visible, are twice as many; a tokenizer.json with steps that go beyond that wants memory and no
// tokens. Pure.
inline size_t MostGrownBytes(size_t size) { return std::min(kMaxGrownBytes, size * 32 + 4096); }

// What one text may still take. A text is cut by its added tokens; its parts share these.
struct GrowthRoom {
  explicit GrowthRoom(size_t size) : normal(MostGrownBytes(size)), pieces(normal) {}

  size_t normal;  // bytes of normal forms
  size_t pieces;  // bytes of pieces
};

}  // namespace mpsd::text
