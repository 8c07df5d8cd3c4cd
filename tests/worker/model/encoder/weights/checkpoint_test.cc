#include "worker/model/encoder/weights/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/worker/model/encoder/weights/checkpoint_file.h"

namespace mpsd {
namespace {

using pickle::Global;
using pickle::Number;
using pickle::Of;
using pickle::Storage;
using pickle::Tensor;
using pickle::Text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kBytes[] = "abcdefghijklmnopqrstuvwx";  // six floats

std::string CheckpointError(const std::string& file) {
  const absl::StatusOr<StoredTensors> tensors = ParseCheckpoint(file);
  return tensors.ok() ? "it parsed" : std::string(tensors.status().message());
}

// The error of a file with that pickle and a storage of six floats.
std::string PickleError(const std::string& pickle) {
  return CheckpointError(CheckpointOf(pickle, {kBytes}));
}

std::string Six() { return Storage("FloatStorage", "0", 6); }

// The error of a file with one tensor of these six floats.
std::string TensorError(int64_t offset, const std::vector<int64_t>& shape,
                        const std::vector<int64_t>& strides) {
  return PickleError(Of({{"a", Tensor(Six(), offset, shape, strides)}}));
}

const StoredTensor& At(const absl::StatusOr<StoredTensors>& tensors, const std::string& name) {
  return tensors->at(name);
}

TEST(Checkpoint, ReadsTensorsOfSharedAndOwnStorages) {
  const std::string file =
      CheckpointOf(Of({{"a", Tensor(Six(), 0, {2, 3}, {3, 1})},
                       {"a.tied", Tensor(Six(), 3, {3}, {1})},
                       {"b", Tensor(Storage("HalfStorage", "1", 2), 1, {}, {})}}),
                   {kBytes, "wxyz"});
  const absl::StatusOr<StoredTensors> tensors = ParseCheckpoint(file);
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  ASSERT_EQ(tensors->size(), 3u);
  EXPECT_EQ(At(tensors, "a").bytes, kBytes);
  EXPECT_EQ(At(tensors, "a").dtype, "F32");
  EXPECT_THAT(At(tensors, "a").shape, ElementsAre(2, 3));
  EXPECT_THAT(At(tensors, "a").strides, IsEmpty());
  EXPECT_EQ(At(tensors, "a.tied").bytes, "mnopqrstuvwx");
  EXPECT_EQ(At(tensors, "b").bytes, "yz");
  EXPECT_EQ(At(tensors, "b").dtype, "F16");
}

TEST(Checkpoint, ReadsTransposedAndCutTensors) {
  const std::string file = CheckpointOf(Of({{"across", Tensor(Six(), 0, {3, 2}, {1, 3})},
                                            {"column", Tensor(Six(), 1, {2, 1}, {3, 7})}}),
                                        {kBytes});
  const absl::StatusOr<StoredTensors> tensors = ParseCheckpoint(file);
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  EXPECT_THAT(At(tensors, "across").strides, ElementsAre(1, 3));
  EXPECT_EQ(At(tensors, "across").bytes, kBytes);
  EXPECT_THAT(At(tensors, "column").strides, ElementsAre(3, 7));
  EXPECT_EQ(At(tensors, "column").bytes, "efghijklmnopqrst");
}

TEST(Checkpoint, ReadsWhatTorchWritesBesides) {
  const std::string parameter = Global("torch._utils", "_rebuild_parameter") + "(" +
                                Tensor(Six(), 0, {6}, {1}) + "\x88" + pickle::kDict + "tR";
  const std::string metadata = "}" + Text("_metadata") + pickle::kDict + "sb";
  // Values are kept, and taken again: a text, and the empty tensor's dict.
  std::string text = pickle::kBegin + pickle::kDict + "q" + BytesOf<uint8_t>(0);
  text += Text("a") + "r" + BytesOf<uint32_t>(1) + parameter + "s";
  text += Text("empty") + Tensor(Six(), 6, {0, 3}, {3, 1}) + "s" + metadata + ".";
  const std::string file = CheckpointOf(text, {kBytes});
  const absl::StatusOr<StoredTensors> tensors = ParseCheckpoint(file);
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  EXPECT_EQ(At(tensors, "a").bytes, kBytes);
  EXPECT_THAT(At(tensors, "empty").bytes, IsEmpty());
}

TEST(Checkpoint, RefusesWhatIsNoTensorsByItsName) {
  EXPECT_EQ(PickleError(pickle::kBegin + Global("os", "system") + Text("true") + "\x85R."),
            "data.pkl names 'os.system', which is no tensor's; mpsd runs no code of a file of "
            "weights");
  for (const auto& [module, name] : {std::pair("builtins", "eval"),
                                     {"__builtin__", "getattr"},
                                     {"transformers.models.bert.modeling_bert", "BertModel"},
                                     {"torch", "load"},
                                     {"numpy.core.multiarray", "_reconstruct"},
                                     {"torch._utils", "_rebuild_tensor"}}) {
    EXPECT_THAT(PickleError(pickle::kBegin + Global(module, name) + "."),
                HasSubstr(absl::StrCat("names '", module, ".", name, "', which is no tensor's")));
  }
}

TEST(Checkpoint, RefusesInstructionsThatMakeObjects) {
  for (const std::string& code : {std::string("i"), std::string("o"), std::string("\x81"),
                                  std::string("\x93"), std::string("\x82"), std::string("]"),
                                  std::string("0"), std::string("P"), std::string("2")}) {
    EXPECT_THAT(PickleError(pickle::kBegin + code + "os\nsystem\n."),
                HasSubstr("which no list of tensors needs"))
        << code;
  }
  EXPECT_EQ(PickleError("\x80\x04."), "data.pkl is of another protocol than 2");
}

TEST(Checkpoint, RefusesEveryTruncationOfThePickleAndOfTheFile) {
  const std::string whole = Of({{"a", Tensor(Six(), 0, {2, 3}, {3, 1})}});
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_NE(PickleError(whole.substr(0, bytes)), "it parsed") << bytes;
  }
  EXPECT_NE(PickleError(whole + "."), "it parsed");
  const std::string file = CheckpointOf(whole, {kBytes});
  for (size_t bytes = 0; bytes < file.size(); ++bytes) {
    EXPECT_NE(CheckpointError(file.substr(0, bytes)), "it parsed") << bytes;
  }
}

TEST(Checkpoint, RefusesAStackThatIsUsedBelowItsMark) {
  for (const char* text : {"t.", "u.", "s.", "}s.", "R.", "b.", "}b.", "Q.", "q\1.", "h\1.", "(.",
                           "}}.", ".", "}(b.", "}NN(s.", ")\x85\x86.", "}(Nu.", "N)R.", ")Q."}) {
    EXPECT_NE(PickleError(pickle::kBegin + text), "it parsed") << text;
  }
  // The mark itself is gone in the end.
  EXPECT_EQ(PickleError(pickle::kBegin + "}NN(sNNt\x86s."), "data.pkl is malformed");
}

TEST(Checkpoint, RefusesTensorsOutsideTheirStorage) {
  EXPECT_EQ(TensorError(0, {6}, {1}), "it parsed");
  const std::string outside =
      "data.pkl has a tensor outside its storage, or with two numbers in one place";
  EXPECT_EQ(TensorError(0, {7}, {1}), outside);
  EXPECT_EQ(TensorError(1, {6}, {1}), outside);
  EXPECT_EQ(TensorError(6, {1}, {1}), outside);
  EXPECT_EQ(TensorError(0, {3, 2}, {3, 1}), outside);
  EXPECT_EQ(TensorError(7, {0}, {1}), "data.pkl has a tensor outside its storage");
  EXPECT_EQ(TensorError(-1, {1}, {1}), "data.pkl describes a tensor in an unknown way");
  EXPECT_THAT(TensorError(0, {-1}, {1}), HasSubstr("without a shape"));
  EXPECT_THAT(TensorError(0, {1}, {-1}), HasSubstr("without a shape"));
  EXPECT_THAT(TensorError(0, {2, 3}, {1}), HasSubstr("without a shape"));
  EXPECT_THAT(TensorError(0, std::vector<int64_t>(9, 1), std::vector<int64_t>(9, 1)),
              HasSubstr("without a shape"));
}

TEST(Checkpoint, ASmallNumberHasItsSignInItsOnlyByte) {
  std::string text = Of({{"a", Tensor(Six(), 0, {-1}, {1})}});
  const std::string long_one = Number(-1);
  text.replace(text.find(long_one), long_one.size(), "\x8a\1\xff");
  EXPECT_THAT(PickleError(text), HasSubstr("without a shape"));
}

TEST(Checkpoint, RefusesATensorWithFurtherArguments) {
  std::string text = Of({{"a", Tensor(Six(), 0, {1}, {1})}});
  text.insert(text.rfind("tR"), "}");
  EXPECT_EQ(PickleError(text), "data.pkl describes a tensor in an unknown way");
}

TEST(Checkpoint, RefusesHugeSizes) {
  const int64_t huge = int64_t{1} << 60;
  EXPECT_NE(TensorError(0, {huge}, {1}), "it parsed");
  EXPECT_NE(TensorError(0, {huge, huge}, {huge, 1}), "it parsed");
  EXPECT_NE(TensorError(0, {2}, {huge}), "it parsed");
  EXPECT_NE(TensorError(0, {2}, {INT64_MAX}), "it parsed");
  EXPECT_NE(TensorError(0, {3, 3}, {INT64_MAX, INT64_MAX - 1}), "it parsed");
  EXPECT_NE(TensorError(huge, {1}, {1}), "it parsed");
  EXPECT_NE(TensorError(INT64_MAX, {1}, {1}), "it parsed");
  EXPECT_THAT(PickleError(Of({{"a", Storage("FloatStorage", "0", huge)}})),
              HasSubstr("another number of bytes"));
  // 2^62 times four bytes is nothing, in 64 bits.
  EXPECT_THAT(
      CheckpointError(CheckpointOf(Of({{"a", Storage("FloatStorage", "0", huge * 4)}}), {""})),
      HasSubstr("another number of bytes"));
  EXPECT_THAT(PickleError(pickle::kBegin + "\x8a\x09" + std::string(9, 'x') + "."),
              HasSubstr("more than 64 bits"));
}

TEST(Checkpoint, RefusesTensorsThatRepeatTheirNumbers) {
  EXPECT_THAT(TensorError(0, {6}, {0}), HasSubstr("two numbers in one place"));
  EXPECT_THAT(TensorError(0, {1 << 30, 1 << 30}, {0, 0}), HasSubstr("two numbers in one place"));
  EXPECT_THAT(TensorError(0, {2, 2}, {1, 1}), HasSubstr("two numbers in one place"));
  EXPECT_THAT(TensorError(0, {2, 3}, {2, 1}), HasSubstr("two numbers in one place"));
}

TEST(Checkpoint, RefusesManyNamesOfOneStorage) {
  std::vector<std::pair<std::string, std::string>> items;
  for (int i = 0; i < 4; ++i) items.emplace_back(absl::StrCat(i), Tensor(Six(), 0, {6}, {1}));
  EXPECT_EQ(PickleError(Of(items)), "it parsed");
  items.emplace_back("5", Tensor(Six(), 0, {1}, {1}));
  EXPECT_EQ(PickleError(Of(items)),
            "data.pkl has tensors of more than four times the bytes of their storages");
}

TEST(Checkpoint, RefusesADictOfAnythingElse) {
  EXPECT_EQ(PickleError(Of({{"epoch", Number(3)}})), "data.pkl has no tensor for 'epoch'");
  EXPECT_EQ(PickleError(Of({{"model", "}"}})), "data.pkl has no tensor for 'model'");
  EXPECT_EQ(PickleError(pickle::kBegin + "N."), "data.pkl has no dict of tensors");
  const std::string tensor = Tensor(Six(), 0, {1}, {1});
  EXPECT_EQ(PickleError(Of({{"a", tensor}, {"a", tensor}})), "data.pkl has the tensor 'a' twice");
  EXPECT_EQ(PickleError(pickle::kBegin + "}" + Number(1) + tensor + "s."),
            "data.pkl has a tensor whose name is no text");
}

TEST(Checkpoint, RefusesStoragesInAnyOtherWay) {
  EXPECT_EQ(PickleError(Of({{"a", Storage("FloatStorage", "1", 6)}})),
            "data.pkl names a storage that is not there");
  EXPECT_THAT(PickleError(Of({{"a", Storage("FloatStorage", "0", 5)}})),
              HasSubstr("says that the storage '0' has another number of bytes"));
  EXPECT_THAT(PickleError(Of({{"a", Storage("DoubleStorage", "0", 6)}})),
              HasSubstr("another number of bytes"));
  EXPECT_THAT(PickleError(Of({{"a", Storage("UntypedStorage", "0", 6)}})),
              HasSubstr("names 'torch.UntypedStorage'"));
  EXPECT_EQ(PickleError(pickle::kBegin + Text("0") + "Q."),
            "data.pkl names a storage in an unknown way");
}

TEST(Checkpoint, BoundsTheValuesOfAPickle) {
  EXPECT_EQ(PickleError(pickle::kBegin + std::string(2'000'001, 'N')),
            "data.pkl has too many values");
  EXPECT_EQ(PickleError(pickle::kBegin + std::string(2'000'001, '(')),
            "data.pkl has too many marks");
  std::string again = pickle::kBegin + "Nq" + BytesOf<uint8_t>(0);
  for (int i = 0; i < 2'000'000; ++i) again.append("h\0", 2);
  EXPECT_EQ(PickleError(again), "data.pkl has too many values");
  // A tuple of a tuple of …: as deep as it likes, in no recursion.
  EXPECT_EQ(PickleError(pickle::kBegin + "N" + std::string(1'000'000, '\x85') + "."),
            "data.pkl has no dict of tensors");
}

TEST(Checkpoint, SaysHowToConvertTheFormatBeforeTorch16) {
  EXPECT_THAT(CheckpointError(std::string("\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.", 15)),
              HasSubstr("in the format of torch before 1.6; convert it with torch: torch.save"));
  EXPECT_THAT(CheckpointError("version https://git-lfs.github.com/spec/v1\n"),
              HasSubstr("of another format"));
}

TEST(Checkpoint, RefusesZipFilesThatTorchDoesNotWrite) {
  EXPECT_EQ(CheckpointError(ZipOf({{"m/other", ""}})),
            "the file has no data.pkl: torch.save() has not written it");
  EXPECT_EQ(CheckpointError(ZipOf({{"m/data.pkl", ""}, {"n/data.pkl", ""}})),
            "the file has two data.pkl");
  EXPECT_EQ(CheckpointError(ZipOf({{"m/data.pkl", Of({})}, {"m/byteorder", "big"}})),
            "the file's numbers are not little-endian");
  EXPECT_EQ(CheckpointError(ZipOf({{"m/data.pkl", Of({})}})), "it parsed");
}

}  // namespace
}  // namespace mpsd
