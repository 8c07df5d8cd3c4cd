#include "client/cli/tune_verb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "client/cli/exit_code.h"
#include "client/cli/tune_report.h"
#include "proto/files/whole_file.h"

namespace mpsd::cli {
namespace {

using testing::HasSubstr;
using tune::Trial;
using tune::TrialState;

// An mpsd of two lines of shell.
class TuneVerb : public testing::Test {
 protected:
  TuneVerb() {
    options_.model = "mlp";
    options_.slo = "p99=20ms";
    options_.config = base_ + ".json";
    options_.program = base_ + ".sh";
    std::ofstream(options_.config) << R"({"models": [{"name": "mlp"}, {"name": "bert"}]})";
    MpsdThat("exit 0", "echo 'mpsd: no memory'; exit 78");
  }
  void TearDown() override {
    std::remove(options_.config.c_str());
    std::remove(options_.program.c_str());
  }
  void MpsdThat(const std::string& checks, const std::string& serves) {
    std::ofstream(options_.program) << "#!/bin/sh\nif [ $1 = check ]; then " << checks << "; fi\n"
                                    << serves << "\n";
    chmod(options_.program.c_str(), 0700);
  }
  int Run() { return RunTune(options_, out_, err_); }

  const std::string base_ = testing::TempDir() + "mpsd_tune_verb_" + std::to_string(getpid());
  TuneOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(TuneVerb, TellsWrongOptions) {
  options_.slo = "20ms";
  EXPECT_EQ(Run(), kExitUsage);
  EXPECT_EQ(err_.str(),
            "mpsd: --slo: '20ms': a percentile and a duration are expected, as p99=20ms\n");
  options_.slo = "p99=20ms";
  options_.budget = "5";
  EXPECT_EQ(Run(), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("mpsd: --budget: '5' has no unit"));
  options_.budget = "5m";
  options_.start_timeout = "0";
  EXPECT_EQ(Run(), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("mpsd: --start-timeout: must be more than 0"));
  options_.start_timeout = "1s";
  options_.requests.inputs = {"x=@/nowhere"};
  EXPECT_EQ(Run(), kExitNoInput);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(TuneVerb, NeverOverwritesAFileSilently) {
  options_.output = options_.config;
  EXPECT_EQ(Run(), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr(" is there already; --force overwrites it"));
}

TEST_F(TuneVerb, KnowsBeforehandThatItCannotWrite) {
  options_.output = base_ + ".none/new.json";
  EXPECT_EQ(Run(), kExitCannotWrite);
  EXPECT_EQ(err_.str(), "mpsd: cannot write to " + base_ + ".none\n");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(TuneVerb, ShowsTheDaemonsWordsAboutAConfig) {
  MpsdThat("echo \"$2:3: models: must be a list\" >&2; exit 78", "exit 1");
  EXPECT_EQ(Run(), kExitWrongConfig);
  EXPECT_EQ(err_.str(), "mpsd: " + options_.config + " has mistakes:\n" + options_.config +
                            ":3: models: must be a list\n");
}

TEST_F(TuneVerb, NamesTheNearestModel) {
  options_.model = "brt";
  EXPECT_EQ(Run(), kExitWrongConfig);
  EXPECT_THAT(err_.str(), HasSubstr("no model 'brt'; did you mean 'bert'?"));
}

TEST_F(TuneVerb, SaysWhereItLooksForAConfig) {
  options_.config = "";
  options_.places = {base_ + ".none"};
  EXPECT_EQ(Run(), kExitWrongConfig);
  EXPECT_THAT(err_.str(), HasSubstr("there is no config: " + base_ + ".none; --config names one"));
  options_.places.push_back(base_ + ".json");
  EXPECT_EQ(Run(), kExitServerError) << "that one is found";
}

TEST_F(TuneVerb, EndsWhenTheModelDoesNotGetReady) {
  EXPECT_EQ(Run(), kExitServerError);
  EXPECT_EQ(err_.str(),
            "mpsd: UNAVAILABLE: model 'mlp' cannot be measured: the daemon ended with 78: mpsd: no "
            "memory\n");
  EXPECT_THAT(out_.str(),
              HasSubstr("as configured                  -                -         -         "
                        "-      -  failed: the daemon ended with 78"));
}

TEST_F(TuneVerb, WritesJsonOfWhatFailed) {
  options_.json = true;
  EXPECT_EQ(Run(), kExitServerError);
  const auto json = nlohmann::json::parse(out_.str());
  EXPECT_EQ(json["candidates"][0]["state"], "failed");
  EXPECT_TRUE(json["best"].is_null());
}

// A report of two candidates, of which the second is better.
TuneReport Report() {
  bench::LoadPoint knee{.load = {.rate = 100}, .offered = 100, .answered = 99.5};
  knee.p50_ns = 1'500'000;
  knee.p99_ns = 18'000'000;
  knee.mean_batch = 3.25;
  TuneReport report{.model = "mlp", .config = "mpsd.json", .cores = 2};
  report.slo = {0.99, 20'000'000};
  report.trials = {{.candidate = {}, .state = TrialState::kMet, .processes = 1, .lanes = 1},
                   {.candidate = {.placement = {1, 2, 1}}, .state = TrialState::kMet},
                   {.candidate = {.placement = {2, 1, 1}}, .reason = "--budget is spent"}};
  report.trials[0].knee = knee;
  knee.load.rate = 200;
  knee.answered = 199;
  report.trials[1].knee = knee;
  report.best = report.trials[1];
  report.changes["placement"]["lanes"] = 2;
  return report;
}

TEST(TuneReportText, HasALineForEachCandidate) {
  EXPECT_EQ(
      TuneTitles() + TrialLine(Report().trials[0]) + TrialLine(Report().trials[2]),
      "CANDIDATE                      WORKERS     KNEE/S       P50       P99  BATCH  NOTE\n"
      "as configured                  1x1           99.5    1.5 ms     18 ms    3.2\n"
      "2 x 1 x 1                      -                -         -         -      -  not tried: "
      "--budget is spent\n");
}

TEST(TuneReportText, SaysWhatTheBestChanges) {
  TuneReport report = Report();
  EXPECT_EQ(BestText(report),
            "\nbest: 1 x 2 x 1: 199.0 a second at p99 <= 20 ms, 2.00 times what it serves as "
            "configured\n"
            "\nin mpsd.json the stanza of 'mlp' gets:\n{\n  \"placement\": {\n    \"lanes\": 2\n  "
            "}\n}\n--output FILE writes the whole config\n");
  report.output = "new.json";
  report.others = 1;
  EXPECT_THAT(BestText(report), HasSubstr("\nnew.json is written; mpsd serve --config new.json\n"));
  EXPECT_THAT(BestText(report), HasSubstr("measured alone: the other models of the config (1)"));
}

TEST(TuneReportText, SaysThatTheConfigIsTheBest) {
  TuneReport report = Report();
  report.best = report.trials[0];
  report.changes = nlohmann::ordered_json::object();
  EXPECT_EQ(BestText(report),
            "\nbest: as configured: 99.5 a second at p99 <= 20 ms; no other is better by more than "
            "5 %\n");
}

TEST(TuneReportText, ComparesWhatWasSeenWithWhatWasExpected) {
  TuneReport report = Report();
  report.verified = report.best->knee;
  report.verified->load.rate = 180;
  report.verified->answered = 178;
  report.verified->meets_slo = true;
  EXPECT_EQ(VerifiedText(report),
            "\nverified with 180.0 requests a second, 0.9 of the knee:\n"
            "  expected  180.0 answered, p99 <= 20 ms; at the knee p50 1.5 ms, p99 18 ms\n"
            "  seen      178.0 answered, p50 1.5 ms, p99 18 ms, batch 3.2\n"
            "p99 <= 20 ms holds\n");
  report.verified->load.rate = 140;
  report.verified->meets_slo = false;
  EXPECT_THAT(VerifiedText(report), HasSubstr("verified with 140.0 requests a second, 0.7 of"));
  EXPECT_THAT(VerifiedText(report), HasSubstr("p99 <= 20 ms DOES NOT HOLD; longer --seconds"));
}

TEST(TuneReportText, JsonNamesTheBestByItsIndex) {
  const auto json = nlohmann::json::parse(TuneJson(Report()));
  EXPECT_EQ(json["best"], 1);
  EXPECT_EQ(json["candidates"][1]["placement"]["lanes"], 2);
  EXPECT_EQ(json["candidates"][1]["knee"]["rate"], 200);
  EXPECT_TRUE(json["candidates"][0]["placement"]["lanes"].is_null());
  EXPECT_EQ(json["candidates"][2]["state"], "not tried");
  EXPECT_EQ(json["changes"]["placement"]["lanes"], 2);
  EXPECT_TRUE(json["verified"].is_null());
  EXPECT_TRUE(json["output"].is_null());
}

}  // namespace
}  // namespace mpsd::cli
