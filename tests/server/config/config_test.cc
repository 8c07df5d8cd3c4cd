#include "server/config/config.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "proto/base/clock.h"
#include "proto/base/lasting_folder.h"
#include "server/config/command_line_config.h"
#include "server/config/tokenizer_stamp.h"
#include "tests/server/config/config_files.h"

namespace mpsd {
namespace {

TEST(Config, HasDefaultsForAllButTheModels) {
  const ConfigFiles files({"m.pt"});
  const Config config = files.Read(R"({"models": [{"name": "m", "path": "m.pt"}]})");
  EXPECT_EQ(config.listen.grpc, (std::vector<std::string>{
                                    "127.0.0.1:8001", "unix:" + DefaultStateDir() + "/mpsd.sock"}));
  EXPECT_EQ(config.listen.http, (std::vector<std::string>{"127.0.0.1:8000", "127.0.0.1:8002"}));
  EXPECT_EQ(config.server_name, "mpsd");
  EXPECT_EQ(config.server_version, MPSD_VERSION);
  EXPECT_EQ(config.state_dir, DefaultStateDir());
  EXPECT_EQ(config.limits.message_bytes, 64ULL << 20);
  EXPECT_EQ(config.limits.shared_memory_bytes, 0U);
  EXPECT_EQ(config.limits.drain_timeout_ns, 30 * kNsPerSecond);
  EXPECT_EQ(config.limits.lame_duck_ns, 0);
  EXPECT_EQ(config.log.level, "info");
  EXPECT_EQ(config.log.file, "");
  EXPECT_EQ(config.sandbox, SandboxLevel::kBasic);
  EXPECT_FALSE(config.cuda_mps);
  EXPECT_FALSE(config.mps_fallback);
  EXPECT_TRUE(config.keep_awake);
  EXPECT_TRUE(config.memory_pressure);
  ASSERT_EQ(config.models.size(), 1U);
  const ModelConfig& model = config.models[0];
  EXPECT_EQ(model.path, files.folder() + "/m.pt");
  EXPECT_EQ(model.format, ModelFormat::kTorchScript);
  EXPECT_EQ(model.device, "auto");
  EXPECT_EQ(model.placement.processes, 0U);
  EXPECT_EQ(model.placement.lanes, 0U);
  EXPECT_EQ(model.placement.threads, 0U);
  EXPECT_EQ(model.spec, ModelSpec());
  EXPECT_EQ(model.warmup, WarmUp::kAuto);
  EXPECT_EQ(model.keep_warm_ns, 0);
  EXPECT_EQ(model.precision, Precision::kAsSaved);
  EXPECT_EQ(model.sandbox, std::nullopt);
  EXPECT_EQ(model.batching.max_delay_ns, 0);
  EXPECT_EQ(model.queue.levels[0].requests, kDefaultQueueRequests);
  EXPECT_EQ(model.queue_bytes, kDefaultQueueBytes);
  EXPECT_TRUE(model.parameters.empty());
}

TEST(Config, VersionsOfOneModel) {
  const ConfigFiles files({"m.pt", "n.pt"});
  const Config config = files.Read(R"({"models": [
    {"name": "m", "path": "m.pt"}, {"name": "m", "version": 2, "path": "n.pt"}]})");
  EXPECT_EQ(config.models[0].version, "1");
  EXPECT_EQ(config.models[1].version, "2");
}

TEST(Config, AModelAtAHubMayComeLater) {
  const ConfigFiles files({"a/config.json", "a/tokenizer.json"});
  Config config = files.Read(R"({"models": [
    {"name": "m", "path": "hf:ORG/NAME@v1", "text": {"max_tokens": 9}}]})");
  ModelConfig& model = config.models[0];
  EXPECT_EQ(model.hub, "ORG/NAME@v1");
  EXPECT_EQ(model.format, ModelFormat::kHuggingFace);
  EXPECT_TRUE(model.awaits_hub());
  SetHubFolder(files.folder() + "/a", &model);
  EXPECT_FALSE(model.awaits_hub());
  EXPECT_EQ(model.text.tokenizer, files.folder() + "/a/tokenizer.json");
  EXPECT_EQ(model.text.max_tokens, 9U);
  EXPECT_NE(model.stamp, FileStamp());
}

