#include "server/telemetry/metrics_page.h"

#include <map>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "gtest/gtest.h"
#include "prometheus/text_serializer.h"
#include "server/telemetry/gauge_share.h"
#include "server/telemetry/metric_families.h"

namespace mpsd {
namespace {

using Series = std::map<std::string, double>;

// The exposition read back: one value a series, keyed by the text before it. A series that stands
// twice fails the test, since Prometheus refuses the whole scrape.
Series Parse(const std::string& text) {
  Series series;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.rfind(' ');
    double value = 0;
    EXPECT_TRUE(absl::SimpleAtod(line.substr(space + 1), &value)) << line;
    EXPECT_TRUE(series.emplace(line.substr(0, space), value).second) << "twice: " << line;
  }
  return series;
}

class MetricsPageTest : public testing::Test {
 protected:
  MetricsPageTest() {
    model_.model = "m";
    page_.AddModel(owner_);
  }

  double Value(const std::string& name) {
    const Series series = Parse(page_.Text());
    const auto found = series.find(name);
    EXPECT_NE(found, series.end()) << name;
    return found == series.end() ? -1 : found->second;
  }

  ServerMetrics server_;
  std::shared_ptr<ModelMetrics> owner_ = std::make_shared<ModelMetrics>();
  ModelMetrics& model_ = *owner_;
  MetricsPage page_{&server_, {{"version", "1.2.3"}, {"grpc", "1.51.1"}}};
};

TEST_F(MetricsPageTest, ShowsTheStateAndPrecisionOfEachVersion) {
  page_.SetModelStates([] {
    return std::vector<ModelStateSample>{{"m", "1", ModelState::kReady, "bf16"},
                                         {"n", "", ModelState::kRefused, ""}};
  });
  EXPECT_EQ(Value(R"(mpsd_model_state{model="m",version="1",state="ready"})"), 1);
  EXPECT_EQ(Value(R"(mpsd_model_state{model="m",version="1",state="refused"})"), 0);
  EXPECT_EQ(Value(R"(mpsd_model_state{model="n",version="",state="refused"})"), 1);
  EXPECT_EQ(Value(R"(mpsd_model_state{model="n",version="",state="loading"})"), 0);
  EXPECT_EQ(Value(R"(mpsd_model_state{model="n",version="",state="unavailable"})"), 0);
  EXPECT_EQ(Value(R"(mpsd_model_precision{model="m",version="1",precision="bf16"})"), 1);
  EXPECT_FALSE(absl::StrContains(page_.Text(), R"(mpsd_model_precision{model="n")"));
}

TEST_F(MetricsPageTest, ShowsTheBudgetOfTokensWhereThereIsOne) {
  page_.SetModelStates([] {
    return std::vector<ModelStateSample>{{"m", "1", ModelState::kReady, "fp32", {}, 8192},
                                         {"n", "1", ModelState::kReady, "fp32"}};
  });
  EXPECT_EQ(Value(R"(mpsd_batch_token_budget{model="m",version="1"})"), 8192);
  EXPECT_FALSE(absl::StrContains(page_.Text(), R"(mpsd_batch_token_budget{model="n")"));
}

TEST_F(MetricsPageTest, ShowsTheLoadOfAllModelsWithoutLabels) {
  EXPECT_EQ(Value("mpsd_saturation"), 0);
  const auto other = std::make_shared<ModelMetrics>();
  other->model = "n";
  page_.AddModel(other);
  model_.queued_requests = 3;
  model_.inside_requests = 5;
  model_.saturation_permille = 250;
  other->inside_requests = 4;
  other->saturation_permille = 1200;
  EXPECT_EQ(Value("mpsd_queued_requests"), 3);
  EXPECT_EQ(Value("mpsd_running_requests"), 6);
  EXPECT_EQ(Value(R"(mpsd_model_saturation{model="m",version="1"})"), 0.25);
  EXPECT_EQ(Value("mpsd_saturation"), 1) << "two generations have a part each";
  model_.queued_requests = 100;
  EXPECT_EQ(Value("mpsd_running_requests"), 0) << "the two figures are not of one moment";
}

TEST_F(MetricsPageTest, ShowsTheHostsThatAnSloNeedsOnceKnown) {
  model_.replicas_needed_permille = 2500;
  EXPECT_FALSE(absl::StrContains(page_.Text(), "mpsd_replicas_needed{"));
  model_.replicas_known = 1;
  EXPECT_EQ(Value(R"(mpsd_replicas_needed{model="m",version="1"})"), 2.5);
}

TEST_F(MetricsPageTest, ShowsTheLoadWithoutModels) {
  owner_.reset();
  EXPECT_EQ(Value("mpsd_saturation"), 0);
  EXPECT_EQ(Value("mpsd_queued_requests"), 0);
}

TEST_F(MetricsPageTest, ShowsTheMemoryOfEachWorkerWithAProcess) {
  RuntimeSample serves = {3, "cpu", "torch"};
  serves.resident_bytes = 1 << 20;
  const RuntimeSample waits = {4, "cpu", "torch"};
  page_.SetModelStates([=] {
    return std::vector<ModelStateSample>{{"m", "1", ModelState::kReady, "fp32", {serves, waits}}};
  });
  EXPECT_EQ(Value(R"(mpsd_worker_resident_memory_bytes{model="m",version="1",worker="3",)"
                  R"(device="cpu"})"),
            1 << 20);
  EXPECT_FALSE(absl::StrContains(page_.Text(), R"(bytes{model="m",version="1",worker="4")"));
}

TEST(GpuFamilies, HaveWhatIsKnownOfGpusAndWorkers) {
  const GpuSample told = {0, "GPU-a", 0.25, 60, 100, {{7, 40}, {8, 20}}};
  const GpuSample secretive = {1, "GPU-b", -1, 0, 0, {{7, 2}}};
  RuntimeSample worker = {3, "cuda:0", "torch"};
  worker.pid = 7;
  const RuntimeSample on_cpu = {4, "cpu", "torch"};
  const ModelStateSample model = {"m", "1", ModelState::kReady, "fp32", {worker, on_cpu}};
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, GpuFamilies({told, secretive}, {model}));
  const Series series = {{R"(mpsd_gpu_busy{gpu="0",uuid="GPU-a"})", 0.25},
                         {R"(mpsd_gpu_memory_used_bytes{gpu="0",uuid="GPU-a"})", 60},
                         {R"(mpsd_gpu_memory_bytes{gpu="0",uuid="GPU-a"})", 100},
                         {R"(mpsd_worker_device_memory_bytes{model="m",version="1",worker="3",)"
                          R"(device="cuda:0"})",
                          42}};
  EXPECT_EQ(Parse(text.str()), series);
  EXPECT_TRUE(GpuFamilies({}, {model}).empty());
}

