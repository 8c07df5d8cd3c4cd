#include "server/config/triton/triton_config.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "proto/base/clock.h"

namespace mpsd {
namespace {

class TritonConfigTest : public testing::Test {
 protected:
  TritonConfigTest() { model_.name = "m"; }

  std::string Text(const std::string& text) {
    return std::string(ApplyTritonText(text, &model_, &notes_).message());
  }
  std::string Json(const std::string& text) {
    return std::string(ApplyTritonJson(text, &model_, &notes_).message());
  }

  ModelConfig model_;
  TritonNotes notes_;
};

TEST_F(TritonConfigTest, CarriesOverWhatBothHave) {
  EXPECT_EQ(Text(R"pb(
              name: "m"
              platform: "pytorch_libtorch"
              max_batch_size: 8 input
              [ {
                name: "INPUT__0"
                data_type: TYPE_FP32
                dims: [ -1, 16 ]
              }] output
              [ {
                name: "OUTPUT__0"
                data_type: TYPE_STRING
                dims: [ 4 ]
              }] instance_group
              [ { count: 2 kind: KIND_CPU }]
              dynamic_batching {
                max_queue_delay_microseconds: 100
                default_queue_policy { max_queue_size: 17 }
              }
              parameters {
                key: "INFERENCE_MODE"
                value { string_value: "true" }
              })pb"),
            "");
  EXPECT_EQ(model_.spec.max_batch_size, 8u);
  EXPECT_EQ(model_.spec.inputs, (std::vector<TensorSpec>{{"INPUT__0", DataType::kFp32, {-1, 16}}}));
  EXPECT_EQ(model_.spec.outputs, (std::vector<TensorSpec>{{"OUTPUT__0", DataType::kBytes, {4}}}));
  EXPECT_EQ(model_.device, "cpu");
  EXPECT_EQ(model_.placement.lanes, 2u);
  EXPECT_EQ(model_.batching.max_delay_ns, 100'000);
  EXPECT_EQ(model_.queue.levels[0].requests, 17u);
  EXPECT_EQ(model_.parameters.at("INFERENCE_MODE"), "true");
  EXPECT_TRUE(notes_.ignored.empty());
}

TEST_F(TritonConfigTest, AnOverrideMayTakeBatchesAway) {
  model_.spec.max_batch_size = 8;
  EXPECT_EQ(Json(R"({"backend": "pytorch"})"), "");
  EXPECT_EQ(model_.spec.max_batch_size, 8u) << "it does not say";
  for (const char* key : {"max_batch_size", "maxBatchSize"}) {
    model_.spec.max_batch_size = 8;
    EXPECT_EQ(Json(absl::StrCat("{\"", key, "\": 0}")), "");
    EXPECT_EQ(model_.spec.max_batch_size, 0u) << key;
  }
  model_.spec.max_batch_size = 8;
  EXPECT_EQ(Json(R"({"max_batch_size": 0, "model_transaction_policy": {"decoupled": true}})"), "");
}

TEST_F(TritonConfigTest, AnOverrideDoesNotChooseVersions) {
  EXPECT_EQ(Json(R"({"version_policy": {"specific": {"versions": [2]}}})"), "");
  EXPECT_EQ(notes_.ignored, std::vector<std::string>{"version_policy"});
}

TEST_F(TritonConfigTest, TheJsonFormIsTheSame) {
  EXPECT_EQ(Json(R"({"max_batch_size": 4, "platform": "pytorch_libtorch",
                     "input": [{"name": "x", "data_type": "TYPE_INT64", "dims": ["-1"]}],
                     "instance_group": [{"kind": "KIND_GPU", "count": 3, "gpus": [1]}]})"),
            "");
  EXPECT_EQ(model_.spec.max_batch_size, 4u);
  EXPECT_EQ(model_.spec.inputs, (std::vector<TensorSpec>{{"x", DataType::kInt64, {-1}}}));
  EXPECT_EQ(model_.device, "cuda:1");
  EXPECT_EQ(model_.placement.lanes, 3u);
}

TEST_F(TritonConfigTest, WhatItDoesNotSayStays) {
  model_.spec.max_batch_size = 8;
  model_.spec.inputs = {{"x", DataType::kFp32, {2}}};
  model_.device = "cuda";
  const ModelConfig before = model_;
  EXPECT_EQ(Json("{}"), "");
  EXPECT_EQ(model_, before);
}

TEST_F(TritonConfigTest, TheIdentityBackendIsTheSyntheticFormat) {
  EXPECT_EQ(Text(R"pb(
              backend: "identity" input
              [ {
                name: "x"
                data_type: TYPE_FP32
                dims: [ 4 ]
              }] parameters
              [ {
                key: "execute_delay_ms"
                value { string_value: "3" }
              }
                , {
                  key: "creation_delay_sec"
                  value { string_value: "1" }
                }
                , {
                  key: "instance_wise_delay_multiplier"
                  value { string_value: "2" }
                }])pb"),
            "");
  EXPECT_EQ(model_.format, ModelFormat::kSynthetic);
  EXPECT_EQ(model_.parameters,
            (std::map<std::string, std::string>{
                {"delay", "3ms"}, {"load_delay", "1s"}, {"lane_delay_factor", "2"}}));
  EXPECT_TRUE(notes_.ignored.empty());
}

TEST_F(TritonConfigTest, TheRepeatBackendIsASyntheticModelThatRepeats) {
  EXPECT_EQ(Text("backend: \"repeat\" model_transaction_policy { decoupled: true }"), "");
  EXPECT_EQ(model_.format, ModelFormat::kSynthetic);
  EXPECT_EQ(model_.parameters, (std::map<std::string, std::string>{{"repeat", "true"}}));
  EXPECT_TRUE(model_.spec.decoupled);
  EXPECT_EQ(Text("model_transaction_policy { decoupled: false }"), "");
  EXPECT_FALSE(model_.spec.decoupled);
}

TEST_F(TritonConfigTest, ADecoupledModelTakesOneRequestAtATime) {
  const std::string fault = Text("max_batch_size: 8 model_transaction_policy { decoupled: true }");
  EXPECT_NE(fault.find("decoupled: is for a model that takes one request at a time"),
            std::string::npos)
      << fault;
}

TEST_F(TritonConfigTest, InputsMayBeOptional) {
  EXPECT_EQ(Text(R"pb(input { name: "x" data_type: TYPE_FP32 dims: 1 }
                      input { name: "y" data_type: TYPE_FP32 dims: 1 optional: true })pb"),
            "");
  ASSERT_EQ(model_.spec.inputs.size(), 2u);
  EXPECT_FALSE(model_.spec.inputs[0].optional);
  EXPECT_TRUE(model_.spec.inputs[1].optional);
}

TEST_F(TritonConfigTest, ReshapesToTheModelsShape) {
  EXPECT_EQ(Text(R"pb(
              input {
                name: "x"
                data_type: TYPE_FP32
                dims: 1
                reshape {}
              }
              output {
                name: "y"
                data_type: TYPE_FP32
                dims: [ -1, 4 ]
                reshape { shape: [ -1, 2, 2 ] }
              })pb"),
            "");
  EXPECT_EQ(model_.spec.inputs[0].dims, Dims());
  EXPECT_EQ(model_.spec.inputs[0].told_dims(), (Dims{1}));
  EXPECT_EQ(model_.spec.outputs[0].dims, (Dims{-1, 2, 2}));
  EXPECT_EQ(model_.spec.outputs[0].told_dims(), (Dims{-1, 4}));
}

TEST_F(TritonConfigTest, FormatsAreForClients) {
  EXPECT_EQ(Text(R"pb(input {
                        name: "x"
                        data_type: TYPE_FP32
                        dims: [ 3, 224, 224 ]
                        format: FORMAT_NCHW
                      })pb"),
            "");
  EXPECT_EQ(model_.input_formats.at("x"), "FORMAT_NCHW");
}

TEST_F(TritonConfigTest, LabelsAreThoseOfTheFileThatIsNamed) {
  const std::string output = "output { name: 'y' data_type: TYPE_FP32 dims: 2 ";
  EXPECT_EQ(Text(output + "label_filename: 'labels.txt' }"), "");
  EXPECT_EQ(model_.label_files.at("y"), "labels.txt");
  EXPECT_TRUE(notes_.ignored.empty());
  model_.labels["y"] = {"cat", "dog"};
  const std::string json = R"({"output": [{"name": "y", "data_type": "TYPE_FP32", "dims": ["2"])";
  EXPECT_EQ(Json(json + R"(, "label_filename": "labels.txt"}]})"), "");
  EXPECT_EQ(model_.labels.size(), 1u) << "the file is the same";
  EXPECT_TRUE(notes_.ignored.empty());
  EXPECT_EQ(Json(json + R"(, "label_filename": "other.txt"}]})"), "");
  EXPECT_TRUE(model_.labels.empty() && model_.label_files.empty());
  EXPECT_EQ(notes_.ignored, std::vector<std::string>{"output.label_filename"});
}

TEST_F(TritonConfigTest, TheQueueMayHaveATimeout) {
  EXPECT_EQ(
      Text("dynamic_batching { default_queue_policy { default_timeout_microseconds: 1500 } }"), "");
  EXPECT_EQ(model_.queue.levels[0].timeout_ns, 1'500'000);
  EXPECT_EQ(Text("dynamic_batching { default_queue_policy { "
                 "default_timeout_microseconds: 86400000001 } }"),
            "'dynamic_batching.default_queue_policy.default_timeout_microseconds' must be at most "
            "a day");
}

TEST_F(TritonConfigTest, ALevelHasThePolicyThatIsItsOwnOrTheDefault) {
  EXPECT_EQ(Text(R"pb(dynamic_batching {
                        priority_levels: 3
                        default_priority_level: 2
                        default_queue_policy {
                          default_timeout_microseconds: 1000
                          allow_timeout_override: true
                          max_queue_size: 9
                        }
                        priority_queue_policy {
                          key: 1
                          value { max_queue_size: 5 }
                        }
                        priority_queue_policy {
                          key: 3
                          value { timeout_action: DELAY default_timeout_microseconds: 7 }
                        }
                      })pb"),
            "");
  QueuePolicies wanted;
  wanted.levels = {{5, 0, TimeoutAction::kReject, true},
                   {9, kNsPerMs, TimeoutAction::kReject, true},
                   {kDefaultQueueRequests, 7 * kNsPerUs, TimeoutAction::kDelay, false}};
  wanted.default_level = 1;
  EXPECT_EQ(model_.queue, wanted);
  EXPECT_TRUE(notes_.ignored.empty());
}