TEST(Config, ADaemonMayServeNothing) {
  const Config config = ConfigFiles({}).Read(R"({"models": []})");
  EXPECT_TRUE(config.models.empty());
}

TEST(Config, ARepositoryNeedsNoModels) {
  const ConfigFiles files({"repository/m/1/model.pt"});
  const Config config =
      files.Read(R"({"model_repository": "repository", "model_control": "explicit"})");
  EXPECT_EQ(config.model_repository, files.folder() + "/repository");
  EXPECT_EQ(config.model_control, ModelControlMode::kExplicit);
  const auto of_folder = ConfigFromRepository(files.folder() + "/repository", false).value();
  EXPECT_EQ(of_folder.listen.grpc, DefaultGrpcAddresses(DefaultStateDir()));
  EXPECT_FALSE(ConfigFromRepository(files.folder() + "/nowhere", false).ok());
}

// A reload must see that a file was written anew, though its name is the same.
TEST(Config, AModelKnowsWhichFileItWasReadFrom) {
  const ConfigFiles files({"m.pt"});
  const char* text = R"({"models": [{"name": "m", "path": "m.pt"}]})";
  const ModelConfig before = files.Parse(text)->models[0];
  EXPECT_EQ(files.Parse(text)->models[0], before);
  files.Write("m.pt", "other contents");
  EXPECT_FALSE(files.Parse(text)->models[0] == before);
}

TEST(Config, WhatAnObjectLeavesOutIsTheDefault) {
  const ConfigFiles files({"m.pt"});
  const Config config = files.Read(
      R"({"models": [{"name": "m", "path": "m.pt"}], "log": {"file": "l"}, "limits": {}})");
  EXPECT_EQ(config.log.level, Config().log.level);
  EXPECT_EQ(config.limits.message_bytes, Config().limits.message_bytes);
  EXPECT_EQ(config.limits.unread_copy_bytes, Config().limits.unread_copy_bytes);
}

TEST(Config, CompatTritonNamesTheServerUnlessTheConfigDoes) {
  const ConfigFiles files({"m.pt"});
  const auto name = [&files](const char* keys) {
    return files.Parse(absl::StrCat(R"({"models": [{"name": "m", "path": "m.pt"}])", keys, "}"))
        ->server_name;
  };
  EXPECT_EQ(name(""), "mpsd");
  EXPECT_EQ(name(R"(, "compat": "triton")"), "triton");
  EXPECT_EQ(name(R"(, "compat": "triton", "server_name": "mpsd")"), "mpsd");
}

