#include "client/cli/bench_verb.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/match.h"
#include "client/bench/bench_report.h"
#include "client/cli/exit_code.h"
#include "client/format/npy.h"
#include "proto/files/whole_file.h"
#include "tests/client/full_output.h"
#include "tests/fakes/fake_inference_server.h"

namespace mpsd::cli {
namespace {

class BenchVerbTest : public testing::Test {
 protected:
  BenchVerbTest() {
    server_.metadata.set_name("m");
    auto* input = server_.metadata.add_inputs();
    input->set_name("x");
    input->set_datatype("FP32");
    input->add_shape(-1);
    input->add_shape(4);
    server_.infer = [](grpc::ServerContext&, const inference::ModelInferRequest& request,
                       inference::ModelInferResponse* response) {
      *response->mutable_raw_output_contents() = request.raw_input_contents();
      return grpc::Status::OK;
    };
    server_.Start();
    options_.server.address = server_.address();
    options_.model = "m";
    options_.seconds = 0.5;
    options_.clients = {1};
  }

  int Run() { return RunBench(options_, out_, err_); }

  FakeInferenceServer server_;
  BenchOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(BenchVerbTest, WritesALineForEachLoad) {
  options_.clients = {1, 3};
  options_.rates = {100};
  EXPECT_EQ(Run(), kExitOk) << err_.str();
  for (const char* text : {"LOAD ", "1 client ", "3 clients ", "100 /s "}) {
    EXPECT_TRUE(absl::StrContains(out_.str(), text)) << text << " in\n" << out_.str();
  }
}

TEST_F(BenchVerbTest, WritesJsonWithTheKnee) {
  options_.server.json = true;
  options_.slo = "p50=0.001ms";
  options_.knee_loads_max = 2;
  EXPECT_EQ(Run(), kExitServerError);
  EXPECT_EQ(err_.str(), "mpsd: RESOURCE_EXHAUSTED: no load meets p50 <= 0.001 ms\n");
  const auto report = nlohmann::json::parse(out_.str());
  EXPECT_EQ(report["points"][0]["clients"], 1);
  EXPECT_GT(report["points"][0]["answered"], 0);
  EXPECT_TRUE(report["points"][0]["mean_batch"].is_null()) << "the server keeps no counts";
  EXPECT_GT(report["points"][1]["rate"], 0);
  EXPECT_TRUE(report["knee"].is_null());
}

TEST_F(BenchVerbTest, AServerThatAnswersNothingIsAnError) {
  server_.infer = [](grpc::ServerContext&, const inference::ModelInferRequest&,
                     inference::ModelInferResponse*) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no such row");
  };
  EXPECT_EQ(Run(), kExitServerError);
  EXPECT_TRUE(absl::StrContains(out_.str(), "INVALID_ARGUMENT")) << out_.str();
  EXPECT_TRUE(absl::StrContains(err_.str(), "no request was answered; `mpsd infer m`"))
      << err_.str();
}

TEST_F(BenchVerbTest, AReportThatCannotBeWrittenIsAnError) {
  FullOutput full;
  EXPECT_EQ(RunBench(options_, full, err_), kExitCannotWrite);
  EXPECT_EQ(err_.str(), "mpsd: the output cannot be written\n");
}

TEST_F(BenchVerbTest, SendsTheContentsOfAFile) {
  const std::string path = server_.folder() + "/x.npy";
  const auto file = FormatNpy({DataType::kFp32, {1, 4}, std::string(16, 'x')});
  ASSERT_TRUE(file.ok() && WriteWholeFile(path, *file).ok());
  options_.requests.inputs = {"x=@" + path};
  EXPECT_EQ(Run(), kExitOk) << err_.str();
  EXPECT_EQ(server_.LastInfer().raw_input_contents(0), std::string(16, 'x'));
}

TEST_F(BenchVerbTest, AShapeBelongsToAnInput) {
  options_.requests.inputs = {"x=2..3"};
  options_.requests.shapes = {"x=7,4"};
  EXPECT_EQ(Run(), kExitOk) << err_.str();
  EXPECT_EQ(server_.LastInfer().inputs(0).shape(0), 7);
  options_.requests.shapes = {"y=7,4"};
  EXPECT_EQ(Run(), kExitUsage);
}

TEST_F(BenchVerbTest, TellsUsageFromAServerThatIsNotThere) {
  options_.slo = "20ms";
  EXPECT_EQ(Run(), kExitUsage);
  options_.slo = "";
  options_.requests.inputs = {"x=@/nowhere"};
  EXPECT_EQ(Run(), kExitNoInput);
  options_.requests.inputs = {"y"};
  EXPECT_EQ(Run(), kExitUsage);
  options_.requests.inputs = {};
  options_.model = "n";
  EXPECT_EQ(Run(), kExitServerError);
  options_.server.address += ".none";
  EXPECT_EQ(Run(), kExitNotReachable);
  EXPECT_EQ(out_.str(), "");
}

TEST(BenchReportText, NamesTheKneeAndTheErrors) {
  bench::LoadPoint point{.load = {.rate = 250}, .due = 753, .offered = 251, .answered = 249.5};
  point.p50_ns = 1'500'000;
  point.p95_ns = 2'000'000;
  point.p99_ns = 18'000'000;
  point.mean_batch = 3.25;
  point.errors = {{"RESOURCE_EXHAUSTED", 3}, {"WRONG", 1}};
  point.meets_slo = true;
  point.slo_latency_ns = point.p99_ns;
  EXPECT_EQ(bench::BenchTitles(true) + bench::BenchLine(point, true),
            "LOAD            OFFERED/S  ANSWERED/S       P50       P95       P99  BATCH  SLO     "
            "ERRORS\n"
            "250 /s              251.0       249.5    1.5 ms      2 ms     18 ms    3.2  met     "
            "3 RESOURCE_EXHAUSTED, 1 WRONG\n");
  bench::BenchReport report{.points = {point}, .slo = bench::Slo{0.99, 20'000'000}, .knee = point};
  EXPECT_EQ(bench::KneeText(report),
            "the highest load that meets p99 <= 20 ms: 250.0 a second, 249.5 answered, at 18 ms\n");
  EXPECT_TRUE(absl::StrContains(bench::BenchLine({.load = {.rate = 1}}, true), "-       -\n"));
  report.knee.reset();
  EXPECT_EQ(bench::KneeText(report), "no load meets p99 <= 20 ms\n");
}

}  // namespace
}  // namespace mpsd::cli
