#include "server/accept/library_log.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/inference.pb.h"

namespace mpsd {
namespace {

TEST(LibraryLog, ATextThatIsNotUtf8WritesNoLine) {
  SilenceLibraries();
  testing::internal::CaptureStderr();
  inference::ModelReadyRequest request;
  EXPECT_FALSE(request.ParseFromString("\x0a\x01\xff"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace mpsd