TEST_F(MetricsPageTest, ShowsWhatEachWorkerRunsItsModelWith) {
  page_.SetModelStates([] {
    return std::vector<ModelStateSample>{
        {"m",
         "1",
         ModelState::kReady,
         "fp32",
         {{3, "mps", "torch 2.9.1", "patched", "/t", "held", "in_place"}}},
        {"n", "1", ModelState::kLoading, ""}};
  });
  EXPECT_EQ(Value(R"(mpsd_runtime_info{model="m",version="1",worker="3",device="mps",)"
                  R"(runtime="torch 2.9.1",kind="patched",path="/t",driver_guard="held",)"
                  R"(input_memory="in_place"})"),
            1);
  EXPECT_FALSE(absl::StrContains(page_.Text(), R"(mpsd_runtime_info{model="n")"));
}

TEST_F(MetricsPageTest, ShowsHowSlowEachWorkerIs) {
  page_.SetModelStates([] {
    const std::vector<RuntimeSample> workers = {
        {0, "cpu", "torch 2.9.1", "stock", "/t", "none", "none"},
        {1, "cpu", "torch 2.9.1", "stock", "/t", "none", "none", 3.5}};
    return std::vector<ModelStateSample>{{"m", "1", ModelState::kReady, "fp32", workers}};
  });
  EXPECT_EQ(Value(R"(mpsd_worker_slowness{model="m",version="1",worker="0"})"), 1);
  EXPECT_EQ(Value(R"(mpsd_worker_slowness{model="m",version="1",worker="1"})"), 3.5);
}