TEST_F(TritonConfigTest, PreferredSizesAreOfBatchesThatTheModelTakes) {
  EXPECT_EQ(Text("max_batch_size: 8 dynamic_batching { preferred_batch_size: [ 8, 4 ] }"), "");
  EXPECT_EQ(model_.batching.preferred_sizes, (std::vector<uint32_t>{4, 8}));
  const std::string key = "'dynamic_batching.preferred_batch_size' must be 1 to 8, not ";
  EXPECT_EQ(Text("max_batch_size: 8 dynamic_batching { preferred_batch_size: 9 }"), key + "9");
  EXPECT_EQ(Text("max_batch_size: 8 dynamic_batching { preferred_batch_size: 0 }"), key + "0");
}

TEST_F(TritonConfigTest, SwitchesOfThePyTorchBackendAreNoted) {
  const auto set = [this](const std::string& key, const std::string& text) {
    return Text("parameters { key: '" + key + "' value { string_value: '" + text + "' } }");
  };
  EXPECT_EQ(set("INFERENCE_MODE", "true"), "");
  EXPECT_TRUE(notes_.ignored.empty()) << "it is always on";
  EXPECT_EQ(set("INFERENCE_MODE", "false"), "");
  EXPECT_EQ(set("DISABLE_OPTIMIZED_EXECUTION", "true"), "");
  EXPECT_EQ(set("ENABLE_NVFUSER", "true"), "");
  EXPECT_EQ(set("ENABLE_WEIGHT_SHARING", "true"), "");
  EXPECT_EQ(set("mine", "true"), "");
  EXPECT_EQ(notes_.ignored,
            (std::vector<std::string>{
                "parameters.INFERENCE_MODE", "parameters.DISABLE_OPTIMIZED_EXECUTION",
                "parameters.ENABLE_NVFUSER", "parameters.ENABLE_WEIGHT_SHARING"}));
  EXPECT_EQ(model_.parameters.at("ENABLE_NVFUSER"), "true");
}

