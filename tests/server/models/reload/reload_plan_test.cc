#include "server/models/reload/reload_plan.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/server/models/reload/fake_generation_maker.h"

namespace mpsd {
namespace {

std::vector<std::string> Names(const std::vector<ModelConfig>& models) {
  std::vector<std::string> names;
  for (const ModelConfig& model : models) names.push_back(model.name);
  return names;
}

using Words = std::vector<std::string>;

TEST(ReloadPlan, AnUnchangedConfigTouchesNothing) {
  const std::vector<ModelConfig> models = {AModel("a"), AModel("b")};
  const ReloadPlan plan = PlanReload(models, models);
  EXPECT_EQ(plan.keep, (std::vector<ModelKey>{{"a", "1"}, {"b", "1"}}));
  EXPECT_TRUE(plan.replace.empty() && plan.add.empty() && plan.remove.empty());
  EXPECT_EQ(PlanText(plan), "0 replaced, 0 added, 0 removed, 2 kept");
}

TEST(ReloadPlan, TellsWhatIsNewGoneAndDifferent) {
  const std::vector<ModelConfig> known = {AModel("kept"), AModel("changed"), AModel("gone")};
  const std::vector<ModelConfig> wanted = {AModel("new"), With(AModel("changed"), "delay", "1ms"),
                                           AModel("kept")};
  const ReloadPlan plan = PlanReload(known, wanted);
  EXPECT_EQ(plan.keep, (std::vector<ModelKey>{{"kept", "1"}}));
  EXPECT_EQ(Names(plan.replace), Words{"changed"});
  EXPECT_EQ(plan.replace[0].parameters.at("delay"), "1ms") << "the wanted one, not the known one";
  EXPECT_EQ(Names(plan.add), Words{"new"});
  EXPECT_EQ(plan.remove, (std::vector<ModelKey>{{"gone", "1"}}));
}

TEST(ReloadPlan, TheVersionsOfAModelAreModelsOfTheirOwn) {
  const std::vector<ModelConfig> known = {AModel("m", "1"), AModel("m", "2")};
  const std::vector<ModelConfig> wanted = {AModel("m", "2"), AModel("m", "3")};
  const ReloadPlan plan = PlanReload(known, wanted);
  EXPECT_EQ(plan.keep, (std::vector<ModelKey>{{"m", "2"}}));
  ASSERT_EQ(plan.add.size(), 1u);
  EXPECT_EQ(plan.add[0].version, "3");
  EXPECT_EQ(plan.remove, (std::vector<ModelKey>{{"m", "1"}}));
}

// Whatever a config says of a model, saying something else makes another generation.
TEST(ReloadPlan, EveryKeyOfAModelCounts) {
  const std::vector<std::function<void(ModelConfig*)>> changes = {
      [](ModelConfig* m) { m->path = "/other.pt"; },
      [](ModelConfig* m) { m->stamp.modified_ns = 1; },
      [](ModelConfig* m) { m->stamp.inode = 1; },
      [](ModelConfig* m) { m->stamp.bytes = 1; },
      [](ModelConfig* m) { m->format = ModelFormat::kAoti; },
      [](ModelConfig* m) { m->device = "cpu"; },
      [](ModelConfig* m) { m->precision = Precision::kAuto; },
      [](ModelConfig* m) { m->placement.processes = 2; },
      [](ModelConfig* m) { m->placement.lanes = 2; },
      [](ModelConfig* m) { m->placement.threads = 2; },
      [](ModelConfig* m) { m->spec.max_batch_size = 2; },
      [](ModelConfig* m) { m->spec.pad.emplace_back(); },
      [](ModelConfig* m) { m->warmup = WarmUp::kAll; },
      [](ModelConfig* m) { m->batching.max_delay_ns = 2; },
      [](ModelConfig* m) { m->queue.levels[0].requests = 2; },
      [](ModelConfig* m) { m->queue_bytes = 2; },
      [](ModelConfig* m) { m->parameters["a"] = "b"; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    ModelConfig changed = AModel("m");
    changes[i](&changed);
    EXPECT_EQ(PlanReload({AModel("m")}, {changed}).replace.size(), 1u) << "change " << i;
  }
}

TEST(ReloadPlan, KeysThatNeedARestart) {
  Config before;
  Config after = before;
  EXPECT_EQ(KeysThatNeedARestart(before, after), Words{});
  after.log.level = "debug";
  after.limits.lame_duck_ns = 1;
  after.limits.drain_timeout_ns = 1;
  after.models.push_back(AModel("m"));
  EXPECT_EQ(KeysThatNeedARestart(before, after), Words{}) << "these take effect at once";
  after.listen.grpc = {"127.0.0.1:1"};
  after.listen.http.clear();
  after.listen.cors = {"*"};
  after.listen.hosts = {"a"};
  after.listen.reflection = Reflection::kOff;
  after.server_name = "other";
  after.server_version = "other";
  after.compat = Compat::kTriton;
  after.mps_fallback = true;
  after.memory_pressure = false;
  after.keep_awake = false;
  after.state_dir = "/elsewhere";
  after.limits.message_bytes = 1;
  after.limits.buffered_bytes = 1;
  after.limits.compressed_requests = false;
  after.limits.shared_memory_bytes = 1;
  after.limits.connection_pin_bytes = 1;
  after.limits.unread_copy_bytes = 1;
  after.limits.streams = 1;
  after.limits.resets = 1;
  after.limits.metadata_bytes = 1;
  after.limits.keepalive_ns = 1;
  after.limits.handshake_ns = 1;
  after.limits.connection_idle_ns = 1;
  after.limits.connection_age_ns = 1;
  after.limits.client_cuda_memory_bytes = 1;
  after.log.file = "/log";
  after.trace.metrics_interval_ns = 1;
  EXPECT_EQ(KeysThatNeedARestart(before, after), (Words{"listen.grpc",
                                                        "listen.http",
                                                        "listen.cors",
                                                        "listen.hosts",
                                                        "listen.reflection",
                                                        "server_name",
                                                        "server_version",
                                                        "compat",
                                                        "mps_fallback",
                                                        "memory_pressure",
                                                        "keep_awake",
                                                        "state_dir",
                                                        "limits.message",
                                                        "limits.buffered",
                                                        "limits.compressed_requests",
                                                        "limits.shared_memory",
                                                        "limits.connection_pinned",
                                                        "limits.unread_copies",
                                                        "limits.streams",
                                                        "limits.resets",
                                                        "limits.metadata",
                                                        "limits.keepalive",
                                                        "limits.handshake_timeout",
                                                        "limits.connection_idle",
                                                        "limits.connection_age",
                                                        "limits.client_cuda_memory",
                                                        "log.file",
                                                        "trace.metrics_interval"}));
}

}  // namespace
}  // namespace mpsd