TEST(Config, ReadsEveryKeyOfTheDaemon) {
  const ConfigFiles files({"m.pt"});
  const Config config = files.Read(R"({
    "listen": {"grpc": ["0.0.0.0:1", "[::1]:2", "unix:run/s.sock"], "http": "localhost:0",
               "plaintext": true},
    "server_name": "gpu-7", "server_version": "2.60.0", "state_dir": "../state",
    "sandbox": "strict", "cuda_mps": "on", "mps_fallback": "on", "keep_awake": "off",
    "memory_pressure": "off",
    "models": [{"name": "m", "path": "m.pt"}],
    "limits": {"message": "1MiB", "buffered": "5MiB", "shared_memory": "4GiB",
               "compressed_requests": false,
               "connection_pinned": "2MiB", "unread_copies": "6MiB",
               "drain_timeout": "1m",
               "lame_duck": "500ms", "connections": 7, "client_shared_memory": "3MiB",
               "client_cuda_memory": "2GiB"},
    "log": {"level": "debug", "file": "log/mpsd.log", "requests": "log/requests"},
    "trace": {"file": "log/traces", "format": "otlp", "collector": "grpc://h:4317", "rate": 9,
              "metrics_interval": "15s"}})");
  EXPECT_EQ(
      config.listen.grpc,
      (std::vector<std::string>{"0.0.0.0:1", "[::1]:2", "unix:" + files.folder() + "/run/s.sock"}));
  EXPECT_EQ(config.listen.http, std::vector<std::string>{"localhost:0"});
  EXPECT_EQ(config.server_name, "gpu-7");
  EXPECT_EQ(config.server_version, "2.60.0");
  EXPECT_EQ(config.state_dir + "/",
            files.folder().substr(0, files.folder().rfind('/')) + "/state/");
  EXPECT_EQ(config.limits.message_bytes, 1ULL << 20);
  EXPECT_EQ(config.limits.buffered_bytes, 5ULL << 20);
  EXPECT_FALSE(config.limits.compressed_requests);
  EXPECT_EQ(config.limits.shared_memory_bytes, 4ULL << 30);
  EXPECT_EQ(config.limits.connection_pin_bytes, 2ULL << 20);
  EXPECT_EQ(config.limits.unread_copy_bytes, 6ULL << 20);
  EXPECT_EQ(config.limits.drain_timeout_ns, 60 * kNsPerSecond);
  EXPECT_EQ(config.limits.lame_duck_ns, 500 * kNsPerMs);
  EXPECT_EQ(config.log.level, "debug");
  EXPECT_EQ(config.log.file, files.folder() + "/log/mpsd.log");
  EXPECT_EQ(config.limits.connections, 7U);
  EXPECT_EQ(config.limits.client_shared_memory_bytes, 3ULL << 20);
  EXPECT_EQ(config.limits.client_cuda_memory_bytes, 2ULL << 30);
  EXPECT_EQ(config.log.requests, files.folder() + "/log/requests");
  EXPECT_EQ(config.trace.file, files.folder() + "/log/traces");
  EXPECT_TRUE(config.trace.otlp);
  EXPECT_EQ(config.trace.collector, "grpc://h:4317");
  EXPECT_EQ(config.trace.rate, 9U);
  EXPECT_EQ(config.trace.metrics_interval_ns, 15 * kNsPerSecond);
  EXPECT_EQ(config.sandbox, SandboxLevel::kStrict);
  EXPECT_TRUE(config.cuda_mps);
  EXPECT_TRUE(config.mps_fallback);
  EXPECT_FALSE(config.keep_awake);
  EXPECT_FALSE(config.memory_pressure);
}

TEST(Config, ModelsOfTokensAndLargeRequests) {
  const ConfigFiles files({"m.pt"});
  const Config config = files.Read(R"({"models": [
    {"name": "m", "path": "m.pt", "max_batch_tokens": 512,
     "inputs": [{"name": "input_ids", "datatype": "INT64", "shape": [-1]}]},
    {"name": "n", "path": "m.pt", "max_request_rows": 100, "max_batch_size": 100}]})");
  EXPECT_EQ(config.models[0].max_batch_tokens, 512U);
  EXPECT_EQ(config.models[1].max_request_rows, 100U);
}

TEST(Config, ReadsSequences) {
  const ConfigFiles files({"m.pt"});
  const Config config = files.Read(R"({"models": [
    {"name": "m", "path": "m.pt", "sequences": {"max_candidates": 5, "max_idle": "2s",
      "controls": {"start": "S", "ready": "R", "end": "E", "id": "I"},
      "states": [{"input": "a", "output": "b"}, {"input": "c", "output": "d", "told": true}]}},
    {"name": "n", "path": "m.pt", "sequences": {}}]})");
  const SequencePolicy& policy = *config.models[0].sequences;
  EXPECT_EQ(policy.candidates, 5U);
  EXPECT_EQ(policy.idle_ns, 2 * kNsPerSecond);
  EXPECT_EQ(policy.ready.input, "R");
  EXPECT_EQ(policy.id_input, "I");
  EXPECT_EQ(policy.states, (std::vector<SequenceState>{{"a", "b", false}, {"c", "d", true}}));
  EXPECT_EQ(*config.models[1].sequences, SequencePolicy());
}