TEST_F(TritonConfigTest, ThreadsOfAnInferenceAreTheModels) {
  const std::string lead = "parameters { key: 'INTRA_OP_THREAD_COUNT' value { string_value: '";
  EXPECT_EQ(Text(lead + "4' } }"), "");
  EXPECT_EQ(model_.placement.threads, 4u);
  for (const char* text : {"0", "257", "many"}) {
    EXPECT_EQ(Text(lead + text + "' } }"), "'parameters.INTRA_OP_THREAD_COUNT' must be 1 to 256");
  }
}

TEST_F(TritonConfigTest, VersionPolicies) {
  EXPECT_EQ(Text(""), "");
  EXPECT_EQ(notes_.versions.latest, 1u) << "the default";
  EXPECT_EQ(Text("version_policy { latest { num_versions: 3 } }"), "");
  EXPECT_EQ(notes_.versions.latest, 3u);
  EXPECT_EQ(Text("version_policy { all {} }"), "");
  EXPECT_EQ(notes_.versions.latest, 0u);
  EXPECT_EQ(Text("version_policy { specific { versions: [ 1, 3 ] } }"), "");
  EXPECT_EQ(notes_.versions.specific, (std::vector<int64_t>{1, 3}));
}

TEST_F(TritonConfigTest, TextsThatAreNotUtf8AreRefused) {
  const std::string refused = "config.pbtxt has a text that is not UTF-8";
  EXPECT_EQ(Text(R"(default_model_filename: "caf\351.pt")"), refused);
  EXPECT_EQ(Text("default_model_filename: \"caf\xe9.pt\""), refused);
}