TEST_F(MetricsPageTest, ShowsTheResourcesThatModelsShare) {
  EXPECT_FALSE(absl::StrContains(page_.Text(), "mpsd_resource_limit"));
  page_.SetResources([] {
    return std::vector<ResourceSample>{{"R1", "", 4, 3, 2}, {"R2", "cuda:1", 1, 0, 0}};
  });
  EXPECT_EQ(Value(R"(mpsd_resource_limit{resource="R1",device=""})"), 4);
  EXPECT_EQ(Value(R"(mpsd_resource_held{resource="R1",device=""})"), 3);
  EXPECT_EQ(Value(R"(mpsd_resource_waiting{resource="R1",device=""})"), 2);
  EXPECT_EQ(Value(R"(mpsd_resource_limit{resource="R2",device="cuda:1"})"), 1);
}

TEST_F(MetricsPageTest, CountsRequestsByTheNameOfTheirCode) {
  model_.requests_by_code[0] = 7;
  model_.requests_by_code[3] = 2;
  EXPECT_EQ(Value(R"(mpsd_requests_total{model="m",version="1",code="OK"})"), 7);
  EXPECT_EQ(Value(R"(mpsd_requests_total{model="m",version="1",code="INVALID_ARGUMENT"})"), 2);
}

TEST_F(MetricsPageTest, EveryCodeHasItsGrpcName) {
  const char* names[kStatusCodes] = {"OK",
                                     "CANCELLED",
                                     "UNKNOWN",
                                     "INVALID_ARGUMENT",
                                     "DEADLINE_EXCEEDED",
                                     "NOT_FOUND",
                                     "ALREADY_EXISTS",
                                     "PERMISSION_DENIED",
                                     "RESOURCE_EXHAUSTED",
                                     "FAILED_PRECONDITION",
                                     "ABORTED",
                                     "OUT_OF_RANGE",
                                     "UNIMPLEMENTED",
                                     "INTERNAL",
                                     "UNAVAILABLE",
                                     "DATA_LOSS",
                                     "UNAUTHENTICATED"};
  for (size_t code = 0; code < kStatusCodes; ++code) model_.requests_by_code[code] = code + 1;
  const Series series = Parse(page_.Text());
  for (size_t code = 0; code < kStatusCodes; ++code) {
    const std::string name =
        std::string(R"(mpsd_requests_total{model="m",version="1",code=")") + names[code] + "\"}";
    ASSERT_TRUE(series.contains(name)) << name;
    EXPECT_EQ(series.at(name), code + 1);
  }
}

TEST_F(MetricsPageTest, OnlyCodesThatOccurredAreShownAndOkAlways) {
  const std::string text = page_.Text();
  EXPECT_TRUE(absl::StrContains(text, R"(code="OK"} 0)"));
  EXPECT_FALSE(absl::StrContains(text, R"(version="1",code="CANCELLED")"));
}

