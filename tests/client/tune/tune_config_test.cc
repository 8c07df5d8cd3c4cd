#include "client/tune/tune_config.h"

#include <gtest/gtest.h>

namespace mpsd::tune {
namespace {

using nlohmann::ordered_json;

constexpr char kText[] = R"({
  // two models
  "listen": {"grpc": ["unix:a.sock", "127.0.0.1:9001"], "http": ""},
  "state_dir": "state",
  "limits": {"calls": 7, "drain_timeout": "9s"},
  "resources": {"r": 4},
  "device_share": {"cpu": 2},
  "access": {"tokens": "/etc/tokens"},
  "models": [
    {"name": "mlp", "path": "m/mlp.pt", "max_batch_size": 32,
     "placement": {"processes": 1, "lanes": "auto"}, "response_cache": "shared"},
    {"name": "bert", "version": 3, "path": "/models/bert", "text": {"tokenizer": "t.json"}},
    {"name": "bert", "version": 2, "path": "old"},
    {"name": "mini", "path": "hf:ORG/NAME"}
  ]
})";

TuneConfig Parsed(const std::string& model) {
  auto config = TuneConfig::Parse(kText, "/etc/mpsd", model);
  EXPECT_TRUE(config.ok()) << config.status();
  return *std::move(config);
}

TEST(TuneConfig, ReadsWhatTheStanzaSays) {
  const TuneConfig config = Parsed("mlp");
  EXPECT_EQ(config.placement(), (Placement{1, 0, 0}));
  EXPECT_EQ(config.max_batch_size(), 32u);
  EXPECT_EQ(config.others(), 3u);
}

TEST(TuneConfig, NamesTheNearestModel) {
  const auto config = TuneConfig::Parse(kText, "/etc/mpsd", "mpl");
  EXPECT_EQ(config.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(config.status().message(), "the config has no model 'mpl'; did you mean 'mlp'?");
  EXPECT_EQ(TuneConfig::Parse(R"({"model_repository": "r"})", "/", "a").status().message(),
            "the config has no model 'a'; only one of `models` can be tuned, none of a "
            "model_repository");
}

TEST(TuneConfig, RefusesWhatIsNoConfig) {
  for (const char* text : {"", "[]", R"({"models": 3})", R"({"models": [1, {"name": 2}]})",
                           R"({"models": [{"name": "a"}], "limits": 3})",
                           R"({"models": [{"name": "a", "placement": 3}]})"}) {
    EXPECT_FALSE(TuneConfig::Parse(text, "/", "a").ok()) << text;
  }
}

TEST(TuneConfig, APrivateDaemonServesTheModelAloneOnASocketOfItsOwn) {
  const auto json = ordered_json::parse(Parsed("mlp").PrivateText({}, "/tmp/f"));
  EXPECT_EQ(json["listen"], ordered_json::parse(R"({"grpc": ["unix:/tmp/f/mpsd.sock"],
                                                    "http": ""})"));
  EXPECT_EQ(json["state_dir"], "/tmp/f/state");
  EXPECT_FALSE(json.contains("access"));
  ASSERT_EQ(json["models"].size(), 1u);
  EXPECT_EQ(json["models"][0]["path"], "/etc/mpsd/m/mlp.pt");
}

TEST(TuneConfig, APrivateDaemonKeepsLimitsButNoAnswers) {
  const auto json = ordered_json::parse(Parsed("mlp").PrivateText({}, "/tmp/f"));
  EXPECT_EQ(json["limits"]["calls"], 7);
  EXPECT_EQ(json["limits"]["drain_timeout"], "1s");
  EXPECT_EQ(json["resources"]["r"], 4);
  EXPECT_EQ(json["device_share"]["cpu"], 2);
  EXPECT_FALSE(json["models"][0].contains("response_cache"));
}

TEST(TuneConfig, TheHighestVersionIsTuned) {
  const auto json = ordered_json::parse(Parsed("bert").PrivateText({}, "/tmp/f"));
  EXPECT_EQ(json["models"][0]["version"], 3);
  EXPECT_EQ(json["models"][0]["path"], "/models/bert");
  EXPECT_EQ(json["models"][0]["text"]["tokenizer"], "/etc/mpsd/t.json");
}

TEST(TuneConfig, AModelAtAHubKeepsItsName) {
  const auto json = ordered_json::parse(Parsed("mini").PrivateText({}, "/tmp/f"));
  EXPECT_EQ(json["models"][0]["path"], "hf:ORG/NAME");
}

TEST(TuneConfig, ChangesOnlyWhatDiffers) {
  const TuneConfig config = Parsed("mlp");
  const Candidate candidate{.placement = {1, 2, 4}, .max_batch_size = 32, .precision = "bf16"};
  EXPECT_EQ(config.Changes(candidate),
            ordered_json::parse(R"({"placement": {"lanes": 2, "threads": 4},
                                    "precision": "bf16"})"));
  EXPECT_TRUE(config.Changes({}).empty());
  auto wanted = ordered_json::parse(kText, nullptr, true, /*ignore_comments=*/true);
  wanted["models"][0]["placement"]["lanes"] = 2;
  wanted["models"][0]["placement"]["threads"] = 4;
  wanted["models"][0]["precision"] = "bf16";
  const std::string changed = config.ChangedText(candidate, "/etc/mpsd");
  EXPECT_EQ(ordered_json::parse(changed, nullptr, true, true), wanted);
  EXPECT_NE(changed.find("  // two models\n"), std::string::npos);
}

TEST(TuneConfig, PathsStayRightInAnotherFolder) {
  const std::string text = Parsed("mlp").ChangedText({}, "/srv");
  const auto json = ordered_json::parse(text, nullptr, true, /*ignore_comments=*/true);
  EXPECT_EQ(json["models"][0]["path"], "/etc/mpsd/m/mlp.pt");
  EXPECT_EQ(json["models"][2]["path"], "/etc/mpsd/old");
  EXPECT_EQ(json["models"][3]["path"], "hf:ORG/NAME");
  EXPECT_EQ(json["state_dir"], "/etc/mpsd/state");
  EXPECT_EQ(json["access"]["tokens"], "/etc/tokens");
  EXPECT_EQ(json["listen"]["grpc"][0], "unix:/etc/mpsd/a.sock");
  EXPECT_EQ(json["listen"]["grpc"][1], "127.0.0.1:9001");
}

}  // namespace
}  // namespace mpsd::tune