TEST_F(TritonConfigTest, TheResponseCacheIsATenantsUnlessTheConfigSharesIt) {
  EXPECT_EQ(Text("response_cache { enable: true }"), "");
  EXPECT_EQ(model_.response_cache, CacheScope::kTenant);
  EXPECT_EQ(Text("max_batch_size: 4"), "");
  EXPECT_EQ(model_.response_cache, CacheScope::kTenant);
  EXPECT_EQ(Text("response_cache {}"), "");
  EXPECT_EQ(model_.response_cache, CacheScope::kOff);
  model_.response_cache = CacheScope::kShared;
  EXPECT_EQ(Text("response_cache { enable: true }"), "");
  EXPECT_EQ(model_.response_cache, CacheScope::kShared);
}

TEST_F(TritonConfigTest, AModelWhoseStanzaKeepsAnswersIsNotMadeADecoupledOne) {
  model_.response_cache = CacheScope::kShared;
  EXPECT_EQ(Text("backend: \"repeat\" model_transaction_policy { decoupled: true }"),
            "'response_cache.enable' is there beside a decoupled model");
}

TEST_F(TritonConfigTest, ADecoupledModelHasNoResponseCache) {
  EXPECT_EQ(Text("backend: \"repeat\" model_transaction_policy { decoupled: true } "
                 "response_cache { enable: true }"),
            "'response_cache.enable' is there beside a decoupled model");
}

// A model with an input, an output, and what stands in `sequences`.
std::string Sequential(const std::string& sequences) {
  return "max_batch_size: 8 input { name: \"x\" data_type: TYPE_FP32 dims: 4 } "
         "output { name: \"y\" data_type: TYPE_FP32 dims: 4 } sequence_batching { " +
         sequences + " }";
}
constexpr char kState[] =
    "state { input_name: \"s\" output_name: \"s_out\" data_type: TYPE_INT64 dims: 2 } ";

TEST_F(TritonConfigTest, SequencesHaveTheirControlsAndStates) {
  EXPECT_EQ(
      Text(Sequential("max_sequence_idle_microseconds: 5000 "
                      "control_input { name: \"START\" control { kind: CONTROL_SEQUENCE_START "
                      "fp32_false_true: [ 2, 3 ] } } "
                      "control_input { name: \"ID\" control { kind: CONTROL_SEQUENCE_CORRID "
                      "data_type: TYPE_STRING } } " +
                      std::string(kState) +
                      "oldest { max_candidate_sequences: 7 preferred_batch_size: [ 4, 2 ] "
                      "max_queue_delay_microseconds: 9 preserve_ordering: true }")),
      "");
  ASSERT_TRUE(model_.sequences.has_value());
  const SequencePolicy& policy = *model_.sequences;
  EXPECT_FALSE(policy.is_direct);
  EXPECT_EQ(policy.candidates, 7u);
  EXPECT_EQ(policy.idle_ns, 5'000'000);
  EXPECT_EQ(policy.start, (SequenceControl{"START", 2, 3}));
  EXPECT_EQ(policy.id_input, "ID");
  EXPECT_EQ(policy.states, (std::vector<SequenceState>{{"s", "s_out", false}}));
  EXPECT_EQ(model_.batching.max_delay_ns, 9000);
  EXPECT_EQ(model_.batching.preferred_sizes, (std::vector<uint32_t>{2, 4}));
  ASSERT_EQ(model_.spec.inputs.size(), 4u);
  EXPECT_EQ(model_.spec.inputs[1], (TensorSpec{"START", DataType::kFp32, {1}}));
  EXPECT_EQ(model_.spec.inputs[2], (TensorSpec{"ID", DataType::kBytes, {1}}));
  EXPECT_EQ(model_.spec.inputs[3], (TensorSpec{"s", DataType::kInt64, {2}}));
  EXPECT_EQ(model_.spec.outputs[1], (TensorSpec{"s_out", DataType::kInt64, {2}}));
  EXPECT_EQ(notes_.ignored, std::vector<std::string>{"sequence_batching.oldest.preserve_ordering"});
}

TEST_F(TritonConfigTest, SequencesOutliveALoadThatDoesNotSpeakOfThem) {
  ASSERT_EQ(Text(Sequential(std::string(kState) + "oldest {}")), "");
  ASSERT_EQ(Text("input { name: \"z\" data_type: TYPE_FP32 dims: 4 }"), "");
  ASSERT_EQ(model_.spec.inputs.size(), 2u);
  EXPECT_EQ(model_.spec.inputs[1].name, "s") << "what no client sends is still there";
  ASSERT_EQ(Text("sequence_batching { " + std::string(kState) + " oldest {} }"), "");
  EXPECT_EQ(model_.spec.inputs.size(), 2u);
  EXPECT_FALSE(model_.sequences->states[0].is_told) << "it was none of the outputs before either";
}

