// ByteTrie: finds numbers by byte keys while walking along a text.
//
//   uint32_t node = trie.root();
//   while (at < text.size() && (node = trie.Step(node, text[at])) != ByteTrie::kNone) {
//     ++at;
//     if (trie.Value(node) >= 0) ...  // text[start, at) is a key
//   }
//
// A double array: a node's children lie in a block of 256 units, each at the node's base XOR its
// byte. A unit knows its byte, and no two nodes have one base, so the byte alone identifies the
// parent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd::text {

// Constant after Build(), so thread-safe. A unit of 8 bytes stands for a byte of all keys with the
// same beginning. A look-up works for any bytes.
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

  // kNone if no key continues with `byte`.
  uint32_t Step(uint32_t node, char byte) const {
    const auto label = static_cast<uint8_t>(byte);
    const uint32_t next = (units_[node].word >> kBaseShift) ^ label;
    return (units_[next].word & kLabelMask) == (kUsed | label) ? next : kNone;
  }

  uint32_t Walk(absl::string_view key) const;

  // -1 if no key ends at `node`.
  int32_t Value(uint32_t node) const { return units_[node].value; }

  // -1 if the key is unknown.
  int32_t Find(absl::string_view key) const;

  // Looks at every unit, some 2 ms for a million: for people. Unknown values give empty texts.
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
