#include "client/format/npy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/tensor.h"

namespace mpsd::cli {
namespace {

using absl::string_view;

// A file as numpy writes it.
std::string File(string_view header, string_view data, char version = 1) {
  std::string text(header);
  text += '\n';
  std::string file("\x93NUMPY");
  file += version;
  file += '\0';
  file += static_cast<char>(text.size() & 0xFF);
  file += static_cast<char>(text.size() >> 8);
  if (version == 2) file += std::string(2, '\0');
  return file + text + std::string(data);
}

std::string Header(string_view descr, string_view shape) {
  return absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", shape, ", }");
}

string_view ErrorOf(const std::string& file, std::string* keep) {
  *keep = std::string(ParseNpy(file).status().message());
  return *keep;
}

#define EXPECT_REFUSED(file, text)                                      \
  do {                                                                  \
    std::string keep;                                                   \
    EXPECT_TRUE(absl::StrContains(ErrorOf(file, &keep), text)) << keep; \
  } while (false)

TEST(Npy, ReadsFloatsOfBothVersions) {
  const float values[] = {1.5F, -2, 3, 4, 5, 6};
  const string_view data(reinterpret_cast<const char*>(values), sizeof(values));
  for (const char version : {1, 2}) {
    const auto array = ParseNpy(File(Header("<f4", "(2, 3)"), data, version));
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->datatype, DataType::kFp32);
    EXPECT_EQ(array->shape, (Dims{2, 3}));
    EXPECT_EQ(array->bytes, data);
  }
}

TEST(Npy, ReadsScalarsVectorsAndEmptyArrays) {
  EXPECT_EQ(ParseNpy(File(Header("|u1", "()"), "a"))->shape, Dims());
  EXPECT_EQ(ParseNpy(File(Header("|u1", "(3,)"), "abc"))->shape, Dims{3});
  EXPECT_EQ(ParseNpy(File(Header("<i8", "(0, 4)"), ""))->shape, (Dims{0, 4}));
}

TEST(Npy, ReadsFixedStringsAsBytes) {
  const auto array = ParseNpy(File(Header("|S3", "(2,)"), string_view("ab\0xyz", 6)));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->datatype, DataType::kBytes);
  EXPECT_EQ(array->bytes, client::PackBytes({"ab", "xyz"}));
}

TEST(Npy, RefusesWhatTheProtocolHasNot) {
  EXPECT_REFUSED(File(Header(">f4", "(1,)"), "abcd"), "dtype '>f4'");
  EXPECT_REFUSED(File(Header("<c8", "(1,)"), "abcdefgh"), "dtype '<c8'");
  EXPECT_REFUSED(File(Header("|O", "(1,)"), "abcdefgh"), "dtype '|O'");
  EXPECT_REFUSED(File(Header("|S0", "(1,)"), ""), "dtype '|S0'");
  EXPECT_REFUSED(File("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd"),
                 "named fields");
}

TEST(Npy, RefusesFortranOrderButOfOneDim) {
  EXPECT_REFUSED(File("{'descr': '|u1', 'fortran_order': True, 'shape': (1, 2), }", "ab"),
                 "Fortran order");
  EXPECT_TRUE(
      ParseNpy(File("{'descr': '|u1', 'fortran_order': True, 'shape': (2,), }", "ab")).ok());
}

TEST(Npy, RefusesFilesThatContradictThemselves) {
  EXPECT_REFUSED(File(Header("<f4", "(2,)"), "abcd"), "4 bytes of data do not make up [2]");
  EXPECT_REFUSED(File(Header("<f4", "(1,)"), "abcde"), "5 bytes");
  EXPECT_REFUSED(File(Header("<f4", "(4611686018427387904, 4)"), ""), "do not make up");
  EXPECT_REFUSED(File(Header("<f4", "(1, x)"), "abcd"), "a dim is not a number");
  EXPECT_REFUSED(File(Header("<f4", "(-1,)"), ""), "a dim is not a number");
  EXPECT_REFUSED(File(Header("|u1", "(1,1,1,1,1,1,1,1,1,1)"), "a"), "too many dims");
  EXPECT_REFUSED(File("{'descr': '<f4'}", ""), "no 'shape'");
  EXPECT_REFUSED(File(Header("<f4", "(1,)"), "abcd", 3), "version 3");
}

TEST(Npy, RefusesEveryCutOfAFile) {
  const std::string file = File(Header("<f4", "(1,)"), "abcd");
  ASSERT_TRUE(ParseNpy(file).ok());
  for (size_t i = 0; i < file.size(); ++i) EXPECT_FALSE(ParseNpy(file.substr(0, i)).ok()) << i;
}

TEST(Npy, ReadsBackWhatItWrote) {
  const std::pair<DataType, size_t> kinds[] = {
      {DataType::kBool, 1},   {DataType::kUint8, 1}, {DataType::kUint16, 2}, {DataType::kUint32, 4},
      {DataType::kUint64, 8}, {DataType::kInt8, 1},  {DataType::kInt16, 2},  {DataType::kInt32, 4},
      {DataType::kInt64, 8},  {DataType::kFp16, 2},  {DataType::kFp32, 4},   {DataType::kFp64, 8}};
  for (const auto& [datatype, bytes] : kinds) {
    const NpyArray array{datatype, {3, 1}, std::string(3 * bytes, '\x01')};
    const auto file = FormatNpy(array);
    ASSERT_TRUE(file.ok()) << DataTypeName(datatype);
    const auto read = ParseNpy(*file);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->datatype, datatype);
    EXPECT_EQ(read->shape, array.shape);
    EXPECT_EQ(read->bytes, array.bytes);
  }
}

TEST(Npy, WritesTheHeaderThatNumpyExpects) {
  const auto file = FormatNpy({DataType::kFp32, {1}, "abcd"});
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size(), 132U);  // the data begins at a multiple of 64
  EXPECT_TRUE(
      absl::StrContains(*file, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"));
  EXPECT_EQ((*file)[127], '\n');
}

TEST(Npy, WritesBytesAsFixedStrings) {
  const auto file = FormatNpy({DataType::kBytes, {2}, client::PackBytes({"a", "xyz"})});
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(ParseNpy(*file)->bytes, client::PackBytes({"a", "xyz"}));
}

TEST(Npy, RefusesToWriteWhatNumpyHasNot) {
  EXPECT_EQ(FormatNpy({DataType::kBf16, {1}, "ab"}).status().message(),
            "numpy has no datatype for BF16");
  EXPECT_FALSE(FormatNpy({DataType::kFp32, {2}, "abcd"}).ok());
  EXPECT_FALSE(FormatNpy({DataType::kBytes, {3}, client::PackBytes({"a"})}).ok());
}

}  // namespace
}  // namespace mpsd::cli
