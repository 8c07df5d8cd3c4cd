// ByteTrie: finds numbers by byte keys while walking along a text.
//
// A tokenizer's vocabularies and added tokens are tries. A walk costs one load a byte:
//
//   uint32_t node = trie.root();
//   while (at < text.size() && (node = trie.Step(node, text[at])) != ByteTrie::kNone) {
//     ++at;
//     if (trie.Value(node) >= 0) ...  // text[start, at) is a key
//   }
//
// It is a double array. A node's children lie in one block of 256 units, each at the node's base
// XOR its byte. A unit knows its byte, and no two nodes have the same base, so the byte alone
// identifies the parent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd::text {

// Constant after Build(), so thread-safe. Owns 8 bytes for each unit and no keys; a unit is a byte
// of some key, shared by keys with the same beginning. A look-up works for any bytes.
class ByteTrie {
 public:
  struct Entry {
    absl::string_view key;
    int32_t value = 0;
  };
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint32_t kMaxUnits = 1 << 23;

  // Nothing if the keys need more than kMaxUnits. REQUIRES: keys are not empty, sorted by bytes,
  // and unique; values are not negative.
  static std::optional<ByteTrie> Build(absl::Span<const Entry> entries);

  uint32_t root() const { return 0; }

  // The node behind `node` at `byte`; kNone if no key continues so.
  uint32_t Step(uint32_t node, char byte) const {
    const auto label = static_cast<uint8_t>(byte);
    const uint32_t next = (units_[node].word >> kBaseShift) ^ label;
    return (units_[next].word & kLabelMask) == (kUsed | label) ? next : kNone;
  }

  // The node behind all bytes of `key`, or kNone.
  uint32_t Walk(absl::string_view key) const;

  // The number of the key that ends at `node`; -1 if none does.
  int32_t Value(uint32_t node) const { return units_[node].value; }

  // The number of `key`; -1 if unknown.
  int32_t Find(absl::string_view key) const;

  // The reverse: keys of these numbers, empty for unknown ones. Looks at every unit, some 2 ms for
  // a million, and takes 4 bytes for each meanwhile. It is for people who look at tokens, not for a
  // request's way.
  std::vector<std::string> KeysOf(absl::Span<const int32_t> values) const;

 private:
  friend class ByteTrieBuilder;

  static constexpr uint32_t kBaseShift = 9;
  static constexpr uint32_t kUsed = 1 << 8;
  static constexpr uint32_t kLabelMask = kUsed | 0xFF;

  struct Unit {
    uint32_t word = 0;  // base << kBaseShift | kUsed | byte
    int32_t value = -1;
  };

  ByteTrie() = default;

  std::vector<Unit> units_;
};

}  // namespace mpsd::text
