#include "server/control/status_methods.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/control.pb.h"
#include "server/control/model_states.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_infer_handler.h"

namespace mpsd {
namespace {

class FakeWorkers final : public WorkerStatusSource {
 public:
  std::vector<WorkerInfo> Workers(const ServedModel&) const override { return workers; }
  std::string Circuit(const ServedModel&) const override { return ""; }
  std::vector<OtherGeneration> Others(const ServedModel&) const override { return {}; }

  std::vector<WorkerInfo> workers;
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
  StatusMethodsTest() {
    AddStatusMethods(
        &models_, &workers_, &control_,
        {"name", {{"rank", 8}, {"drain_timeout_seconds", 0.5}}, {"the sandbox is off"}}, &clock_,
        &table_);
    AddForgiveMethod(&models_, &logger_, &table_);
  }

  // A model that refuses two contents.
  std::shared_ptr<ServedModel> Serve(const std::string& name) {
    auto queue = std::make_unique<FakeRequestQueue>();
    queue->refused_contents = {{0xABC, 7 * kNsPerSecond}, {0xDEF, kNsPerSecond}};
    auto model = std::make_shared<ServedModel>();
    model->name = name;
    model->metrics.quarantined_requests = 2220;
    model->pool = queue.get();
    model->queue = std::move(queue);
    models_.Publish(model);
    return model;
  }

  absl::Status Forgive(const std::string& peer, const std::string& name) {
    control::v1::ForgiveRequest request;
    request.set_model_name(name);
    std::string bytes;
    const absl::Status status = table_.Find("/mpsd.control.v1.Control/Forgive")
                                    ->unary({peer}, request.SerializeAsString(), &bytes);
    EXPECT_TRUE(forgiven_.ParseFromString(bytes));
    return status;
  }

  absl::Status Ask(const std::string& peer) {
    std::string bytes;
    const absl::Status status =
        table_.Find("/mpsd.control.v1.Control/Status")->unary({peer}, "", &bytes);
    EXPECT_TRUE(reply_.ParseFromString(bytes));
    return status;
  }

