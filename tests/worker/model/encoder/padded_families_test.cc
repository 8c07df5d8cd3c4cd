// Each family's layers over padded rows, as devices that compile for shapes compute them, against
// transformers' answers.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/worker/model/encoder/family_folder.h"
#include "worker/model/encoder/batch/token_batch.h"
#include "worker/model/encoder/encoder_parts.h"

namespace mpsd {
namespace {

constexpr int64_t kPaddedLength = 24;
constexpr double kFarthestPadded = 1e-5;

// The columns of the row's first token: padding comes behind, or for every second row before it
// where positions are rotations, which know distances alone.
int64_t FirstColumn(const EncoderConfig& config, const FamilyAnswer& entry, size_t row) {
  const bool may_start_later = config.rotary.theta > 0 && row % 2 == 1;
  return may_start_later ? kPaddedLength - static_cast<int64_t>(entry.ids.size()) : 0;
}

class PaddedFamilies : public testing::TestWithParam<const char*> {};

TEST_P(PaddedFamilies, AnswerAsTransformersDoes) {
  const FamilyFolder family(GetParam());
  const absl::StatusOr<EncoderFolder> folder = ReadEncoderFolder(family.path());
  ASSERT_TRUE(folder.ok()) << folder.status();
  const auto parts =
      LoadEncoderParts(family.path(), *folder, at::kFloat, Products::kTorch, at::kCPU);
  ASSERT_TRUE(parts.ok()) << parts.status();
  const std::vector<FamilyAnswer>& entries = family.answers();
  const auto rows = static_cast<int64_t>(entries.size());
  std::vector<int64_t> ids(static_cast<size_t>(rows * kPaddedLength), folder->config.pad_token);
  std::vector<int64_t> mask(ids.size(), 0);
  std::vector<int64_t> types(ids.size(), 0);
  for (size_t row = 0; row < entries.size(); ++row) {
    const int64_t begin =
        static_cast<int64_t>(row) * kPaddedLength + FirstColumn(folder->config, entries[row], row);
    std::copy(entries[row].ids.begin(), entries[row].ids.end(), ids.begin() + begin);
    std::copy(entries[row].types.begin(), entries[row].types.end(), types.begin() + begin);
    std::fill_n(mask.begin() + begin, entries[row].ids.size(), 1);
  }
  const TokenBatch batch =
      PackTokens(folder->config, {rows, kPaddedLength, ids.data(), mask.data(), types.data()},
                 TokenLayout::kPadded);
  ASSERT_TRUE(batch.failed_rows.empty());
  const DeviceBatch on_cpu(batch, at::kCPU);
  const std::vector<at::Tensor> outputs = parts->head->Run(parts->encoder->Run(on_cpu), on_cpu);
  for (size_t row = 0; row < entries.size(); ++row) {
    size_t place = 0;
    for (const at::Tensor& output : outputs) {
      const at::Tensor numbers = output[static_cast<int64_t>(row)].contiguous();
      for (int64_t i = 0; i < numbers.numel(); ++i) {
        EXPECT_NEAR(numbers.data_ptr<float>()[i], entries[row].numbers[place++], kFarthestPadded)
            << "row " << row;
      }
    }
    EXPECT_EQ(place, entries[row].numbers.size());
  }
}

INSTANTIATE_TEST_SUITE_P(All, PaddedFamilies,
                         testing::Values("bert_mean", "roberta", "distilbert", "mpnet",
                                         "modernbert", "nomic_bert", "nomic_bert_classifier",
                                         "gte_first", "qwen3", "gemma3"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace mpsd