TEST_F(MetricsPageTest, HistogramIsCumulativeAndItsCountIsTheLastBucket) {
  model_.execute.ObserveNs(10'000);         // ≤ 20 µs
  model_.execute.ObserveNs(20'000);         // a bound belongs to its bucket
  model_.execute.ObserveNs(3'000'000);      // ≤ 5 ms
  model_.execute.ObserveNs(7'000'000'000);  // beyond all bounds
  const Series series = Parse(page_.Text());
  const std::string labels = R"({model="m",version="1",stage="execute")";
  const auto bucket = [&](const std::string& bound) {
    return series.at("mpsd_stage_seconds_bucket" + labels + ",le=\"" + bound + "\"}");
  };
  EXPECT_EQ(bucket("2e-05"), 2);
  EXPECT_EQ(bucket("0.002"), 2);
  EXPECT_EQ(bucket("0.005"), 3);
  EXPECT_EQ(bucket("5"), 3);
  EXPECT_EQ(bucket("+Inf"), 4);
  EXPECT_EQ(series.at("mpsd_stage_seconds_count" + labels + "}"), 4);
  EXPECT_NEAR(series.at("mpsd_stage_seconds_sum" + labels + "}"), 7.00303, 1e-9);
}

TEST_F(MetricsPageTest, EachStageHasItsOwnHistogram) {
  model_.queue.ObserveNs(1);
  model_.dispatch.ObserveNs(1);
  model_.dispatch.ObserveNs(1);
  for (int i = 0; i < 3; ++i) model_.execute.ObserveNs(1);
  for (int i = 0; i < 4; ++i) model_.respond.ObserveNs(1);
  const std::string start = R"(mpsd_stage_seconds_count{model="m",version="1",stage=")";
  EXPECT_EQ(Value(start + "queue\"}"), 1);
  EXPECT_EQ(Value(start + "dispatch\"}"), 2);
  EXPECT_EQ(Value(start + "execute\"}"), 3);
  EXPECT_EQ(Value(start + "respond\"}"), 4);
}

TEST_F(MetricsPageTest, AHistogramHasNoSeriesUntilSomethingIsObserved) {
  const auto has = [this](const std::string& start) {
    return absl::StrContains(page_.Text(), "\n" + start);
  };
  const std::string stage = R"(mpsd_stage_seconds_bucket{model="m",version="1",stage=")";
  EXPECT_FALSE(has("mpsd_stage_seconds_"));
  EXPECT_FALSE(has("mpsd_batch_rows_"));
  model_.queue.ObserveNs(1);
  EXPECT_TRUE(has(stage + "queue"));
  EXPECT_FALSE(has(stage + "execute"));
  model_.batch_rows.ObserveRows(1);
  EXPECT_TRUE(has("mpsd_batch_rows_bucket"));
}

TEST_F(MetricsPageTest, AModelThatServesNothingHasItsCountersFromZero) {
  EXPECT_EQ(Value(R"(mpsd_requests_total{model="m",version="1",code="OK"})"), 0);
  EXPECT_EQ(Value(R"(mpsd_batches_total{model="m",version="1"})"), 0);
  EXPECT_EQ(Value(R"(mpsd_worker_restarts_total{model="m",version="1"})"), 0);
}

TEST_F(MetricsPageTest, BatchRowsAddUp) {
  model_.batch_rows.ObserveRows(1);
  model_.batch_rows.ObserveRows(8);
  model_.batch_rows.ObserveRows(2000);
  EXPECT_EQ(Value(R"(mpsd_batch_rows_bucket{model="m",version="1",le="8"})"), 2);
  EXPECT_EQ(Value(R"(mpsd_batch_rows_count{model="m",version="1"})"), 3);
  EXPECT_EQ(Value(R"(mpsd_batch_rows_sum{model="m",version="1"})"), 2009);
}

TEST_F(MetricsPageTest, BatchTokensAddUp) {
  EXPECT_FALSE(absl::StrContains(page_.Text(), "mpsd_batch_tokens_bucket"));
  model_.batch_tokens.ObserveTokens(512);
  model_.batch_tokens.ObserveTokens(513);
  model_.batch_tokens.ObserveTokens(1'000'000);
  EXPECT_EQ(Value(R"(mpsd_batch_tokens_bucket{model="m",version="1",le="512"})"), 1);
  EXPECT_EQ(Value(R"(mpsd_batch_tokens_bucket{model="m",version="1",le="1024"})"), 2);
  EXPECT_EQ(Value(R"(mpsd_batch_tokens_sum{model="m",version="1"})"), 1'001'025);
}

// In the order in which the test numbers their fields.
constexpr const char* kOfOneField[] = {"mpsd_batches_total",
                                       "mpsd_gathered_batches_total",
                                       "mpsd_skipped_batches_total",
                                       "mpsd_dispatched_again_total",
                                       "mpsd_timeout_wakeups_total",
                                       "mpsd_queue_requests",
                                       "mpsd_queue_bytes",
                                       "mpsd_running_batches",
                                       "mpsd_workers_configured",
                                       "mpsd_workers_ready",
                                       "mpsd_input_slabs_leased",
                                       "mpsd_slab_segment_bytes",
                                       "mpsd_output_leases",
                                       "mpsd_pinned_output_bytes",
                                       "mpsd_worker_restarts_total",
                                       "mpsd_worker_recycles_total",
                                       "mpsd_worker_lines_dropped_total",
                                       "mpsd_circuit_open",
                                       "mpsd_quarantined_requests_total",
                                       "mpsd_refused_in_advance_total",
                                       "mpsd_given_up_requests_total",
                                       "mpsd_delayed_requests_total",
                                       "mpsd_text_tokens_total",
                                       "mpsd_truncated_texts_total",
                                       "mpsd_repeated_texts_total",
                                       "mpsd_cache_hits_total",
                                       "mpsd_cache_misses_total",
                                       "mpsd_padding_tokens_total",
                                       "mpsd_resource_waits_total",
                                       "mpsd_keep_warm_runs_total",
                                       "mpsd_memory_trims_total",
                                       "mpsd_open_sequences"};

TEST_F(MetricsPageTest, EveryCounterAndGaugeShowsItsOwnField) {
  model_.batches = 1;
  model_.gathered_batches = 2;
  model_.skipped_batches = 3;
  model_.dispatched_again = 4;
  model_.timeout_wakeups = 5;
  model_.queued_requests = 6;
  model_.queued_bytes = 7;
  model_.running_batches = 8;
  model_.workers_configured = 9;
  model_.workers_ready = 10;
  model_.input_slabs_leased = 11;
  model_.slab_segment_bytes = 12;
  model_.output_leases = 13;
  model_.pinned_output_bytes = 14;
  model_.worker_restarts = 15;
  model_.worker_recycles = 16;
  model_.worker_lines_dropped = 17;
  model_.circuit_open = 18;
  model_.quarantined_requests = 19;
  model_.refused_in_advance = 20;
  model_.given_up_requests = 21;
  model_.delayed_requests = 22;
  model_.text_tokens = 23;
  model_.truncated_texts = 24;
  model_.repeated_texts = 25;
  model_.cache_hits = 26;
  model_.cache_misses = 27;
  model_.padding_tokens = 28;
  model_.resource_waits = 29;
  model_.keep_warm_runs = 30;
  model_.memory_trims = 31;
  model_.open_sequences = 32;
  double expected = 1;
  for (const char* name : kOfOneField) {
    EXPECT_EQ(Value(std::string(name) + R"({model="m",version="1"})"), expected++) << name;
  }
}

TEST_F(MetricsPageTest, ShowsWhyWorkersEnded) {
  model_.worker_exits[static_cast<size_t>(WorkerExit::kHang)] = 3;
  EXPECT_EQ(Value(R"(mpsd_worker_exits_total{model="m",version="1",reason="hang"})"), 3);
  EXPECT_EQ(Value(R"(mpsd_worker_exits_total{model="m",version="1",reason="oom"})"), 0)
      << "a rate needs the zero before the one";
}

TEST_F(MetricsPageTest, ShowsWhySequencesEndedOnceThereWasOne) {
  const std::string lost = R"(mpsd_sequences_ended_total{model="m",version="1",reason="lost"})";
  EXPECT_EQ(page_.Text().find("mpsd_sequences_ended_total{"), std::string::npos);
  model_.open_sequences = 1;
  EXPECT_EQ(Value(lost), 0) << "a rate needs the zero before the one";
  model_.ended_sequences[static_cast<size_t>(SequenceEnd::kLost)] = 3;
  EXPECT_EQ(Value(lost), 3);
}

TEST_F(MetricsPageTest, ShowsTheServerAndItsBuild) {
  server_.refused_by_code[5] = 1;
  server_.log_lines_dropped = 2;
  server_.open_calls = 3;
  EXPECT_EQ(Value(R"(mpsd_refused_requests_total{code="NOT_FOUND"})"), 1);
  EXPECT_EQ(Value(R"(mpsd_refused_requests_total{code="INVALID_ARGUMENT"})"), 0)
      << "a rate needs the zero before the one";
  EXPECT_EQ(Value("mpsd_log_lines_dropped_total"), 2);
  EXPECT_EQ(Value("mpsd_open_calls"), 3);
  EXPECT_EQ(Value(R"(mpsd_build_info{version="1.2.3",grpc="1.51.1"})"), 1);
}

TEST_F(MetricsPageTest, ShowsTheHostsMemory) {
  server_.memory_pressure = 2;
  server_.memory_pressure_rises = 7;
  EXPECT_EQ(Value("mpsd_memory_pressure"), 2);
  EXPECT_EQ(Value("mpsd_memory_pressure_rises_total"), 7);
}

TEST_F(MetricsPageTest, ShowsTheKeptAnswers) {
  server_.kept_answers = 4;
  server_.kept_answer_bytes = 5;
  server_.evicted_answers = 6;
  EXPECT_EQ(Value("mpsd_kept_answers"), 4);
  EXPECT_EQ(Value("mpsd_kept_answer_bytes"), 5);
  EXPECT_EQ(Value("mpsd_evicted_answers_total"), 6);
}

TEST_F(MetricsPageTest, ShowsTheRepliesOfHttp) {
  for (const int code : {200, 404, 404, 500, 299}) server_.http_replies.Add(code);
  server_.http_connections = 3;
  EXPECT_EQ(Value(R"(mpsd_http_replies_total{code="200"})"), 1);
  EXPECT_EQ(Value(R"(mpsd_http_replies_total{code="404"})"), 2);
  EXPECT_EQ(Value(R"(mpsd_http_replies_total{code="500"})"), 2) << "and what nobody knows";
  EXPECT_EQ(Value(R"(mpsd_http_replies_total{code="503"})"), 0)
      << "a rate needs the zero before the one";
  EXPECT_EQ(Value("mpsd_http_connections"), 3);
}

TEST_F(MetricsPageTest, ShowsLimitsAndWhatIsReadWhenAsked) {
  page_.AddLimit("rank", 8);
  int readings = 0;
  page_.OnCollect([&] { server_.connections = ++readings; });
  EXPECT_EQ(Value(R"(mpsd_limit{limit="rank"})"), 8);
  EXPECT_EQ(Value("mpsd_connections"), readings);
  EXPECT_GT(readings, 0);
}

TEST_F(MetricsPageTest, ShowsTheProcess) {
  EXPECT_GT(Value("process_resident_memory_bytes"), 1e6);
  EXPECT_GE(Value("process_open_fds"), 3);
  EXPECT_GT(Value("process_max_fds"), Value("process_open_fds"));
  EXPECT_GT(Value("process_start_time_seconds"), 1.7e9);
  EXPECT_GT(Value("process_cpu_seconds_total"), 0);
}

TEST_F(MetricsPageTest, EscapesLabels) {
  const auto odd = std::make_shared<ModelMetrics>();
  odd->model = "a\"b\\c\nd";
  page_.AddModel(odd);
  EXPECT_TRUE(
      absl::StrContains(page_.Text(), R"(mpsd_batches_total{model="a\"b\\c\nd",version="1"} 0)"));
}

TEST_F(MetricsPageTest, AModelThatNobodyOwnsAnyMoreLeavesNoSeries) {
  EXPECT_TRUE(absl::StrContains(page_.Text(), "model="));
  owner_.reset();
  EXPECT_FALSE(absl::StrContains(page_.Text(), "model="));
}

TEST_F(MetricsPageTest, TwoModelsShareAFamily) {
  const auto other = std::make_shared<ModelMetrics>();
  other->model = "other";
  page_.AddModel(other);
  const std::string text = page_.Text();
  const size_t type = text.find("# TYPE mpsd_batches_total counter");
  ASSERT_NE(type, std::string::npos);
  EXPECT_EQ(text.find("# TYPE mpsd_batches_total", type + 1), std::string::npos);
  EXPECT_EQ(Value(R"(mpsd_batches_total{model="other",version="1"})"), 0);
}

TEST_F(MetricsPageTest, ASecondGenerationWithTheSameCountersIsNoSecondSeries) {
  page_.AddModel(owner_);
  EXPECT_EQ(Value(R"(mpsd_batches_total{model="m",version="1"})"), 0);
}

TEST_F(MetricsPageTest, ShowsHowTheLastReloadWent) {
  EXPECT_EQ(Value("mpsd_config_reload_ok"), 1);
  EXPECT_EQ(Value("mpsd_config_reload_time_seconds"), 0);
  server_.config_reload_ok = 0;
  server_.config_reload_time_s = 17;
  server_.model_load_failures = 2;
  EXPECT_EQ(Value("mpsd_config_reload_ok"), 0);
  EXPECT_EQ(Value("mpsd_config_reload_time_seconds"), 17);
  EXPECT_EQ(Value("mpsd_model_load_failures_total"), 2);
}

TEST(MetricsPageDeathTest, TwoCountersOfOneModelAreRefused) {
  ServerMetrics server;
  const auto model = std::make_shared<ModelMetrics>();
  const auto twin = std::make_shared<ModelMetrics>();
  MetricsPage page(&server, {});
  page.AddModel(model);
  EXPECT_DEATH(page.AddModel(twin), "check failed");
}

TEST(GaugeShare, AddsUpWhatItsOwnersHave) {
  std::atomic<int64_t> gauge{0};
  GaugeShare first(&gauge);
  {
    GaugeShare second(&gauge);
    first.Set(3);
    second.Set(4);
    EXPECT_EQ(gauge, 7);
    first.Set(1);
    EXPECT_EQ(gauge, 5);
  }
  EXPECT_EQ(gauge, 1) << "an owner that goes takes its share along";
}

}  // namespace
}  // namespace mpsd