  FakeClock clock_;
  ModelDirectory models_;
  FakeWorkers workers_;
  OneReload control_;
  MethodTable table_;
  ServerMetrics metrics_;
  Logger logger_{*LogFile::Open("/dev/null"), LogLevel::kInfo, Clock::Real(), &metrics_};
  control::v1::StatusReply reply_;
  control::v1::ForgiveReply forgiven_;
};

TEST_F(StatusMethodsTest, CallersOnThisHostAreToldAll) {
  for (const char* peer : {"unix:", "ipv4:127.0.0.1:40312", "ipv6:[::1]:40312"}) {
    ASSERT_TRUE(Ask(peer).ok()) << peer;
    EXPECT_EQ(reply_.server_name(), "name");
    EXPECT_EQ(reply_.last_reload().text(), "no file '/srv/m.pt'");
  }
}

TEST_F(StatusMethodsTest, TheDaemonTellsItsLimitsItsWarningsAndItsAge) {
  clock_.Advance(7 * kNsPerSecond);
  ASSERT_TRUE(Ask("unix:").ok());
  ASSERT_EQ(reply_.limits_size(), 2);
  EXPECT_EQ(reply_.limits(1).name(), "drain_timeout_seconds");
  EXPECT_EQ(reply_.limits(1).value(), 0.5);
  ASSERT_EQ(reply_.warnings_size(), 1);
  EXPECT_EQ(reply_.warnings(0), "the sandbox is off");
  EXPECT_EQ(reply_.uptime_ms(), 7000);
}

TEST_F(StatusMethodsTest, CountsAreThoseOfTheModelsStatistics) {
  const std::shared_ptr<ServedModel> model = Serve("m");
  ExecutedBatch batch;
  batch.row_count = 3;
  batch.infer_ns = 5;
  batch.answered_requests = 2;
  batch.answered_rows = 3;
  batch.queue_ns = 4;
  batch.total_ns = 20;
  model->metrics.inference.AddBatch(batch);
  model->metrics.inference.AddFailure(9);
  ASSERT_TRUE(Ask("unix:").ok());
  const control::v1::ModelCounts& counts = reply_.models(0).counts();
  EXPECT_EQ(counts.answered_requests(), 2U);
  EXPECT_EQ(counts.failed_requests(), 1U);
  EXPECT_EQ(counts.answered_rows(), 3U);
  EXPECT_EQ(counts.batches(), 1U);
  EXPECT_EQ(counts.total_ns(), 20U);
  EXPECT_EQ(counts.queue_ns(), 4U);
  EXPECT_EQ(counts.infer_ns(), 10U);  // for each of the two requests
}

TEST_F(StatusMethodsTest, ATokenizerThatCannotBeUsedIsTold) {
  auto model = std::make_shared<ServedModel>();
  model->texts = absl::UnavailableError("no type 'Lattice'");
  models_.Publish(model);
  ASSERT_TRUE(Ask("unix:").ok());
  EXPECT_EQ(reply_.models(0).texts(), "no type 'Lattice'");
  model->texts = absl::UnimplementedError("none");
  ASSERT_TRUE(Ask("unix:").ok());
  EXPECT_EQ(reply_.models(0).texts(), "");
}

TEST_F(StatusMethodsTest, NamesOfFilesMayHaveAnyBytes) {
  models_.SetRefused({{"m\xFF", "1\xC3", "no file 'a\xFF\xFE.pt'"}});
  ASSERT_TRUE(Ask("unix:").ok());
  EXPECT_EQ(reply_.models(0).name(), "m\xEF\xBF\xBD");
  EXPECT_EQ(reply_.models(0).version(), "1\xEF\xBF\xBD");
  EXPECT_EQ(reply_.models(0).state(), "refused: no file 'a\xEF\xBF\xBD\xEF\xBF\xBD.pt'");
}

TEST_F(StatusMethodsTest, AModelSaysTheDevicesOfAllItsWorkers) {
  models_.Publish(std::make_shared<ServedModel>());
  workers_.workers.resize(2);
  workers_.workers[0].device = "cuda:0";
  workers_.workers[1].device = "cuda:1";
  EXPECT_TRUE(Ask("unix:").ok());
  EXPECT_EQ(reply_.models(0).device(), "cuda:0,1");
  EXPECT_EQ(reply_.models(0).workers(0).device(), "cuda:0");
}

TEST_F(StatusMethodsTest, AModelSaysWhichDeviceWasPassedOver) {
  auto model = std::make_shared<ServedModel>();
  model->facts.device_note = "passed over cuda: libcudnn.so.9: none";
  models_.Publish(model);
  EXPECT_TRUE(Ask("unix:").ok());
  EXPECT_EQ(reply_.models(0).device_note(), "passed over cuda: libcudnn.so.9: none");
}

TEST_F(StatusMethodsTest, AModelThatWasLoadedSaysItsPrecision) {
  auto model = std::make_shared<ServedModel>();
  model->precision = Precision::kBf16;
  model->precision_note = "it agrees";
  models_.Publish(model);
  EXPECT_TRUE(Ask("unix:").ok());
  EXPECT_EQ(reply_.models(0).precision(), "");
  EXPECT_EQ(ModelStates(models_, workers_).front().precision, "");
  model->loaded = true;
  EXPECT_TRUE(Ask("unix:").ok());
  EXPECT_EQ(reply_.models(0).precision(), "bf16");
  EXPECT_EQ(reply_.models(0).precision_note(), "it agrees");
  EXPECT_EQ(ModelStates(models_, workers_).front().precision, "bf16");
}

TEST_F(StatusMethodsTest, CallersFromElsewhereAreToldNothing) {
  for (const char* peer : {"ipv4:192.0.2.1:40312", "ipv6:[2001:db8::1]:40312", ""}) {
    EXPECT_EQ(Ask(peer), absl::PermissionDeniedError("control calls are for callers on this host"));
    EXPECT_EQ(reply_.ByteSizeLong(), 0U) << peer;
  }
}

TEST_F(StatusMethodsTest, AModelThatIsRefusedHasARowWithTheReason) {
  models_.SetRefused({{"m", "", "config.pbtxt: line 1: unknown field"}});
  ASSERT_TRUE(Ask("unix:").ok());
  ASSERT_EQ(reply_.models_size(), 1);
  EXPECT_EQ(reply_.models(0).name(), "m");
  EXPECT_EQ(reply_.models(0).state(), "refused: config.pbtxt: line 1: unknown field");
  EXPECT_FALSE(reply_.models(0).ready());
}

TEST_F(StatusMethodsTest, ContentsThatAModelRefusesAreShownAndForgiven) {
  Serve("m");
  ASSERT_TRUE(Ask("unix:").ok());
  ASSERT_EQ(reply_.models(0).refused_contents_size(), 2);
  EXPECT_EQ(reply_.models(0).refused_contents(0).fingerprint(), 0xABCU);
  EXPECT_EQ(reply_.models(0).refused_contents(0).age_ms(), 7000);
  EXPECT_EQ(reply_.models(0).quarantined_requests(), 2220U);
  EXPECT_TRUE(absl::IsPermissionDenied(Forgive("ipv4:192.0.2.1:40312", "m")));
  EXPECT_EQ(Forgive("unix:", "n"),
            absl::NotFoundError("Request for unknown model: 'n' is not found"));
  EXPECT_TRUE(Forgive("unix:", "m").ok());
  EXPECT_EQ(forgiven_.contents(), 2U);
  ASSERT_TRUE(Ask("unix:").ok());
  EXPECT_EQ(reply_.models(0).refused_contents_size(), 0);
}

TEST_F(StatusMethodsTest, EachVersionIsInOneState) {
  const std::shared_ptr<ServedModel> model = Serve("m");
  const auto state = [&] { return ModelStates(models_, workers_).front().state; };
  EXPECT_EQ(state(), ModelState::kLoading);
  workers_.workers.emplace_back().last_words = "it throws";
  EXPECT_EQ(state(), ModelState::kUnavailable);
  ASSERT_TRUE(Ask("unix:").ok());
  EXPECT_EQ(reply_.models(0).state(), "unavailable: it throws");
  model->ready = true;
  EXPECT_EQ(state(), ModelState::kReady);
  workers_.workers.emplace_back().warning = "warm-up: it takes no zeros";
  ASSERT_TRUE(Ask("unix:").ok());
  EXPECT_EQ(reply_.models(0).warning(), "warm-up: it takes no zeros");
  models_.SetRefused({{"n", "", "no such platform"}});
  EXPECT_EQ(ModelStates(models_, workers_).back().state, ModelState::kRefused);
}

}  // namespace
}  // namespace mpsd
