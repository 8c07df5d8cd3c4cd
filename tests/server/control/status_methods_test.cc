#include "server/control/status_methods.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/control.pb.h"

namespace mpsd {
namespace {

class NoWorkers final : public WorkerStatusSource {
 public:
  std::vector<WorkerInfo> Workers(const ServedModel&) const override { return {}; }
  std::string Circuit(const ServedModel&) const override { return ""; }
  std::vector<OtherGeneration> Others(const ServedModel&) const override { return {}; }
};

class OneReload final : public ModelControl {
 public:
  std::vector<ModelListing> List() const override { return {}; }
  ReloadReport LastReload() const override { return {false, 7, "no file '/srv/m.pt'"}; }
  void Load(const std::string&, const std::string&, Done done) override { done({}); }
  void Unload(const std::string&, Done done) override { done({}); }
};

class StatusMethodsTest : public testing::Test {
 protected:
  StatusMethodsTest() { AddStatusMethods(&models_, &workers_, &control_, "name", &table_); }

  absl::Status Ask(const std::string& peer) {
    std::string bytes;
    const absl::Status status =
        table_.Find("/mpsd.control.v1.Control/Status")->unary({peer}, "", &bytes);
    EXPECT_TRUE(reply_.ParseFromString(bytes));
    return status;
  }

  ModelDirectory models_;
  NoWorkers workers_;
  OneReload control_;
  MethodTable table_;
  control::v1::StatusReply reply_;
};

TEST_F(StatusMethodsTest, CallersOnThisHostAreToldAll) {
  for (const char* peer : {"unix:", "ipv4:127.0.0.1:40312", "ipv6:%5B::1%5D:40312"}) {
    ASSERT_TRUE(Ask(peer).ok()) << peer;
    EXPECT_EQ(reply_.server_name(), "name");
    EXPECT_EQ(reply_.last_reload().text(), "no file '/srv/m.pt'");
  }
}

TEST_F(StatusMethodsTest, AModelSaysWhichDeviceWasPassedOver) {
  auto model = std::make_shared<ServedModel>();
  model->facts.device_note = "passed over cuda: libcudnn.so.9: none";
  models_.Publish(model);
  EXPECT_TRUE(Ask("unix:").ok());
  EXPECT_EQ(reply_.models(0).device_note(), "passed over cuda: libcudnn.so.9: none");
}

TEST_F(StatusMethodsTest, CallersFromElsewhereAreToldNothing) {
  for (const char* peer : {"ipv4:192.0.2.1:40312", "ipv6:%5B2001:db8::1%5D:40312", ""}) {
    EXPECT_EQ(Ask(peer), absl::PermissionDeniedError("control calls are for callers on this host"));
    EXPECT_EQ(reply_.ByteSizeLong(), 0U) << peer;
  }
}

}  // namespace
}  // namespace mpsd