TEST(Config, ReadsEveryKeyOfAModel) {
  const ConfigFiles files({"m.bin", "vocab.txt"});
  const Config config = files.Read(R"({"models": [{
    "name": "m", "path": "m.bin", "format": "aoti", "device": "cuda:1", "precision": "tf32",
    "placement": {"processes": 2, "lanes": 4, "threads": "auto"}, "max_batch_size": 8,
    "inputs": [{"name": "x", "datatype": "INT64", "shape": [-1]}],
    "outputs": [{"name": "y", "datatype": "FP32", "shape": [16]}],
    "pad": [{"input": "x", "dim": 0, "buckets": [8, 16], "value": 1}],
    "warmup": "all", "keep_warm": "30s", "sandbox": "off",
    "batching": {"max_delay": "500us", "preferred_sizes": [8, 4]},
    "queue": {"requests": 10, "bytes": "1GiB"},
    "load_timeout": "2s", "warmup_timeout": "3s", "run_timeout": "4s",
    "circuit": {"deaths": 7, "period": "8s"},
    "recycle": {"resident_memory": "9MiB", "requests": 10, "age": "11s"},
    "text": {"tokenizer": "vocab.txt", "max_tokens": 12, "long_input": "error", "side": "left"},
    "task": "rerank", "response_cache": "shared",
    "parameters": {"text": "a", "count": 3, "share": 0.5, "on": true}}]})");
  const ModelConfig& model = config.models[0];
  EXPECT_EQ(model.format, ModelFormat::kAoti);
  EXPECT_EQ(model.device, "cuda:1");
  EXPECT_EQ(model.precision, Precision::kTf32);
  EXPECT_EQ(model.placement.processes, 2U);
  EXPECT_EQ(model.placement.lanes, 4U);
  EXPECT_EQ(model.placement.threads, 0U);
  ModelSpec spec;
  spec.max_batch_size = 8;
  spec.inputs = {{"x", DataType::kInt64, {-1}}};
  spec.outputs = {{"y", DataType::kFp32, {16}}};
  spec.pad = {{"x", 0, {8, 16}, 1, {}}};
  spec.task = ModelTask::kRerank;
  EXPECT_EQ(model.spec, spec);
  EXPECT_EQ(model.response_cache, CacheScope::kShared);
  EXPECT_EQ(model.warmup, WarmUp::kAll);
  EXPECT_EQ(model.keep_warm_ns, 30 * kNsPerSecond);
  EXPECT_EQ(model.sandbox, SandboxLevel::kOff);
  EXPECT_EQ(model.batching.max_delay_ns, 500 * kNsPerUs);
  EXPECT_EQ(model.batching.preferred_sizes, (std::vector<uint32_t>{4, 8}));
  EXPECT_EQ(model.queue.levels[0].requests, 10U);
  EXPECT_EQ(model.queue_bytes, 1ULL << 30);
  EXPECT_EQ(model.supervision.load_timeout_ns, 2'000'000'000);
  EXPECT_EQ(model.supervision.warmup_timeout_ns, 3'000'000'000);
  EXPECT_EQ(model.supervision.run_timeout_ns, 4'000'000'000);
  EXPECT_EQ(model.supervision.circuit.deaths, 7U);
  EXPECT_EQ(model.supervision.circuit.period_ns, 8'000'000'000);
  EXPECT_EQ(model.supervision.recycle.resident_bytes, 9ULL << 20);
  EXPECT_EQ(model.supervision.recycle.requests, 10U);
  EXPECT_EQ(model.supervision.recycle.age_ns, 11'000'000'000);
  const TextPolicy text = {files.folder() + "/vocab.txt", 12, LongInput::kError, TextSide::kLeft};
  EXPECT_EQ(model.text, text);
  EXPECT_EQ(model.tokenizer_stamp, StampOfTokenizer(text.tokenizer));
  const std::map<std::string, std::string> parameters = {
      {"text", "a"}, {"count", "3"}, {"share", "0.5"}, {"on", "true"}};
  EXPECT_EQ(model.parameters, parameters);
}

constexpr char kModelWithQueue[] = R"({"models": [{
  "name": "m", "format": "synthetic", "max_batch_size": 8,
  "inputs": [{"name": "x", "datatype": "FP32", "shape": [1]}], "queue": %s}]})";

Config ReadQueue(const std::string& queue) {
  return ConfigFiles({}).Read(absl::StrReplaceAll(kModelWithQueue, {{"%s", queue}}));
}

