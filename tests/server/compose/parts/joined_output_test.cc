#include "server/compose/parts/joined_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/request/retry_info.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

AnswerOutput Output(DataType datatype, Dims dims, absl::string_view bytes) {
  AnswerOutput output;
  output.name = "y";
  output.datatype = datatype;
  output.dims = std::move(dims);
  output.bytes = bytes;
  return output;
}

AnswerOutput Numbers(int64_t rows, absl::string_view bytes) {
  return Output(DataType::kUint8, {rows, 2}, bytes);
}

TEST(JoinedOutput, PartsComeInAnyOrder) {
  ByteAllowance allowance(100);
  JoinRoom room(100, &allowance);
  JoinedOutput output(5, 3);
  EXPECT_EQ(output.Add(2, 4, Numbers(1, "ee"), &room), absl::OkStatus());
  EXPECT_EQ(allowance.taken_bytes(), 10u) << "those of all rows";
  EXPECT_EQ(output.Add(0, 0, Numbers(2, "aabb"), &room), absl::OkStatus());
  EXPECT_EQ(output.Add(1, 2, Numbers(2, "ccdd"), &room), absl::OkStatus());
  const AnswerOutput joined = output.Join("y");
  EXPECT_EQ(joined.name, "y");
  EXPECT_EQ(joined.datatype, DataType::kUint8);
  EXPECT_EQ(joined.dims, (Dims{5, 2}));
  EXPECT_EQ(joined.bytes, "aabbccddee");
  EXPECT_EQ(allowance.taken_bytes(), 10u);
}

TEST(JoinedOutput, StringsAreJoinedWhateverTheirLengths) {
  ByteAllowance allowance(100);
  JoinRoom room(100, &allowance);
  JoinedOutput output(3, 2);
  EXPECT_EQ(output.Add(1, 2, Output(DataType::kBytes, {1}, "third"), &room), absl::OkStatus());
  EXPECT_EQ(output.Add(0, 0, Output(DataType::kBytes, {2}, "first,second,"), &room),
            absl::OkStatus());
  const AnswerOutput joined = output.Join("y");
  EXPECT_EQ(joined.dims, (Dims{3}));
  EXPECT_EQ(joined.bytes, "first,second,third");
  EXPECT_EQ(allowance.taken_bytes(), 18u);
}

TEST(JoinedOutput, RowsOfDifferentShapesAreRefused) {
  ByteAllowance allowance(100);
  JoinRoom room(100, &allowance);
  JoinedOutput output(4, 2);
  EXPECT_EQ(output.Add(0, 0, Numbers(2, "aabb"), &room), absl::OkStatus());
  const absl::Status status = output.Add(1, 2, Output(DataType::kUint8, {2, 3}, "cccddd"), &room);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("'y' cannot be joined: some have the shape [2], and "
                                          "some [3]"));
}

TEST(JoinedOutput, RowsWithoutElementsAreJoined) {
  ByteAllowance allowance(0);
  JoinRoom room(0, &allowance);
  JoinedOutput output(4, 2);
  EXPECT_EQ(output.Add(0, 0, Output(DataType::kFp32, {2, 0}, ""), &room), absl::OkStatus());
  EXPECT_EQ(output.Add(1, 2, Output(DataType::kFp32, {2, 0}, ""), &room), absl::OkStatus());
  EXPECT_EQ(output.Join("y").dims, (Dims{4, 0}));
}

TEST(JoinRoom, AnAnswerLargerThanAMessageIsRefusedForGood) {
  ByteAllowance allowance(100);
  JoinRoom room(9, &allowance);
  JoinedOutput output(5, 3);
  const absl::Status status = output.Add(0, 0, Numbers(2, "aabb"), &room);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("limits.message"));
  EXPECT_FALSE(RetryAfterNs(status).has_value());
  EXPECT_EQ(allowance.taken_bytes(), 0u);
}

TEST(JoinRoom, WhatAllAnswersHoldTogetherIsBounded) {
  ByteAllowance allowance(15);
  {
    JoinRoom room(100, &allowance);
    JoinedOutput output(5, 3);
    EXPECT_EQ(output.Add(0, 0, Numbers(2, "aabb"), &room), absl::OkStatus());
    JoinRoom other_room(100, &allowance);
    JoinedOutput other(5, 3);
    const absl::Status status = other.Add(0, 0, Numbers(2, "aabb"), &other_room);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(RetryAfterNs(status).has_value()) << "it passes";
  }
  EXPECT_EQ(allowance.taken_bytes(), 0u);
}

}  // namespace
}  // namespace mpsd
