#include "server/telemetry/open_metrics.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "server/telemetry/metrics_page.h"

namespace mpsd {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(OpenMetrics, ACountersFamilyHasItsNameWithoutTotal) {
  EXPECT_EQ(OpenMetricsText("# HELP a_total Says \"a\".\n# TYPE a_total counter\na_total 1\n", {}),
            "# HELP a Says \\\"a\\\".\n# TYPE a counter\na_total 1\n# EOF\n");
}

TEST(OpenMetrics, OtherCountersAreUnknown) {
  EXPECT_EQ(
      OpenMetricsText("# HELP nv_count N\n# TYPE nv_count counter\nnv_count{model=\"m\"} 1\n", {}),
      "# HELP nv_count N\n# TYPE nv_count unknown\nnv_count{model=\"m\"} 1\n# EOF\n");
}

TEST(OpenMetrics, GaugesStayAsTheyAre) {
  EXPECT_EQ(OpenMetricsText("# TYPE g gauge\ng 0.5\n", {}), "# TYPE g gauge\ng 0.5\n# EOF\n");
}

TEST(OpenMetrics, ABucketHasTheExemplarOfItsStage) {
  auto model = std::make_shared<ModelMetrics>();
  model->model = "m";
  model->queue.ObserveNs(3'000'000);
  model->execute.ObserveNs(3'000'000);
  StageExemplars exemplars;
  exemplars.Keep("m", "1", 0, {"old", 0.003, 1});
  exemplars.Keep("m", "1", 0, {"4bf9", 0.003, 1795962628.5});
  exemplars.Keep("m", "1", 0, {"slow", 100, 2});
  exemplars.Keep("other", "1", 0, {"elsewhere", 100, 2});
  ServerMetrics server;
  MetricsPage page(&server, {});
  page.AddModel(model);
  page.SetExemplars(&exemplars);
  const std::string text = page.OpenText();
  const char* const series = "mpsd_stage_seconds_bucket{model=\"m\",version=\"1\",stage=\"queue\",";
  EXPECT_THAT(text, HasSubstr("\"} 1 # {trace_id=\"4bf9\"} 0.003 1795962628.500\n"));
  EXPECT_THAT(text,
              HasSubstr(absl::StrCat(series, "le=\"+Inf\"} 1 # {trace_id=\"slow\"} 100 2.000\n")));
  EXPECT_EQ(text.find("4bf9"), text.rfind("4bf9")) << "one bucket of one series";
  EXPECT_THAT(text, Not(HasSubstr("\"old\"")));
  EXPECT_THAT(text, Not(HasSubstr("elsewhere")));
}

TEST(StageExemplars, ManyModelsAreBounded) {
  StageExemplars exemplars;
  for (uint32_t i = 0; i < 2 * kMaxModels; ++i) {
    exemplars.Keep(absl::StrCat("m", i), "1", 0, {"4bf9", 0.003, 1});
  }
  EXPECT_LE(exemplars.Read().size(), kMaxModels * kStageNames.size());
  EXPECT_EQ(
      exemplars.Read().count(absl::StrCat("mpsd_stage_seconds_bucket{model=\"m", 2 * kMaxModels - 1,
                                          "\",version=\"1\",stage=\"queue\",")),
      1U);
}

}  // namespace
}  // namespace mpsd