TEST_F(TritonConfigTest, WithoutAStrategyItIsDirectWhichNeedsState) {
  EXPECT_EQ(Text(Sequential(kState)), "");
  EXPECT_TRUE(model_.sequences->is_direct);
  EXPECT_EQ(model_.sequences->candidates, 8u) << "a sequence for each row of a batch";
  EXPECT_THAT(Text(Sequential("direct {}")),
              testing::HasSubstr("'sequence_batching.direct' is supported with 'state' only"));
}

TEST_F(TritonConfigTest, AnOutputMayAlsoBeAState) {
  EXPECT_EQ(Text(Sequential("state { input_name: \"s\" output_name: \"y\" "
                            "data_type: TYPE_FP32 dims: 4 } oldest {}")),
            "");
  EXPECT_TRUE(model_.sequences->states[0].is_told);
  EXPECT_EQ(model_.spec.outputs.size(), 1u);
}

TEST_F(TritonConfigTest, WhatSequencesDoNotDoIsRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"iterative_sequence: true", "'sequence_batching.iterative_sequence' is not supported"},
      {"state { input_name: \"s\" output_name: \"t\" data_type: TYPE_FP32 dims: -1 } oldest {}",
       "'sequence_batching.state.dims' must be known: -1 is not supported"},
      {"state { input_name: \"s\" output_name: \"t\" data_type: TYPE_FP32 dims: 1 "
       "initial_state { data_file: \"f\" } } oldest {}",
       "'sequence_batching.state.initial_state.data_file' is not supported"},
      {"state { input_name: \"s\" output_name: \"t\" data_type: TYPE_FP32 dims: 1 "
       "use_growable_memory: true } oldest {}",
       "'sequence_batching.state.use_growable_memory' is not supported"},
      {"control_input { name: \"S\" control { int32_false_true: 1 } } oldest {}",
       "'sequence_batching.control_input.control' must have two values of one of "
       "int32_false_true, fp32_false_true and bool_false_true"},
      {"control_input { name: \"S\" control { kind: CONTROL_SEQUENCE_CORRID "
       "data_type: TYPE_FP32 } } oldest {}",
       "'sequence_batching.control_input.control.data_type' must be TYPE_UINT64, TYPE_INT64, "
       "TYPE_UINT32, TYPE_INT32 or TYPE_STRING"},
      {"oldest { max_candidate_sequences: -1 }",
       "'sequence_batching.oldest.max_candidate_sequences' must be 0 to 65536"},
      {"oldest { preferred_batch_size: 9 }",
       "'sequence_batching.oldest.preferred_batch_size' must be 1 to 8"},
  };
  for (const auto& [text, error] : cases) {
    model_ = ModelConfig();
    model_.name = "m";
    EXPECT_EQ(Text(Sequential(text)), error);
  }
  model_.response_cache = CacheScope::kTenant;
  EXPECT_EQ(Text(Sequential("oldest {}")),
            "'sequence_batching' is not supported beside response_cache");
}

