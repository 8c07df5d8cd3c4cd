// No key of a Triton configuration is dropped in silence: each is mapped, refused by its name, or
// noted as ignored. A field that is new in the message and in no row below fails the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "proto/model_config.pb.h"
#include "server/config/triton/triton_config.h"

namespace mpsd {
namespace {

namespace protobuf = google::protobuf;

enum class Fate {
  kMapped,      // the model is another one than without it
  kAlwaysDone,  // it asks for what is done anyway
  kRefused,     // the text begins with its name
  kNoted,       // its name is in TritonNotes::ignored, and nothing else changes
};

struct Key {
  const char* path;  // a message that is named here is one key, with all that is in it
  Fate fate;
  const char* sample;  // a configuration that has it
};

const Key kKeys[] = {
    {"name", Fate::kRefused, "name: 'other'"},  // unless it is the model's
    {"platform", Fate::kMapped, "platform: 'torch_aoti'"},
    {"backend", Fate::kMapped, "backend: 'identity'"},
    {"runtime", Fate::kNoted, "runtime: 'onnxruntime'"},
    {"default_model_filename", Fate::kMapped, "default_model_filename: 'net.pt'"},
    {"cc_model_filenames", Fate::kRefused, "cc_model_filenames { key: '7.5' value: 'm.pt' }"},
    {"version_policy.latest.num_versions", Fate::kMapped,
     "version_policy { latest { num_versions: 2 } }"},
    {"version_policy.all", Fate::kMapped, "version_policy { all {} }"},
    {"version_policy.specific.versions", Fate::kMapped,
     "version_policy { specific { versions: 3 } }"},
    {"max_batch_size", Fate::kMapped, "max_batch_size: 7"},

    {"input.name", Fate::kMapped, "input { name: 'x' data_type: TYPE_FP32 dims: 2 }"},
    {"input.data_type", Fate::kMapped, "input { name: 'x' data_type: TYPE_FP32 dims: 2 }"},
    {"input.dims", Fate::kMapped, "input { name: 'x' data_type: TYPE_FP32 dims: 2 }"},
    {"input.format", Fate::kMapped,
     "input { name: 'x' data_type: TYPE_FP32 dims: [ 3, 4, 4 ] format: FORMAT_NCHW }"},
    {"input.reshape", Fate::kMapped, "input { reshape { shape: [ 1, 2 ] } }"},
    {"input.is_shape_tensor", Fate::kRefused, "input { is_shape_tensor: true }"},
    {"input.allow_ragged_batch", Fate::kRefused, "input { allow_ragged_batch: true }"},
    {"input.optional", Fate::kMapped, "input { optional: true }"},
    {"input.is_non_linear_format_io", Fate::kRefused, "input { is_non_linear_format_io: true }"},
    {"output.name", Fate::kMapped, "output { name: 'y' data_type: TYPE_FP32 dims: 2 }"},
    {"output.data_type", Fate::kMapped, "output { name: 'y' data_type: TYPE_FP32 dims: 2 }"},
    {"output.dims", Fate::kMapped, "output { name: 'y' data_type: TYPE_FP32 dims: 2 }"},
    {"output.label_filename", Fate::kMapped, "output { label_filename: 'labels.txt' }"},
    {"output.reshape", Fate::kMapped, "output { reshape { shape: [ 1, 2 ] } }"},
    {"output.is_shape_tensor", Fate::kRefused, "output { is_shape_tensor: true }"},
    {"output.is_non_linear_format_io", Fate::kRefused, "output { is_non_linear_format_io: true }"},

    {"instance_group.name", Fate::kNoted, "instance_group { name: 'a' }"},
    {"instance_group.count", Fate::kMapped, "instance_group { count: 3 }"},
    {"instance_group.gpus", Fate::kMapped, "instance_group { gpus: 1 }"},
    {"instance_group.kind", Fate::kMapped, "instance_group { kind: KIND_CPU }"},
    {"instance_group.profile", Fate::kNoted, "instance_group { profile: '0' }"},
    {"instance_group.rate_limiter", Fate::kMapped,
     "instance_group { rate_limiter { resources { name: 'R1' count: 2 } } }"},
    {"instance_group.passive", Fate::kRefused, "instance_group { passive: true }"},
    {"instance_group.secondary_devices", Fate::kRefused,
     "instance_group { secondary_devices { device_id: 1 } }"},
    {"instance_group.host_policy", Fate::kNoted, "instance_group { host_policy: 'numa0' }"},

    {"dynamic_batching.preferred_batch_size", Fate::kMapped,
     "dynamic_batching { preferred_batch_size: 4 }"},
    {"dynamic_batching.max_queue_delay_microseconds", Fate::kMapped,
     "dynamic_batching { max_queue_delay_microseconds: 77 }"},
    {"dynamic_batching.preserve_ordering", Fate::kNoted,
     "dynamic_batching { preserve_ordering: true }"},
    {"dynamic_batching.priority_levels", Fate::kMapped,
     "dynamic_batching { priority_levels: 2 default_priority_level: 1 }"},
    {"dynamic_batching.default_priority_level", Fate::kNoted,  // without levels
     "dynamic_batching { default_priority_level: 1 }"},
    {"dynamic_batching.priority_queue_policy", Fate::kNoted,  // without levels
     "dynamic_batching { priority_queue_policy { key: 1 value {} } }"},
    {"dynamic_batching.default_queue_policy.timeout_action", Fate::kMapped,
     "dynamic_batching { default_queue_policy { timeout_action: DELAY } }"},
    {"dynamic_batching.default_queue_policy.default_timeout_microseconds", Fate::kMapped,
     "dynamic_batching { default_queue_policy { default_timeout_microseconds: 1 } }"},
    {"dynamic_batching.default_queue_policy.allow_timeout_override", Fate::kAlwaysDone,
     "dynamic_batching { default_queue_policy { allow_timeout_override: true } }"},
    {"dynamic_batching.default_queue_policy.max_queue_size", Fate::kMapped,
     "dynamic_batching { default_queue_policy { max_queue_size: 77 } }"},

    {"parameters.string_value", Fate::kMapped,
     "parameters { key: 'k' value { string_value: 'v' } }"},
    {"model_transaction_policy.decoupled", Fate::kMapped,
     "model_transaction_policy { decoupled: true }"},
    {"sequence_batching", Fate::kMapped,
     "sequence_batching { oldest { max_candidate_sequences: 4 } }"},
    {"ensemble_scheduling", Fate::kMapped,
     "input { name: 'x' data_type: TYPE_FP32 dims: 2 } "
     "output { name: 'y' data_type: TYPE_FP32 dims: 2 } "
     "ensemble_scheduling { step { model_name: 'n' input_map { key: 'i' value: 'x' } "
     "output_map { key: 'o' value: 'y' } } }"},
    {"model_operations", Fate::kRefused, "model_operations {}"},
    {"batch_input", Fate::kRefused, "batch_input {}"},
    {"batch_output", Fate::kRefused, "batch_output {}"},
    {"model_repository_agents", Fate::kRefused, "model_repository_agents { agents {} }"},
    {"response_cache.enable", Fate::kMapped, "response_cache { enable: true }"},
    {"optimization", Fate::kNoted, "optimization {}"},
    {"model_warmup", Fate::kMapped, "model_warmup {}"},
    {"metric_tags", Fate::kNoted, "metric_tags { key: 'a' value: 'b' }"},
    {"model_metrics", Fate::kNoted, "model_metrics {}"},
};

// Adds the fields that an input or output must have, and that the samples leave out.
std::string Complete(std::string sample) {
  const bool is_tensor = sample.rfind("input {", 0) == 0 || sample.rfind("output {", 0) == 0;
  if (!is_tensor || sample.find("dims") != std::string::npos) return sample;
  return sample.replace(sample.size() - 1, 1, "name: 'z' data_type: TYPE_FP32 dims: 2 }");
}

inference::ModelConfig Parse(const std::string& text) {
  inference::ModelConfig config;
  EXPECT_TRUE(protobuf::TextFormat::ParseFromString(text, &config)) << text;
  return config;
}

// A map's message of values; null where there is none.
const protobuf::Descriptor* MessageIn(const protobuf::FieldDescriptor& field) {
  return field.is_map() ? field.message_type()->FindFieldByName("value")->message_type()
                        : field.message_type();
}

// The keys of a message: its fields, and for one that holds a message and is in no row, its keys.
void Collect(const protobuf::Descriptor& message, const std::string& prefix,
             const std::set<std::string>& rows, std::set<std::string>* keys) {
  for (int i = 0; i < message.field_count(); ++i) {
    const protobuf::FieldDescriptor& field = *message.field(i);
    const std::string key = absl::StrCat(prefix, field.name());
    const protobuf::Descriptor* inner = MessageIn(field);
    if (inner == nullptr || inner->field_count() == 0 || rows.count(key) > 0) {
      keys->insert(key);
    } else {
      Collect(*inner, key + ".", rows, keys);
    }
  }
}

// Takes what is at the path out of the message, of all elements of a list; false: nothing is there.
// A map's values are not looked into.
bool Clear(protobuf::Message* message, const std::string& path) {
  const std::vector<std::string> names = absl::StrSplit(path, absl::MaxSplits('.', 1));
  const protobuf::Reflection& reflection = *message->GetReflection();
  const protobuf::FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(names[0]);
  const int size = field->is_repeated() ? reflection.FieldSize(*message, field)
                                        : static_cast<int>(reflection.HasField(*message, field));
  if (size == 0) return false;
  if (names.size() > 1 && !field->is_map()) {
    return Clear(field->is_repeated() ? reflection.MutableRepeatedMessage(message, field, 0)
                                      : reflection.MutableMessage(message, field),
                 names[1]);
  }
  reflection.ClearField(message, field);
  return true;
}

struct Outcome {
  bool operator==(const Outcome& other) const {
    return error == other.error && model == other.model && file_name == other.file_name &&
           latest == other.latest && specific == other.specific;
  }

