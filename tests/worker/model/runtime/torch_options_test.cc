#include "worker/model/runtime/torch_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

using testing::HasSubstr;

std::string ParseError(const std::string& key, const std::string& value) {
  return std::string(TorchOptions::Parse({{key, value}}).status().message());
}

TEST(TorchOptions, ReadsEverySwitch) {
  const absl::StatusOr<TorchOptions> options = TorchOptions::Parse({
      {"linear_rewrite", "on"},
      {"force_graph_path", "off"},
      {"row_buckets", "on"},
      {"panels", "off"},
      {"shared_weights", "off"},
      {"training_mode", "evaluate"},
      {"profiler", "allow"},
      {"self_check", "off"},
      {"device_inflight", "3"},
      {"stream_exhaustion", "250ms"},
      {"libtorch_version", "2.11.0"},
      {"libtorch_path", "/opt"},
      {"runtime_kind", "stock"},
  });
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->linear_rewrite, Switch::kOn);
  EXPECT_EQ(options->force_graph_path, Switch::kOff);
  EXPECT_EQ(options->row_buckets, Switch::kOn);
  EXPECT_EQ(options->panels, Switch::kOff);
  EXPECT_TRUE(options->allow_training_mode);
  EXPECT_TRUE(options->allow_profiler);
  EXPECT_FALSE(options->self_check);
  EXPECT_EQ(options->device_inflight, 3u);
  EXPECT_EQ(options->stream_exhaustion.action, StreamExhaustion::kWaitLimited);
  EXPECT_EQ(options->stream_exhaustion.wait_ns, 250'000'000);
  EXPECT_EQ(options->libtorch_version, "2.11.0");
  EXPECT_EQ(options->libtorch_path, "/opt");
  EXPECT_EQ(options->runtime_kind, "stock");
}

TEST(TorchOptions, PassesOverWhatBelongsToClients) {
  EXPECT_TRUE(TorchOptions::Parse({{"vocab", "/v.txt"}, {"anything", "else"}}).ok());
}

TEST(TorchOptions, NamesTheParameterAtFault) {
  EXPECT_EQ(ParseError("linear_rewrite", "yes"),
            "parameters.linear_rewrite: must be one of auto, on, off");
  EXPECT_EQ(ParseError("training_mode", "on"),
            "parameters.training_mode: must be one of refuse, evaluate");
  EXPECT_THAT(ParseError("device_inflight", "33"), HasSubstr("a number from 0 to 32"));
  EXPECT_THAT(ParseError("device_inflight", "-1"), HasSubstr("a number from 0 to 32"));
  EXPECT_THAT(ParseError("stream_exhaustion", "soon"), HasSubstr("error, wait, or a duration"));
}

TEST(Switch, AutoIsWhatTheRuntimeNeeds) {
  EXPECT_TRUE(Wanted(Switch::kAuto, true));
  EXPECT_FALSE(Wanted(Switch::kAuto, false));
  EXPECT_TRUE(Wanted(Switch::kOn, false));
  EXPECT_FALSE(Wanted(Switch::kOff, true));
}

}  // namespace
}  // namespace mpsd