TEST_F(TritonConfigTest, WhatIsNotDoneIsRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"cc_model_filenames { key: \"7.5\" value: \"m.pt\" }",
       "'cc_model_filenames' is not supported"},
      {"model_operations {}", "'model_operations' is not supported"},
      {"batch_input {}", "'batch_input' is not supported"},
      {"batch_output {}", "'batch_output' is not supported"},
      {"model_repository_agents { agents {} }", "'model_repository_agents' is not supported"},
      {"backend: \"onnxruntime\"", "'backend' is 'onnxruntime', which is not supported"},
      {"platform: \"tensorrt_plan\"", "'platform' is 'tensorrt_plan', which is not supported"},
      {"name: \"other\"", "'name' is 'other', not 'm'"},
      {"default_model_filename: \"../m.pt\"",
       "'default_model_filename' must be the name of a file, not a path"},
      {"max_batch_size: -1", "'max_batch_size' must be 0 to 1024"},
      {"max_batch_size: 1025", "'max_batch_size' must be 0 to 1024"},
      {"input { name: \"x\" dims: 1 }", "'input.data_type' must be given"},
      {"input { name: \"x\" data_type: TYPE_FP32 dims: 2 reshape {} }",
       "'input.reshape' is wrong: [2] cannot become []"},
      {"input { name: \"x\" data_type: TYPE_FP32 dims: 2 format: FORMAT_NHWC }",
       "'input.format' is for an input of 3 dims"},
      {"output { name: \"x\" data_type: TYPE_FP32 dims: 2 label_filename: \"../labels\" }",
       "'output.label_filename' must be the name of a file, not a path"},
      {"input { name: \"x\" data_type: TYPE_FP32 dims: 1 allow_ragged_batch: true }",
       "'input.allow_ragged_batch' is not supported"},
      {"output { name: \"x\" data_type: TYPE_FP32 dims: 1 is_shape_tensor: true }",
       "'output.is_shape_tensor' is not supported"},
      {"input { name: \"x\" data_type: TYPE_FP32 dims: 1 is_non_linear_format_io: true }",
       "'input.is_non_linear_format_io' is not supported"},
      {"instance_group { kind: KIND_MODEL }",
       "'instance_group.kind' is KIND_MODEL, which is not supported"},
      {"instance_group { kind: 9 }", "'instance_group.kind' is not supported"},
      {"instance_group { gpus: [ -1 ] }", "'instance_group.gpus' must not be negative"},
      {"instance_group { gpus: [ 256 ] }", "'instance_group.gpus' must be at most 255"},
      {"instance_group { kind: KIND_CPU gpus: [ 0 ] }",
       "'instance_group.gpus' is there beside KIND_CPU"},
      {"instance_group { count: -1 }", "'instance_group.count' must not be negative"},
      {"instance_group { passive: true }", "'instance_group.passive' is not supported"},
      {"instance_group { secondary_devices { device_id: 1 } }",
       "'instance_group.secondary_devices' is not supported"},
      {"instance_group { count: 33 }", "'instance_group.count' must be at most 32"},
      {"instance_group { rate_limiter { resources { name: 'R' count: 1 } } } instance_group {}",
       "'instance_group.rate_limiter' must be the same in all groups"},
      {"instance_group { rate_limiter { resources { name: 'R' count: 1 } "
       "resources { name: 'R' count: 2 } } }",
       "'instance_group.rate_limiter' has 'R' twice"},
      {"instance_group { rate_limiter { resources { name: 'R' count: 1000000001 } } }",
       "'instance_group.rate_limiter' may count to 1000000000 at most"},
      {"instance_group { rate_limiter { priority: 1000001 } }",
       "'instance_group.rate_limiter' may have a priority of at most 1000000"},
      {"dynamic_batching { priority_levels: 17 default_priority_level: 1 }",
       "'dynamic_batching.priority_levels' must be at most 16"},
      {"dynamic_batching { priority_levels: 2 }",
       "'dynamic_batching.default_priority_level' must be 1 to 2"},
      {"dynamic_batching { priority_levels: 2 default_priority_level: 3 }",
       "'dynamic_batching.default_priority_level' must be 1 to 2"},
      {"dynamic_batching { priority_levels: 2 default_priority_level: 1 "
       "priority_queue_policy { key: 3 value {} } }",
       "'dynamic_batching.priority_queue_policy' must have a level from 1 to 2, not 3"},
      {"dynamic_batching { priority_levels: 2 default_priority_level: 1 "
       "priority_queue_policy { key: 1 value { max_queue_size: 65537 } } }",
       "'dynamic_batching.priority_queue_policy[1].max_queue_size' must be at most 65536"},
      {"dynamic_batching { default_queue_policy { max_queue_size: 65537 } }",
       "'dynamic_batching.default_queue_policy.max_queue_size' must be at most 65536"},
      {"dynamic_batching { max_queue_delay_microseconds: 10000001 }",
       "'dynamic_batching.max_queue_delay_microseconds' must be at most 10 s"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(Text(text), error) << text;
}

TEST_F(TritonConfigTest, GroupsOfOneKindAndDeviceAddTheirCounts) {
  EXPECT_EQ(Text(R"pb(instance_group {
                        count: 2
                        kind: KIND_GPU
                        gpus: [ 1 ]
                      }
                      instance_group {
                        kind: KIND_AUTO
                        gpus: [ 1 ]
                      }
                      instance_group {
                        count: 3
                        kind: KIND_GPU
                        gpus: [ 1 ]
                      })pb"),
            "");
  EXPECT_EQ(model_.device, "cuda:1");
  EXPECT_EQ(model_.placement.lanes, 6u);
  model_.device = "mps";
  EXPECT_EQ(Text("instance_group { count: 2 } instance_group { count: 2 }"), "");
  EXPECT_EQ(model_.device, "mps") << "they do not say";
  EXPECT_EQ(model_.placement.lanes, 4u);
}

