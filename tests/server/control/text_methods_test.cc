#include "server/control/text_methods.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "proto/text.pb.h"

namespace mpsd {
namespace {

class TextMethodsTest : public testing::Test {
 protected:
  TextMethodsTest() {
    AddTextMethods(&models_, &table_);
    model_->name = "m";
  }

  absl::Status Ask(uint64_t offset) {
    models_.Publish(model_);
    text::v1::VocabularyRequest request;
    request.set_model_name("m");
    request.set_offset(offset);
    std::string bytes;
    const auto* method = table_.Find("/mpsd.text.v1.Text/Vocabulary");
    const absl::Status status = method->unary({}, request.SerializeAsString(), &bytes);
    EXPECT_TRUE(reply_.ParseFromString(bytes));
    return status;
  }

  std::shared_ptr<ServedModel> model_ = std::make_shared<ServedModel>();
  ModelDirectory models_;
  MethodTable table_;
  text::v1::VocabularyReply reply_;
};

TEST_F(TextMethodsTest, HandsAVocabularyOutPieceByPiece) {
  const std::string words = std::string(kVocabularyPieceBytes, 'a') + "\nb\n";
  model_->vocabulary = Vocabulary{words, LetterCase::kKept, 7};
  ASSERT_TRUE(Ask(0).ok());
  EXPECT_EQ(reply_.piece().size(), kVocabularyPieceBytes);
  EXPECT_EQ(reply_.total_bytes(), words.size());
  EXPECT_EQ(reply_.fingerprint(), 7U);
  EXPECT_TRUE(reply_.keeps_case());
  ASSERT_TRUE(Ask(kVocabularyPieceBytes).ok());
  EXPECT_EQ(reply_.piece(), "\nb\n");
  ASSERT_TRUE(Ask(words.size()).ok());
  EXPECT_EQ(reply_.piece(), "");
  EXPECT_EQ(Ask(words.size() + 1).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(TextMethodsTest, AModelWithoutAVocabulary) {
  EXPECT_EQ(Ask(0), absl::NotFoundError("model 'm' has no vocabulary"));
}

TEST_F(TextMethodsTest, AVocabularyThatCannotBeUsedIsToldWithoutPaths) {
  model_->vocabulary = absl::NotFoundError("cannot open /srv/secret/vocab.txt: No such file");
  const absl::Status status = Ask(0);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "the vocabulary of model 'm'")) << status;
  EXPECT_FALSE(absl::StrContains(status.message(), "secret")) << status;
}

}  // namespace
}  // namespace mpsd
