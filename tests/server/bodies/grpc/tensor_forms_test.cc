#include "server/bodies/grpc/tensor_forms.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <vector>

namespace mpsd {
namespace {

using testing::ElementsAre;

class ClassificationTest : public testing::Test {
 protected:
  template <typename Element>
  void Output(DataType datatype, Dims dims, const std::vector<Element>& elements) {
    bytes_.assign(reinterpret_cast<const char*>(elements.data()),
                  elements.size() * sizeof(Element));
    answer_.outputs.push_back({"OUT", datatype, dims, bytes_});
  }

  absl::Status Run(int64_t count, bool batches) {
    const ClassRequest wanted{"OUT", count};
    return Classify({&wanted, 1}, labels_, batches, &answer_, &storage_);
  }

  // The texts of the answer's first output.
  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    absl::string_view bytes = answer_.outputs[0].bytes;
    while (!bytes.empty()) {
      uint32_t length = 0;
      std::memcpy(&length, bytes.data(), sizeof(length));
      texts.emplace_back(bytes.substr(sizeof(length), length));
      bytes.remove_prefix(sizeof(length) + length);
    }
    return texts;
  }

  ClassLabels labels_;
  std::string bytes_;
  Answer answer_;
  std::deque<std::string> storage_;
};

TEST_F(ClassificationTest, TheLargestOfEachRow) {
  Output<float>(DataType::kFp32, {2, 3}, {1, 3, 2, 9, -1, 8.5});
  ASSERT_TRUE(Run(2, /*batches=*/true).ok());
  EXPECT_EQ(answer_.outputs[0].datatype, DataType::kBytes);
  EXPECT_THAT(answer_.outputs[0].dims, ElementsAre(2, 2));
  EXPECT_THAT(Texts(), ElementsAre("3.000000:1", "2.000000:2", "9.000000:0", "8.500000:2"));
}

TEST_F(ClassificationTest, WithLabelsWhereThereAreSome) {
  labels_["OUT"] = {"cat", "", "dog: a good one"};
  labels_["OTHER"] = {"no"};
  Output<float>(DataType::kFp32, {1, 4}, {1, 3, 2, 0.5});
  ASSERT_TRUE(Run(4, /*batches=*/true).ok());
  EXPECT_THAT(Texts(), ElementsAre("3.000000:1", "2.000000:2:dog: a good one", "1.000000:0:cat",
                                   "0.500000:3"));
}

TEST_F(ClassificationTest, MoreThanThereAre) {
  Output<int32_t>(DataType::kInt32, {3}, {-5, 7, 7});
  ASSERT_TRUE(Run(10, /*batches=*/false).ok());
  EXPECT_THAT(answer_.outputs[0].dims, ElementsAre(3));
  EXPECT_THAT(Texts(), ElementsAre("7:1", "7:2", "-5:0"));
}

TEST_F(ClassificationTest, AnAnswerHasABoundOfClasses) {
  Output<uint8_t>(DataType::kUint8, {2, kMaxClasses}, std::vector<uint8_t>(2 * kMaxClasses, 7));
  EXPECT_TRUE(absl::IsInvalidArgument(Run(kMaxClasses / 2 + 1, /*batches=*/true)));
  ASSERT_TRUE(Run(kMaxClasses / 2, /*batches=*/true).ok());
  EXPECT_EQ(answer_.outputs[0].dims[1], int64_t{kMaxClasses / 2});
  EXPECT_EQ(Texts()[1], "7:1") << "equal elements keep their order";
}

TEST_F(ClassificationTest, NaNsAreBelowEverything) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  Output<float>(DataType::kFp32, {1, 5}, {nan, -infinity, nan, 1, infinity});
  ASSERT_TRUE(Run(3, /*batches=*/true).ok());
  EXPECT_THAT(Texts(), ElementsAre("inf:4", "1.000000:3", "-inf:1"));
}

TEST_F(ClassificationTest, ADatatypeWithoutAnOrder) {
  Output<uint8_t>(DataType::kBool, {2}, {1, 0});
  EXPECT_EQ(Run(1, false).message(),
            "class result not available for output 'OUT' due to unsupported type 'BOOL'");
}

TEST_F(ClassificationTest, OtherOutputsStayAsTheyAre) {
  Output<float>(DataType::kFp32, {2}, {1, 2});
  const ClassRequest other{"OTHER", 1};
  ASSERT_TRUE(Classify({&other, 1}, labels_, false, &answer_, &storage_).ok());
  EXPECT_EQ(answer_.outputs[0].datatype, DataType::kFp32);
  EXPECT_EQ(answer_.outputs[0].bytes, bytes_);
}

}  // namespace
}  // namespace mpsd