TEST_F(TritonConfigTest, ARateLimiterIsWhatEachLaneNeeds) {
  EXPECT_EQ(Text(R"pb(instance_group {
                        rate_limiter {
                          resources { name: "R1" count: 4 }
                          resources { name: "R2" global: true count: 2 }
                          resources { name: "R3" }
                          priority: 2
                        }
                      })pb"),
            "");
  EXPECT_EQ(model_.lane_needs.resources,
            (std::vector<ResourceNeed>{{"R1", 4, false}, {"R2", 2, true}}));
  EXPECT_EQ(model_.lane_needs.priority, 2u);
  EXPECT_EQ(Text("instance_group { rate_limiter {} }"), "");
  EXPECT_TRUE(model_.lane_needs.empty());
  EXPECT_EQ(model_.lane_needs.priority, 1u) << "as Triton takes 0";
}

TEST_F(TritonConfigTest, EachGpuOfAListHasTheGroupsCount) {
  model_.placement.processes = 3;
  EXPECT_EQ(Text("instance_group { kind: KIND_GPU count: 2 gpus: [ 1, 0 ] }"), "");
  EXPECT_EQ(model_.device, "cuda:1,0");
  EXPECT_EQ(model_.placement.processes, 0u) << "a process on each";
  EXPECT_EQ(model_.placement.lanes, 2u);
  EXPECT_EQ(Text("instance_group { gpus: [ 2, 3, 2 ] } instance_group { gpus: [ 3 ] }"), "");
  EXPECT_EQ(model_.device, "cuda:2,3");
  EXPECT_EQ(model_.placement.lanes, 2u) << "they add up on each";
}

TEST_F(TritonConfigTest, AGroupOfGpusThatNamesNoneIsOnAll) {
  model_.placement.processes = 1;
  EXPECT_EQ(Text("instance_group { kind: KIND_GPU count: 2 }"), "");
  EXPECT_EQ(model_.device, "cuda:all");
  EXPECT_EQ(model_.placement.processes, 0u);
  EXPECT_EQ(model_.placement.lanes, 2u);
}

TEST_F(TritonConfigTest, GpusWithOtherCountsAreRefused) {
  EXPECT_EQ(Text("instance_group { count: 2 gpus: [ 0 ] } instance_group { gpus: [ 1 ] }"),
            "'instance_group.count' must be the same on all gpus");
}

TEST_F(TritonConfigTest, MoreGpusThanAPoolHasWorkersAreRefused) {
  std::string gpus = "0";
  for (uint32_t gpu = 1; gpu < kMaxWorkers; ++gpu) absl::StrAppend(&gpus, ", ", gpu);
  EXPECT_EQ(Text(absl::StrCat("instance_group { gpus: [ ", gpus, " ] }")), "");
  EXPECT_EQ(Text(absl::StrCat("instance_group { gpus: [ ", gpus, ", 64 ] }")),
            "'instance_group.gpus' may name at most 64");
}

TEST_F(TritonConfigTest, GroupsOfSeveralKindsAreRefused) {
  const std::string kinds = "'instance_group.kind' must be the same in all groups";
  const std::string devices = "'instance_group.gpus' must be the same in all groups";
  EXPECT_EQ(Text("instance_group { kind: KIND_GPU }"
                 "instance_group { kind: KIND_GPU gpus: [ 0 ] }"),
            devices);
  EXPECT_EQ(Text("instance_group { kind: KIND_CPU } instance_group { kind: KIND_GPU }"), kinds);
  EXPECT_EQ(Text("instance_group { kind: KIND_CPU } instance_group {}"), kinds);
  EXPECT_EQ(Text("instance_group {} instance_group { kind: KIND_CPU }"), kinds);
}

TEST_F(TritonConfigTest, WhatModelConfigSaysMayBeGivenBack) {
  model_.placement.processes = 2;
  model_.placement.lanes = 3;
  EXPECT_EQ(Json(R"({"platform": "synthetic", "backend": "synthetic",
                     "instance_group": [{"kind": "KIND_CPU", "count": 6}],
                     "dynamic_batching": {"default_queue_policy": {"allow_timeout_override": true}}
                    })"),
            "");
  EXPECT_EQ(model_.format, ModelFormat::kSynthetic);
  EXPECT_EQ(model_.placement.processes, 2u);
  EXPECT_EQ(model_.placement.lanes, 3u);
  EXPECT_EQ(Json(R"({"instance_group": [{"count": 5}]})"), "");
  EXPECT_EQ(model_.placement.lanes, 5u);
}

TEST_F(TritonConfigTest, SoMayWhatItSaysOfUnevenDevices) {
  model_.placement.processes = 3;
  model_.placement.lanes = 20;
  EXPECT_EQ(Json(R"({"instance_group": [{"kind": "KIND_GPU", "count": 40, "gpus": [0]},
                                        {"kind": "KIND_GPU", "count": 20, "gpus": [1]}]})"),
            "");
  EXPECT_EQ(model_.device, "cuda:0,1");
  EXPECT_EQ(model_.placement.processes, 3u);
  EXPECT_EQ(model_.placement.lanes, 20u);
}