  std::string error;
  ModelConfig model;
  std::string file_name;
  uint32_t latest = 0;
  std::vector<int64_t> specific;
  std::vector<std::string> ignored;  // is compared apart
};

Outcome AsText(const inference::ModelConfig& config) {
  std::string text;
  EXPECT_TRUE(protobuf::TextFormat::PrintToString(config, &text));
  Outcome outcome;
  outcome.model.name = "m";
  TritonNotes notes;
  outcome.error = std::string(ApplyTritonText(text, &outcome.model, &notes).message());
  outcome.file_name = notes.file_name;
  outcome.latest = notes.versions.latest;
  outcome.specific = notes.versions.specific;
  outcome.ignored = notes.ignored;
  return outcome;
}

// A load's override does not say which versions and files there are.
Outcome AsJson(const inference::ModelConfig& config) {
  std::string json;
  EXPECT_TRUE(protobuf::util::MessageToJsonString(config, &json).ok());
  Outcome outcome;
  outcome.model.name = "m";
  TritonNotes notes;
  outcome.error = std::string(ApplyTritonJson(json, &outcome.model, &notes).message());
  outcome.ignored = notes.ignored;
  return outcome;
}

// `name` is what a refusal or a note says.
void Check(const Outcome& with, const Outcome& without, const std::string& name, Fate fate) {
  std::vector<std::string> ignored;
  if (fate == Fate::kNoted) ignored.push_back(name);
  EXPECT_EQ(with.ignored, ignored);
  if (fate == Fate::kRefused) {
    EXPECT_THAT(with.error, testing::StartsWith(absl::StrCat("'", name, "' ")));
  } else {
    EXPECT_EQ(with.error, "");
    EXPECT_EQ(with == without, fate != Fate::kMapped);
  }
}

TEST(TritonKeys, EachHasARow) {
  std::set<std::string> rows;
  for (const Key& key : kKeys) EXPECT_TRUE(rows.insert(key.path).second) << key.path << " twice";
  std::set<std::string> keys;
  Collect(*inference::ModelConfig::descriptor(), "", rows, &keys);
  for (const std::string& key : keys) EXPECT_EQ(rows.count(key), 1u) << key << " has no row";
  for (const std::string& row : rows) EXPECT_EQ(keys.count(row), 1u) << row << " is no key";
}

TEST(TritonKeys, MeetTheirFateInAConfigPbtxt) {
  for (const Key& key : kKeys) {
    SCOPED_TRACE(key.path);
    const inference::ModelConfig with = Parse(Complete(key.sample));
    inference::ModelConfig without = with;
    ASSERT_TRUE(Clear(&without, key.path)) << "the sample does not have it";
    Check(AsText(with), AsText(without), key.path, key.fate);
  }
}

TEST(TritonKeys, MeetTheirFateInTheConfigOfALoad) {
  for (const Key& key : kKeys) {
    SCOPED_TRACE(key.path);
    const inference::ModelConfig with = Parse(Complete(key.sample));
    inference::ModelConfig without = with;
    ASSERT_TRUE(Clear(&without, key.path)) << "the sample does not have it";
    const std::string first = std::vector<std::string>(absl::StrSplit(key.path, '.')).front();
    const bool is_of_files = first == "version_policy" || first == "default_model_filename";
    const bool is_of_labels = std::string(key.path) == "output.label_filename";
    Check(AsJson(with), AsJson(without), is_of_files ? first : key.path,
          is_of_files || is_of_labels ? Fate::kNoted : key.fate);
  }
}

}  // namespace
}  // namespace mpsd
