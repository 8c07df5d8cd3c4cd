#include "text/subword/byte_trie.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace mpsd::text {
namespace {

ByteTrie Build(const std::map<std::string, int32_t>& keys) {
  std::vector<ByteTrie::Entry> entries;
  for (const auto& [key, value] : keys) entries.push_back({key, value});
  return *ByteTrie::Build(entries);
}

TEST(ByteTrie, FindsItsKeysAndNoOthers) {
  const ByteTrie trie = Build({{"a", 1}, {"abc", 2}, {"b\xFF", 3}, {std::string("\0x", 2), 4}});
  EXPECT_EQ(trie.Find("a"), 1);
  EXPECT_EQ(trie.Find("abc"), 2);
  EXPECT_EQ(trie.Find("b\xFF"), 3);
  EXPECT_EQ(trie.Find(absl::string_view("\0x", 2)), 4);
  for (const char* none : {"", "ab", "abcd", "b", "c", "x"}) EXPECT_EQ(trie.Find(none), -1) << none;
}

TEST(ByteTrie, FindsTheKeysOfItsNumbers) {
  const ByteTrie trie = Build({{"a", 1}, {"abc", 2}, {"b\xFF", 3}, {std::string("\0x", 2), 0}});
  EXPECT_EQ(trie.KeysOf({2, 3, 7, 0, -1, 2}),
            (std::vector<std::string>{"abc", "b\xFF", "", std::string("\0x", 2), "", "abc"}));
}

TEST(ByteTrie, OfNoKeysHasNone) {
  const ByteTrie trie = Build({});
  EXPECT_EQ(trie.Find("a"), -1);
  EXPECT_EQ(trie.Find(absl::string_view("\0", 1)), -1);
  EXPECT_EQ(trie.KeysOf({0}), std::vector<std::string>{""});
}

TEST(ByteTrie, AgreesWithAMapOnManyKeys) {
  std::mt19937 random(1);
  std::map<std::string, int32_t> keys;
  const auto text = [&random] {
    std::string bytes(1 + random() % 6, 0);
    for (char& byte : bytes) byte = static_cast<char>(random() % 3 == 0 ? random() : random() % 8);
    return bytes;
  };
  for (int32_t i = 0; i < 20000; ++i) keys[text()] = i;
  const ByteTrie trie = Build(keys);
  std::vector<int32_t> values;
  std::vector<std::string> wanted;
  for (const auto& [key, value] : keys) {
    ASSERT_EQ(trie.Find(key), value);
    values.push_back(value);
    wanted.push_back(key);
  }
  ASSERT_EQ(trie.KeysOf(values), wanted);
  for (int i = 0; i < 100000; ++i) {
    const std::string key = text();
    const auto known = keys.find(key);
    ASSERT_EQ(trie.Find(key), known == keys.end() ? -1 : known->second);
  }
}

}  // namespace
}  // namespace mpsd::text
