#include "load_tests/generator/grpc_message.h"

#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace mpsd::load {
namespace {

std::string Bytes(std::initializer_list<int> head, const std::string& rest) {
  std::string bytes;
  for (const int byte : head) bytes.push_back(static_cast<char>(byte));
  return bytes + rest;
}

TEST(GrpcMessage, IsFramedInOnePiece) {
  const std::array<grpc::Slice, 2> slices = {grpc::Slice(std::string(300, 'a')),
                                             grpc::Slice(std::string("b"))};
  EXPECT_EQ(Framed(grpc::ByteBuffer(slices.data(), slices.size())),
            Bytes({0, 0, 0, 1, 45}, std::string(300, 'a') + "b"));
}

TEST(GrpcMessage, IsFoundInItsFrame) {
  EXPECT_EQ(Unframed(Bytes({0, 0, 0, 0, 3}, "abc")), "abc");
  EXPECT_EQ(Unframed(Bytes({0, 0, 0, 1, 0}, std::string(256, 'x'))), std::string(256, 'x'));
  EXPECT_EQ(Unframed(Bytes({0, 0, 0, 0, 0}, "")), "");
}

TEST(GrpcMessage, IsNotFoundInWhatIsNotOneWholeMessage) {
  EXPECT_EQ(Unframed(""), std::nullopt);
  EXPECT_EQ(Unframed(Bytes({0, 0, 0, 0}, "")), std::nullopt);
  EXPECT_EQ(Unframed(Bytes({0, 0, 0, 0, 3}, "ab")), std::nullopt);
  EXPECT_EQ(Unframed(Bytes({0, 0, 0, 0, 3}, "abcd")), std::nullopt);
  EXPECT_EQ(Unframed(Bytes({1, 0, 0, 0, 3}, "abc")), std::nullopt);  // compressed
}

}  // namespace
}  // namespace mpsd::load
