#include "text/subword/byte_trie.h"

#include <array>
#include <bit>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace mpsd::text {
namespace {

constexpr uint32_t kBlockUnits = 256;
constexpr size_t kMaxOpenBlocks = 16;  // older ones get no more children
constexpr size_t kMinFree = 8;         // blocks with fewer free units get no more children

}  // namespace

// Lays parents out first. Lives on one thread, during Build().
class ByteTrieBuilder {
 public:
  explicit ByteTrieBuilder(absl::Span<const ByteTrie::Entry> entries) : entries_(entries) {
    // The root has this block. Other units stay unused, since a leaf's base is 0.
    trie_.units_.resize(kBlockUnits);
  }

  std::optional<ByteTrie> Run() {
    if (!entries_.empty()) ranges_.push_back({0, 0, entries_.size(), 0});
    while (!ranges_.empty()) {
      const Range range = ranges_.back();
      ranges_.pop_back();
      if (!Place(range)) return std::nullopt;
    }
    return std::move(trie_);
  }

 private:
  struct Range {  // keys that continue behind `node`
    uint32_t node;
    size_t begin;
    size_t end;
    size_t depth;
  };
  struct Bits {
    std::array<uint64_t, kBlockUnits / 64> words = {};

    bool Has(uint32_t bit) const { return (words[bit / 64] >> bit % 64 & 1) != 0; }
    void Set(uint32_t bit) { words[bit / 64] |= uint64_t{1} << bit % 64; }
  };
  struct Block {
    uint32_t first;
    size_t free_count = kBlockUnits;
    Bits used = {};
    Bits used_bases = {};
  };

  uint8_t ByteAt(size_t entry, size_t depth) const {
    return static_cast<uint8_t>(entries_[entry].key[depth]);
  }

  // Gives the children units, and queues them. False if there are too many.
  bool Place(const Range& range) {
    size_t begin = range.begin;
    if (entries_[begin].key.size() == range.depth) {
      trie_.units_[range.node].value = entries_[begin].value;
      if (++begin == range.end) return true;
    }
    children_.clear();
    for (size_t i = begin; i < range.end; ++i) {
      const uint8_t byte = ByteAt(i, range.depth);
      if (children_.empty() || children_.back().first != byte) children_.push_back({byte, i});
    }
    const uint32_t base = FindBase();
    if (trie_.units_.size() > ByteTrie::kMaxUnits) return false;
    trie_.units_[range.node].word |= base << ByteTrie::kBaseShift;
    for (size_t i = 0; i < children_.size(); ++i) {
      const auto [byte, first] = children_[i];
      const size_t end = i + 1 < children_.size() ? children_[i + 1].second : range.end;
      trie_.units_[base ^ byte].word = ByteTrie::kUsed | byte;
      ranges_.push_back({base ^ byte, first, end, range.depth + 1});
    }
    return true;
  }

  // Takes a base that no node has, with free units for `children_`.
  uint32_t FindBase() {
    for (size_t i = blocks_.size(); i-- > 0;) {
      if (const int base = BaseIn(blocks_[i]); base >= 0)
        return Take(i, static_cast<uint32_t>(base));
    }
    const auto first = static_cast<uint32_t>(trie_.units_.size());
    trie_.units_.resize(first + kBlockUnits);
    blocks_.push_back({first});
    const uint32_t base = Take(blocks_.size() - 1, children_[0].first);
    if (blocks_.size() > kMaxOpenBlocks) blocks_.pop_front();
    return base;
  }

  // Returns -1 if there is none. Looks only at free units: an open block is nearly full most of the
  // time.
  int BaseIn(const Block& block) const {
    if (block.free_count < children_.size()) return -1;
    for (uint32_t word = 0; word < block.used.words.size(); ++word) {
      for (uint64_t free = ~block.used.words[word]; free != 0; free &= free - 1) {
        const uint32_t unit = word * 64 + static_cast<uint32_t>(std::countr_zero(free));
        const uint32_t base = unit ^ children_[0].first;
        if (!block.used_bases.Has(base) && Fits(block, base)) return static_cast<int>(base);
      }
    }
    return -1;
  }

  // The first child's unit is known to be free.
  bool Fits(const Block& block, uint32_t base) const {
    for (size_t i = 1; i < children_.size(); ++i) {
      if (block.used.Has(base ^ children_[i].first)) return false;
    }
    return true;
  }

  uint32_t Take(size_t index, uint32_t base) {
    Block& block = blocks_[index];
    const uint32_t first = block.first;
    block.used_bases.Set(base);
    for (const auto& [byte, entry] : children_) block.used.Set(base ^ byte);
    block.free_count -= children_.size();
    if (block.free_count < kMinFree) blocks_.erase(blocks_.begin() + static_cast<int64_t>(index));
    return first + base;
  }

  const absl::Span<const ByteTrie::Entry> entries_;
  ByteTrie trie_;
  std::deque<Block> blocks_;
  std::vector<Range> ranges_;
  std::vector<std::pair<uint8_t, size_t>> children_;  // a byte, and the first entry with it
};

std::optional<ByteTrie> ByteTrie::Build(absl::Span<const Entry> entries) {
  return ByteTrieBuilder(entries).Run();
}

uint32_t ByteTrie::Walk(absl::string_view key) const {
  uint32_t node = root();
  for (size_t i = 0; i < key.size() && node != kNone; ++i) node = Step(node, key[i]);
  return node;
}

int32_t ByteTrie::Find(absl::string_view key) const {
  const uint32_t node = Walk(key);
  return node == kNone ? -1 : Value(node);
}

std::vector<std::string> ByteTrie::KeysOf(absl::Span<const int32_t> values) const {
  std::vector<uint32_t> parents(units_.size());  // by base, unique to a node
  absl::flat_hash_map<int32_t, uint32_t> nodes;
  for (const int32_t value : values) nodes[value] = root();
  for (uint32_t node = 0; node < units_.size(); ++node) {
    if (const uint32_t base = units_[node].word >> kBaseShift; base != 0) parents[base] = node;
    const int32_t value = units_[node].value;
    if (value < 0) continue;
    if (const auto wanted = nodes.find(value); wanted != nodes.end()) wanted->second = node;
  }
  std::vector<std::string> keys;
  for (const int32_t value : values) {
    std::string key;
    for (uint32_t node = nodes[value]; node != root();) {
      const uint32_t label = units_[node].word & 0xFF;
      key.push_back(static_cast<char>(label));
      node = parents[node ^ label];
    }
    keys.emplace_back(key.rbegin(), key.rend());
  }
  return keys;
}

}  // namespace mpsd::text
