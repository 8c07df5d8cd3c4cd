#include "server/pool/batch/output_rows.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr uint64_t kRoom = 1200;

void NoteOften(OutputRows* rows, uint32_t batches, uint32_t batch_rows, uint64_t row_bytes) {
  for (uint32_t i = 0; i < batches; ++i) rows->Note(batch_rows, batch_rows * row_bytes, kRoom);
}

TEST(OutputRows, AreAnyNumberUntilOutputsDoNotFit) {
  OutputRows rows;
  NoteOften(&rows, 1000, 8, 150);
  EXPECT_EQ(rows.most(), OutputRows::kAnyRows);
}

TEST(OutputRows, AreAsManyAsShouldFit) {
  OutputRows rows;
  rows.Note(32, 32 * 100, kRoom);
  EXPECT_EQ(rows.most(), 12u);
  NoteOften(&rows, 1000, 12, 100);
  EXPECT_EQ(rows.most(), 12u) << "twice as many would not fit";
}

TEST(OutputRows, OneLongAnswerAmongManyTakesLittleAway) {
  OutputRows rows;
  rows.Note(32, 31 + kRoom, kRoom);
  EXPECT_EQ(rows.most(), 31u);
}

TEST(OutputRows, AreFewerEachTimeThatTheyDoNotFit) {
  OutputRows rows;
  for (uint32_t most = 7; most > 0; --most) {
    rows.Note(most + 1, kRoom + 1, kRoom);
    EXPECT_EQ(rows.most(), most);
  }
  rows.Note(1, UINT64_MAX, kRoom);
  EXPECT_EQ(rows.most(), 1u);
  rows.Note(8, UINT64_MAX, kRoom);
  EXPECT_EQ(rows.most(), 1u);
}

TEST(OutputRows, DoubleAfterSmallBatchesInARow) {
  OutputRows rows;
  rows.Note(32, 32 * 100, kRoom);
  NoteOften(&rows, OutputRows::kBatchesToGrow - 1, 12, 50);
  NoteOften(&rows, 1, 12, 51);
  NoteOften(&rows, OutputRows::kBatchesToGrow - 1, 12, 50);
  EXPECT_EQ(rows.most(), 12u);
  NoteOften(&rows, 1, 12, 50);
  EXPECT_EQ(rows.most(), 24u);
  NoteOften(&rows, 10 * OutputRows::kBatchesToGrow, 1, 0);
  EXPECT_EQ(rows.most(), OutputRows::kAnyRows);
}

}  // namespace
}  // namespace mpsd