TEST(Config, APrioritySaysWhatIsOtherThanInTheQueue) {
  const Config config = ReadQueue(
      R"({"requests": 9, "timeout": "1s", "timeout_action": "delay",
          "priorities": [{}, {"requests": 3, "timeout_action": "reject"},
                         {"timeout": "2s", "allow_timeout_override": false}],
          "default_priority": 2})");
  QueuePolicies wanted;
  wanted.levels = {{9, kNsPerSecond, TimeoutAction::kDelay, true},
                   {3, kNsPerSecond, TimeoutAction::kReject, true},
                   {9, 2 * kNsPerSecond, TimeoutAction::kDelay, false}};
  wanted.default_level = 1;
  EXPECT_EQ(config.models[0].queue, wanted);
}

TEST(Config, AModelMayHaveATargetAndPromiseALatency) {
  const Config config = ReadQueue(R"({"target": "50ms"}, "slo": {"p99": "40ms"})");
  EXPECT_EQ(config.models[0].queue_target_ns, 50 * kNsPerMs);
  EXPECT_EQ(config.models[0].slo_ns, 40 * kNsPerMs);
}

TEST(Config, WithoutAWordARequestIsOfTheLastPriority) {
  EXPECT_EQ(ReadQueue(R"({"priorities": [{}, {}, {}]})").models[0].queue.default_level, 2u);
}

TEST(Config, ReadsWhatModelsShare) {
  const Config config = ConfigFiles({"m.pt"}).Read(R"({"models": [
    {"name": "m", "path": "m.pt", "rate_limiter": {"priority": 2, "resources": [
      {"name": "R1", "count": 3}, {"name": "R2", "global": true}]}},
    {"name": "n", "path": "m.pt", "weight": 9}, {"name": "o", "path": "m.pt", "rate_limiter": {}}],
    "resources": {"R1": 4}, "device_share": {"cpu": 2, "cuda": 1, "cuda:3": 1024}})");
  EXPECT_EQ(config.resources, (ResourceLimits{{"R1", 4}}));
  const LaneNeeds& needs = config.models[0].lane_needs;
  EXPECT_EQ(needs.resources, (std::vector<ResourceNeed>{{"R1", 3, false}, {"R2", 1, true}}));
  EXPECT_EQ(needs.priority, 2u);
  EXPECT_EQ(config.models[1].lane_needs.weight, 9u);
  EXPECT_TRUE(config.models[2].lane_needs.empty());
  EXPECT_EQ(config.device_share, (DeviceLimits{{"cpu", 2}, {"cuda:0", 1}, {"cuda:3", 1024}}));
}

TEST(Config, ReadsAModelOfSteps) {
  const Config config = ConfigFiles({"m.pt"}).Read(R"({"models": [{
    "name": "m", "version": 3, "queue": {"requests": 7, "bytes": "1GiB"}, "parameters": {"k": 1},
    "inputs": [{"name": "x", "datatype": "FP32", "shape": [4]}],
    "outputs": [{"name": "y", "datatype": "FP32", "shape": [4]}],
    "steps": [{"model": "a", "inputs": {"x": "x"}, "outputs": {"OUTPUT0": "y"}}]},
    {"name": "a", "path": "m.pt"}]})");
  const ModelConfig& model = config.models[0];
  EXPECT_EQ(model.steps, (std::vector<ModelStep>{{"a", "", {{"x", "x"}}, {{"OUTPUT0", "y"}}}}));
  EXPECT_EQ(model.version, "3");
  EXPECT_EQ(model.queue.requests(), 7u);
  EXPECT_EQ(model.queue_bytes, 1ULL << 30);
  EXPECT_EQ(model.parameters.at("k"), "1");
  EXPECT_EQ(model.spec.inputs[0].name, "x");
  EXPECT_EQ(model.spec.max_batch_size, 0u);
}

TEST(Config, TellsTheFormatByThePath) {
  const ConfigFiles files(
      {"a.pt", "b.pt2", "encoder.pt/config.json", "encoder.pt/model.safetensors"});
  const Config config = files.Read(
      R"({"models": [{"name": "a", "path": "a.pt"}, {"name": "b", "path": "b.pt2"},
                     {"name": "c", "format": "synthetic",
                      "inputs": [{"name": "x", "datatype": "FP32", "shape": [4]}]},
                     {"name": "d", "path": "encoder.pt"}]})");
  EXPECT_EQ(config.models[0].format, ModelFormat::kTorchScript);
  EXPECT_EQ(config.models[1].format, ModelFormat::kAoti);
  EXPECT_EQ(config.models[2].format, ModelFormat::kSynthetic);
  EXPECT_EQ(config.models[2].path, "");
  EXPECT_EQ(config.models[3].format, ModelFormat::kHuggingFace);
}

