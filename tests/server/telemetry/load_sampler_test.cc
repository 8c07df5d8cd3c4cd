#include "server/telemetry/load_sampler.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/orca_load_report.pb.h"
#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

class LoadSamplerTest : public testing::Test {
 protected:
  LoadSamplerTest() {
    sampler_.SetHost([this] {
      ++samples_;
      return host_;
    });
  }

  ModelMetrics* Add(const std::string& name, int64_t load_permille) {
    models_.push_back(std::make_shared<ModelMetrics>());
    ModelMetrics* const model = models_.back().get();
    model->model = name;
    model->version = absl::StrCat(models_.size());
    model->load_permille = load_permille;
    page_.AddModel(models_.back());
    return model;
  }

  xds::data::orca::v3::OrcaLoadReport Now() {
    xds::data::orca::v3::OrcaLoadReport report;
    EXPECT_TRUE(report.ParseFromString(sampler_.Now()->named.bytes));
    return report;
  }

  FakeClock clock_;
  ServerMetrics server_;
  MetricsPage page_{&server_, {}};
  LoadSampler sampler_{&page_, &clock_};
  HostSample host_{0, 4, 300, 100};
  std::vector<std::shared_ptr<ModelMetrics>> models_;
  int samples_ = 0;
};

TEST_F(LoadSamplerTest, TheUtilizationIsThatOfTheMostLoadedModel) {
  Add("a", 200);
  Add("b", 1500)->queued_requests = 7;
  Add("c", 0)->saturation_permille = 900;
  EXPECT_EQ(Now().application_utilization(), 1.5);
  EXPECT_EQ(Now().named_metrics().at("load.b"), 1.5);
  EXPECT_EQ(Now().named_metrics().at("queued.b"), 7);
  EXPECT_EQ(Now().named_metrics().at("saturation.c"), 0.9);
}

TEST_F(LoadSamplerTest, SamplesAtMostOnceASecond) {
  for (int i = 0; i < 10; ++i) sampler_.Now();
  EXPECT_EQ(samples_, 1);
  clock_.Advance(LoadSampler::kSampleNs);
  sampler_.Now();
  EXPECT_EQ(samples_, 2);
}

TEST_F(LoadSamplerTest, RatesAreThoseBetweenTwoSamples) {
  ModelMetrics* const model = Add("a", 0);
  const auto count = [&](absl::StatusCode code) -> std::atomic<uint64_t>& {
    return model->requests_by_code[static_cast<size_t>(code)];
  };
  count(absl::StatusCode::kOk) = 1000;
  EXPECT_EQ(Now().rps_fractional(), 0) << "nothing is known of the time before";
  clock_.Advance(2 * kNsPerSecond);
  count(absl::StatusCode::kOk) += 100;
  count(absl::StatusCode::kInvalidArgument) += 80;
  count(absl::StatusCode::kInternal) += 20;
  host_.cpu_seconds += 2;
  EXPECT_EQ(Now().rps_fractional(), 100);
  EXPECT_EQ(Now().eps(), 10) << "a wrong request is the client's error";
  EXPECT_EQ(Now().cpu_utilization(), 0.25);
  EXPECT_EQ(Now().mem_utilization(), 0.75);
}

TEST_F(LoadSamplerTest, AModelThatIsGoneLeavesNoNegativeRates) {
  Add("a", 0)->requests_by_code[0] = 1000;
  sampler_.Now();
  models_.clear();
  clock_.Advance(kNsPerSecond);
  EXPECT_EQ(Now().rps_fractional(), 0);
}

TEST_F(LoadSamplerTest, NamesTheMostLoadedModelsAndEachOnce) {
  for (int i = 0; i < 20; ++i) Add(absl::StrCat("m", i), 10 * i);
  Add("m19", 5);
  const auto report = Now();
  EXPECT_EQ(report.named_metrics().size(), 3 * LoadSampler::kMostModels);
  EXPECT_EQ(report.named_metrics().at("load.m19"), 0.19);
  EXPECT_FALSE(report.named_metrics().contains("load.m0"));
  EXPECT_FALSE(absl::StrContains(sampler_.Now()->nameless.text, "m19"));
}

}  // namespace
}  // namespace mpsd