TEST_F(TritonConfigTest, WhatMakesNoDifferenceIsNoted) {
  EXPECT_EQ(Text(R"pb(optimization {}
                      metric_tags { key: "a" value: "b" }
                      dynamic_batching { preserve_ordering: true })pb"),
            "");
  EXPECT_EQ(notes_.ignored, (std::vector<std::string>{"optimization", "metric_tags",
                                                      "dynamic_batching.preserve_ordering"}));
}

TEST_F(TritonConfigTest, AWarmUpBecomesSamples) {
  EXPECT_EQ(Text(R"pb(max_batch_size: 4
                      model_warmup {
                        name: "first"
                        batch_size: 2
                        count: 3
                        inputs {
                          key: "b"
                          value { data_type: TYPE_STRING dims: 1 input_data_file: "b.bin" }
                        }
                        inputs {
                          key: "a"
                          value {
                            data_type: TYPE_FP32
                            dims: [ 2, 3 ]
                            random_data: true
                          }
                        }
                      }
                      model_warmup {
                        name: "second"
                        inputs {
                          key: "a"
                          value { data_type: TYPE_INT64 dims: 1 zero_data: true }
                        }
                      })pb"),
            "");
  ASSERT_EQ(model_.warmup_samples.size(), 2U);
  const WarmUpSample& first = model_.warmup_samples[0];
  EXPECT_EQ(first.rows, 2U);
  EXPECT_EQ(first.runs, 3U);
  ASSERT_EQ(first.inputs.size(), 2U);
  EXPECT_EQ(first.inputs[0].name, "a");
  EXPECT_EQ(first.inputs[0].fill, WarmUpFill::kRandom);
  EXPECT_EQ(first.inputs[0].dims, (Dims{2, 3}));
  EXPECT_EQ(first.inputs[1].datatype, DataType::kBytes);
  EXPECT_EQ(first.inputs[1].fill, WarmUpFill::kData);
  EXPECT_EQ(notes_.data_files[0], (std::vector<std::string>{"", "b.bin"}));
  EXPECT_EQ(model_.warmup_samples[1].rows, 1U);
  EXPECT_EQ(model_.warmup_samples[1].inputs[0].fill, WarmUpFill::kZero);
}

TEST_F(TritonConfigTest, AWarmUpThatCannotBeDoneIsRefused) {
  const auto refusal = [this](const std::string& value) {
    return Text("model_warmup { inputs { key: 'a' value { " + value + " } } }");
  };
  EXPECT_EQ(refusal("dims: 1"), "'model_warmup.inputs.data_type' must be given");
  EXPECT_EQ(refusal("data_type: TYPE_FP32 dims: -1"),
            "'model_warmup.inputs.dims' must not be negative");
  EXPECT_EQ(refusal("data_type: TYPE_FP32 input_data_file: '../x'"),
            "'model_warmup.inputs.input_data_file' must be the name of a file, not a path");
  EXPECT_EQ(Text("model_warmup { count: 1001 }"), "'model_warmup.count' must be at most 1000");
  EXPECT_EQ(Json(R"({"model_warmup": [{"inputs": {"a": {"data_type": "TYPE_FP32",
                                                      "input_data_file": "x"}}}]})"),
            "'model_warmup.inputs.input_data_file' is not supported");
}

TEST_F(TritonConfigTest, WhatStandsThereTwiceIsNotedOnce) {
  EXPECT_EQ(Text("instance_group { host_policy: \"a\" } instance_group { host_policy: \"b\" }"),
            "");
  EXPECT_EQ(notes_.ignored, std::vector<std::string>{"instance_group.host_policy"});
}

TEST_F(TritonConfigTest, AnUnknownKeyIsRefusedByItsName) {
  EXPECT_EQ(Text("name: \"m\"\nmax_batchsize: 4"),
            "config.pbtxt: line 2: Message type \"inference.ModelConfig\" has no field named "
            "\"max_batchsize\".");
  const std::string error = Json(R"({"max_batchsize": 4})");
  EXPECT_NE(error.find("max_batchsize"), std::string::npos) << error;
  EXPECT_NE(Json("{"), "");
}

TEST_F(TritonConfigTest, AFaultIsReadableWhateverTheFileHolds) {
  EXPECT_EQ(Text("backend: \"\xff\""), "config.pbtxt has a text that is not UTF-8");
  EXPECT_EQ(Text("name\xff: \"m\"").find('\xff'), std::string::npos);
}

TEST_F(TritonConfigTest, TensorsAreHeldToTheRulesOfAConfig) {
  EXPECT_NE(Text("input { name: \"x\" data_type: TYPE_FP32 dims: -2 }"), "");
}

}  // namespace
}  // namespace mpsd