TEST(Config, AbsolutePathsStay) {
  const ConfigFiles files({"m.pt"});
  const Config config = files.Read(absl::StrCat(
      R"({"listen": {"grpc": ["unix:/run/s"]}, "state_dir": "/var/lib/mpsd",
          "log": {"file": "/var/log/mpsd"}, "models": [{"name": "m", "path": ")",
      files.folder(), R"(/./m.pt"}]})"));
  EXPECT_EQ(config.listen.grpc[0], "unix:/run/s");
  EXPECT_EQ(config.state_dir, "/var/lib/mpsd");
  EXPECT_EQ(config.log.file, "/var/log/mpsd");
  EXPECT_EQ(config.models[0].path, files.folder() + "/m.pt");
}

TEST(Config, EmptyHttpMeansNone) {
  const ConfigFiles files({"m.pt"});
  const Config config =
      files.Read(R"({"listen": {"http": ""}, "models": [{"name": "m", "path": "m.pt"}]})");
  EXPECT_TRUE(config.listen.http.empty());
}

TEST(Config, TheDefaultQueueGrowsWithTheMessageLimit) {
  const ConfigFiles files({"m.pt"});
  const Config config =
      files.Read(R"({"limits": {"message": "1GiB"}, "models": [{"name": "m", "path": "m.pt"}]})");
  EXPECT_EQ(config.models[0].queue_bytes, 1ULL << 30);
}

TEST(ReadConfig, ReadsAFile) {
  const ConfigFiles files({"m.pt"});
  files.Write("c.json", R"({"models": [{"name": "m", "path": "m.pt"}]})");
  const Config config = ReadConfig(files.folder() + "/c.json").value();
  EXPECT_EQ(config.models[0].path, files.folder() + "/m.pt");
}

TEST(ReadConfig, SaysWhyItCannotReadAFile) {
  const ConfigFiles files({});
  const std::string missing = files.folder() + "/none.json";
  EXPECT_EQ(ReadConfig(missing).status(),
            absl::NotFoundError("config: there is no file '" + missing + "'"));
  EXPECT_EQ(ReadConfig(files.folder()).status(),
            absl::NotFoundError("config: '" + files.folder() + "' is not a file"));
}

TEST(ReadConfig, RefusesAFileThatIsTooLarge) {
  const ConfigFiles files({});
  files.Write("c.json", std::string((1 << 20) + 1, ' '));
  const std::string path = files.folder() + "/c.json";
  EXPECT_EQ(ReadConfig(path).status().message(), path + ":1: is larger than 1048576 bytes");
}

TEST(StateDir, IsTheRuntimeFolderElseALastingOneElseATemporaryOne) {
  EXPECT_EQ(StateDirOf("/run/user/7", "/Users/a/lasting", 7), "/run/user/7/mpsd");
  EXPECT_EQ(StateDirOf("relative", "/Users/a/lasting", 7), "/Users/a/lasting/mpsd");
  EXPECT_EQ(StateDirOf(nullptr, "/Users/a/lasting", 7), "/Users/a/lasting/mpsd");
  EXPECT_EQ(StateDirOf("", "", 7), "/tmp/mpsd-7");
  EXPECT_EQ(StateDirOf(nullptr, "", 7), "/tmp/mpsd-7");
}

TEST(StateDir, IsByDefaultWhatTheEnvironmentAndTheSystemSay) {
  ASSERT_EQ(setenv("XDG_RUNTIME_DIR", "/run/user/7", 1), 0);
  EXPECT_EQ(DefaultStateDir(), "/run/user/7/mpsd");
  ASSERT_EQ(unsetenv("XDG_RUNTIME_DIR"), 0);
  EXPECT_EQ(DefaultStateDir(), StateDirOf(nullptr, platform::LastingFolder(), getuid()));
}

}  // namespace
}  // namespace mpsd
