#include "text/unicode/characters.h"

#include <algorithm>
#include <iterator>

namespace mpsd::text {
namespace {

struct Mapping {
  char32_t from;
  const char32_t* to;
};
struct Pair {
  char32_t first;
  char32_t second;
  char32_t composed;
};
struct OrderRun {
  char32_t first;
  char32_t last;
  uint8_t order;
};

#include "text/unicode/tables.inc"

constexpr uint32_t kBlockBits = 6;  // characters in a block
constexpr uint32_t kGroupBits = 7;  // blocks in a group
static_assert(sizeof(kBlocks[0]) == (1 << kBlockBits) + 1);
static_assert(std::size(kGroups[0]) == 1 << kGroupBits);
static_assert(std::size(kStages) << (kBlockBits + kGroupBits) == 0x110000);

// Hangul syllables are numbered: a leading consonant, a vowel, and one of 28 endings.
constexpr char32_t kSyllables = 0xAC00;
constexpr char32_t kLeads = 0x1100;
constexpr char32_t kVowels = 0x1161;
constexpr char32_t kTails = 0x11A7;  // one before the first
constexpr uint32_t kLeadCount = 19;
constexpr uint32_t kVowelCount = 21;
constexpr uint32_t kTailCount = 28;
constexpr uint32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

// REQUIRES: the table has `c`.
template <size_t size>
const char32_t* Find(const Mapping (&table)[size], char32_t c) {
  return std::lower_bound(std::begin(table), std::end(table), c,
                          [](const Mapping& row, char32_t wanted) { return row.from < wanted; })
      ->to;
}

void AppendSyllable(uint32_t index, std::u32string* text) {
  text->push_back(kLeads + index / (kVowelCount * kTailCount));
  text->push_back(kVowels + index / kTailCount % kVowelCount);
  if (index % kTailCount != 0) text->push_back(kTails + index % kTailCount);
}

char32_t ComposedHangul(char32_t first, char32_t second) {
  if (first - kLeads < kLeadCount && second - kVowels < kVowelCount) {
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
  }
  const bool is_open =
      first - kSyllables < kSyllableCount && (first - kSyllables) % kTailCount == 0;
  const bool is_tail = second > kTails && second < kTails + kTailCount;
  return is_open && is_tail ? first + (second - kTails) : 0;
}

constexpr uint32_t TraitsOf(char32_t c) {
  const uint32_t block = c >> kBlockBits;
  const uint16_t* group = kGroups[kStages[block >> kGroupBits]];
  const char* letters = kBlocks[group[block & ((1 << kGroupBits) - 1)]];
  return kTraits[letters[c & ((1 << kBlockBits) - 1)] - kFirstLetter];
}

constexpr std::array<uint32_t, 128> AsciiTraits() {
  std::array<uint32_t, 128> traits = {};
  for (char32_t c = 0; c < traits.size(); ++c) traits[c] = TraitsOf(c);
  return traits;
}

}  // namespace

constinit const std::array<uint32_t, 128> kAsciiTraits = AsciiTraits();

uint32_t FarTraits(char32_t c) { return TraitsOf(c); }

void AppendLower(char32_t c, std::u32string* text) {
  if ((Traits(c) & kHasLower) == 0) {
    text->push_back(c);
  } else {
    text->append(Find(kLower, c));
  }
}

void AppendDecomposed(char32_t c, Decomposition decomposition, std::u32string* text) {
  const uint32_t traits = Traits(c);
  if (c - kSyllables < kSyllableCount) {
    AppendSyllable(c - kSyllables, text);
  } else if (decomposition == Decomposition::kCompatibility && (traits & kHasCompatibility) != 0) {
    text->append(Find(kCompatibility, c));
  } else if ((traits & kHasCanonical) != 0) {
    text->append(Find(kCanonical, c));
  } else {
    text->push_back(c);
  }
}

uint8_t OrderOf(char32_t c) {
  if ((Traits(c) & kHasOrder) == 0) return 0;
  return std::lower_bound(std::begin(kOrders), std::end(kOrders), c,
                          [](const OrderRun& run, char32_t wanted) { return run.last < wanted; })
      ->order;
}

char32_t Composed(char32_t first, char32_t second) {
  if (const char32_t syllable = ComposedHangul(first, second)) return syllable;
  const auto key = [](const Pair& pair) { return std::pair(pair.first, pair.second); };
  const auto wanted = std::pair(first, second);
  const Pair* found =
      std::lower_bound(std::begin(kPairs), std::end(kPairs), wanted,
                       [key](const Pair& pair, const auto& value) { return key(pair) < value; });
  return found != std::end(kPairs) && key(*found) == wanted ? found->composed : 0;
}

}  // namespace mpsd::text
