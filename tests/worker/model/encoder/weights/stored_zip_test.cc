#include "worker/model/encoder/weights/stored_zip.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/worker/model/encoder/weights/checkpoint_file.h"

namespace mpsd {
namespace {

std::string ZipError(const std::string& file) {
  const absl::StatusOr<ZipEntries> entries = ReadStoredZip(file);
  return entries.ok() ? "it was read" : std::string(entries.status().message());
}

TEST(StoredZip, ReadsEntriesOfBothKindsOfEnd) {
  for (const bool has_zip64 : {false, true}) {
    const std::string file = ZipOf({{"a", "1"}, {"b/c", ""}, {"d", "234"}}, has_zip64);
    const absl::StatusOr<ZipEntries> entries = ReadStoredZip(file);
    ASSERT_TRUE(entries.ok()) << entries.status();
    EXPECT_EQ(*entries, (ZipEntries{{"a", "1"}, {"b/c", ""}, {"d", "234"}}));
  }
}

TEST(StoredZip, ReadsNumbersOf64Bits) {
  const std::string file = ZipOf({{"a", "1"}, {"b", "234", 0, 0, 3, 32}});
  const absl::StatusOr<ZipEntries> entries = ReadStoredZip(file);
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_EQ(entries->at("b"), "234");
}

TEST(StoredZip, RefusesPackedAndEncryptedEntries) {
  EXPECT_EQ(ZipError(ZipOf({{"a", "1", 0, 8}})),
            "the entry 'a' is compressed; weights are stored as they are");
  EXPECT_EQ(ZipError(ZipOf({{"a", "1", 1, 0}})), "the entry 'a' is encrypted");
}

TEST(StoredZip, RefusesEntriesOutsideTheFile) {
  EXPECT_EQ(ZipError(ZipOf({{"a", "1", 0, 0, 2}})), "the entry 'a' lies outside the file");
  EXPECT_EQ(ZipError(ZipOf({{"a", "1", 0, 0, uint64_t{1} << 60}})),
            "the entry 'a' lies outside the file");
  EXPECT_EQ(ZipError(ZipOf({{"a", "1", 0, 0, UINT64_MAX, uint64_t{1} << 60}})),
            "the entry 'a' lies outside the file");
  EXPECT_EQ(ZipError(ZipOf({{"a", "1", 0, 0, UINT64_MAX, 1}})),
            "the entry 'a' lies outside the file");
}

TEST(StoredZip, RefusesEntriesThatOverlap) {
  // The second entry's place is the first one's, in which a header of its own lies.
  const std::string inner = ZipOf({{"b", "1234"}}).substr(0, 35);
  EXPECT_EQ(ZipError(ZipOf({{"a", inner}, {"b", "1234", 0, 0, UINT64_MAX, 31}})),
            "entries of the zip file overlap");
  EXPECT_EQ(ZipError(ZipOf({{"a", "1"}, {"a", "1"}})), "the entry 'a' is there twice");
}

TEST(StoredZip, RefusesAHeaderOfAnotherName) {
  EXPECT_EQ(ZipError(ZipOf({{"a", "1"}, {"b", "1", 0, 0, UINT64_MAX, 0}})),
            "the entry 'b' has another header than the directory says");
}

TEST(StoredZip, RefusesDirectoriesOutsideTheFileAndTooManyEntries) {
  for (const bool has_zip64 : {false, true}) {
    std::string file = ZipOf({{"a", "1"}}, has_zip64);
    const size_t end = file.size() - 22 - (has_zip64 ? 76 : 0);
    file[end + (has_zip64 ? 55 : 19)] = '\x7f';  // the highest byte of the directory's offset
    EXPECT_EQ(ZipError(file), "the zip file's directory lies outside the file");
  }
  std::string file = ZipOf({{"a", "1"}});
  file[file.size() - 22 - 76 + 39] = '\x7f';
  EXPECT_EQ(ZipError(file), "the zip file has too many entries");
  file = ZipOf({{"a", "1"}});
  file[file.size() - 22 - 20 + 15] = '\x7f';
  EXPECT_EQ(ZipError(file), "the zip file's end is in no place of the file");
}

TEST(StoredZip, RefusesEveryTruncationAndAComment) {
  const std::string file = ZipOf({{"a", "1"}});
  for (size_t bytes = 0; bytes < file.size(); ++bytes) {
    EXPECT_NE(ZipError(file.substr(0, bytes)), "it was read") << bytes;
  }
  EXPECT_NE(ZipError(file + "."), "it was read");
}

}  // namespace
}  // namespace mpsd
