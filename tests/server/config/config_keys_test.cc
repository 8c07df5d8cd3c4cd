// The parser, config/README.md, config/schema.json and config/reference.json know the same keys,
// and the parser and the schema take the same values of them.
#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proto/link/json_object.h"
#include "server/config/config.h"
#include "tests/server/config/config_files.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;
// "models[].batching.max_delay": a key, in whatever element of the lists around it.
using Keys = std::set<std::string>;

// Their members are free, so that they are no keys.
bool IsFree(const std::string& path) {
  return path == "models[].parameters" || path == "resources" || path == "device_share" ||
         path == "models[].steps[].inputs" || path == "models[].steps[].outputs";
}
constexpr char kProbe[] = "q0";  // near to no key

Json ReadJson(const std::string& name) {
  return Json::parse(ReadConfigFolder(name), nullptr, /*allow_exceptions=*/false,
                     /*ignore_comments=*/true);
}

// A config as one finds it: in a folder `config`, beside the files that it names.
absl::StatusOr<Config> ParseHere(std::string_view text) {
  const ConfigFiles files(
      {"config/models/encoder.pt", "config/models/vocab.txt", ".deps/models/minilm/config.json",
       ".deps/models/minilm/model.safetensors", ".deps/models/minilm/tokenizer.json",
       ".deps/models/mlp_1024x6.pt", "config/tls/server.pem", "config/tls/server.key",
       "config/tls/clients.pem"});
  files.WriteSecret("config/tls/tokens", "embedder " + std::string(64, 'a'));
  files.WriteSecret("config/tls/server.key", "");
  return ParseConfig(text, files.folder() + "/config/c.json");
}

void CollectDocument(const Json& json, const std::string& path, Keys* keys) {
  if (json.is_array()) {
    for (const Json& element : json) CollectDocument(element, path + "[]", keys);
    return;
  }
  if (!json.is_object() || IsFree(path)) return;
  for (const auto& item : json.items()) {
    const std::string child = JsonPath(path, item.key());
    keys->insert(child);
    CollectDocument(item.value(), child, keys);
  }
}

void CollectSchema(const Json& root, const Json& schema, const std::string& path, Keys* keys) {
  if (schema.contains("$ref")) {
    const std::string pointer = schema["$ref"].get<std::string>().substr(1);
    return CollectSchema(root, root[Json::json_pointer(pointer)], path, keys);
  }
  if (schema.contains("items")) CollectSchema(root, schema["items"], path + "[]", keys);
  if (!schema.contains("properties")) return;
  EXPECT_EQ(schema.value("additionalProperties", true), false) << path;
  for (const auto& item : schema["properties"].items()) {
    const std::string child = JsonPath(path, item.key());
    keys->insert(child);
    CollectSchema(root, item.value(), child, keys);
  }
}

// The first cells of the tables' rows.
Keys ReadmeKeys() {
  Keys keys;
  const std::string text = ReadConfigFolder("README.md");
  bool tritons = false;  // keys that stand in a section about another server's files
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "## ")) tritons = line == "## A model repository";
    if (tritons || !absl::StartsWith(line, "| `")) continue;
    const absl::string_view rest = line.substr(3);
    const bool is_new = keys.insert(std::string(rest.substr(0, rest.find('`')))).second;
    EXPECT_TRUE(is_new) << line;
  }
  return keys;
}

// Adds the keys that the parser takes in the object at `pointer`, by asking it about one that it
// does not take.
void ProbeObject(const Json& document, const Json::json_pointer& pointer, const std::string& path,
                 Keys* keys) {
  Json probed = document;
  probed[pointer][kProbe] = 1;
  const std::string error(ParseHere(probed.dump()).status().message());
  constexpr absl::string_view kLead = "q0: unknown key; the keys here are ";
  const size_t found = error.find(std::string(kLead));
  ASSERT_NE(found, std::string::npos) << path << " took an unknown key: " << error;
  for (const absl::string_view key : absl::StrSplit(error.substr(found + kLead.size()), ", ")) {
    keys->insert(JsonPath(path, std::string(key)));
  }
}

void CollectParser(const Json& document, const Json::json_pointer& pointer, const std::string& path,
                   Keys* keys) {
  const Json& here = document[pointer];
  if (here.is_array()) {
    for (size_t i = 0; i < here.size(); ++i)
      CollectParser(document, pointer / i, path + "[]", keys);
    return;
  }
  if (!here.is_object() || IsFree(path)) return;
  ProbeObject(document, pointer, path, keys);
  for (const auto& item : here.items()) {
    CollectParser(document, pointer / item.key(), JsonPath(path, item.key()), keys);
  }
}

Keys ParserKeys() {
  Keys keys;
  CollectParser(ReadJson("reference.json"), Json::json_pointer(), "", &keys);
  return keys;
}

TEST(ConfigKeys, ReferenceHasThoseOfTheParser) {
  Keys keys;
  CollectDocument(ReadJson("reference.json"), "", &keys);
  EXPECT_EQ(keys, ParserKeys());
}

TEST(ConfigKeys, SchemaHasThoseOfTheParser) {
  Keys keys;
  const Json schema = ReadJson("schema.json");
  CollectSchema(schema, schema, "", &keys);
  EXPECT_EQ(keys, ParserKeys());
}

TEST(ConfigKeys, ReadmeHasThoseOfTheParser) { EXPECT_EQ(ReadmeKeys(), ParserKeys()); }

// Values of keys as the reference has them, at their bounds and beyond. Not here is what a quantity
// with a unit is bounded by, which the schema tells people alone.
constexpr char kValues[] = R"({
  "trace/rate":                  {"taken": [1, 1000000000],         "refused": [0, 1000000001]},
  "models/0/version":            {"taken": [1, 2000000000],         "refused": [0, 2000000001]},
  "models/0/device": {"taken": ["auto", "cpu", "mps", "cuda", "cuda:0", "cuda:9", "cuda:10",
                                "cuda:99", "cuda:100", "cuda:199", "cuda:200", "cuda:255",
                                "cuda:all", "cuda:0,1", "cuda:255,9,10"],
                      "refused": ["", "gpu", "cuda:", "cuda:00", "cuda:-1", "cuda:256", "cuda:260",
                                  "cuda:300", "cuda:999", "cuda:1000", "cuda:0,", "cuda:,0",
                                  "cuda:0,256", "cuda:0, 1", "cuda:0,cuda:1", "cuda:all,0", "all",
                                  "mps:all"]},
  "models/0/placement/processes":     {"taken": [1, 64, "auto"],    "refused": [0, 65, "1"]},
  "models/0/placement/lanes":         {"taken": [1, 32, "auto"],    "refused": [0, 33, "1"]},
  "models/0/placement/threads":       {"taken": [1, 256, "auto"],   "refused": [0, 257, "1"]},
  "models/0/max_batch_size":          {"taken": [1, 1024],          "refused": [-1, 1025]},
  "models/0/max_request_rows":        {"taken": [64, 65536],        "refused": [-1, 65537]},
  "models/0/max_batch_tokens":        {"taken": [0, 67108864],      "refused": [-1, 67108865]},
  "models/0/batching/max_delay":      {"taken": ["0", "10s"],       "refused": ["1", 0]},
  "models/0/queue/requests":          {"taken": [1, 65536],         "refused": [0, 65537]},
  "models/0/queue/timeout":           {"taken": ["0", "24h"],       "refused": ["1", 0]},
  "models/0/queue/target":            {"taken": ["0", "50ms"],      "refused": ["1", 0]},
  "models/0/batching/preferred_sizes/0": {"taken": [1, 1024],       "refused": [0, 1025]},
  "models/0/queue/default_priority":  {"taken": [1, 2],             "refused": [0, 17, "1"]},
  "models/0/queue/priorities/0/requests": {"taken": [1, 65536],     "refused": [0, 65537]},
  "models/0/queue/priorities/0/timeout":  {"taken": ["0", "24h"],   "refused": ["1", 0]},
  "models/0/queue/bytes":             {"taken": ["1TiB"],           "refused": ["0", "1"]},
  "models/0/rate_limiter/priority":    {"taken": [1, 1000000],    "refused": [0, 1000001]},
  "models/0/rate_limiter/resources/0/count": {"taken": [1, 4],    "refused": [0, 1000000001]},
  "models/2/weight":                  {"taken": [1, 1000],          "refused": [0, 1001, 0.5]},
  "models/0/text/max_tokens":         {"taken": [1, 65536],         "refused": [0, 65537]},
  "models/0/keep_warm":               {"taken": ["0", "1s", "24h"], "refused": ["1", 0]},
  "models/0/load_timeout":            {"taken": ["1s", "24h"],      "refused": ["0", "1", 0]},
  "models/0/warmup_timeout":          {"taken": ["1s", "24h"],      "refused": ["0", "1", 0]},
  "models/0/run_timeout":             {"taken": ["auto", "0", "1s", "24h"], "refused": ["1", 0]},
  "models/0/circuit/deaths":          {"taken": [0, 1000],          "refused": [-1, 1001]},
  "models/0/circuit/period":          {"taken": ["1s", "1h"],       "refused": ["0", "1"]},
  "models/0/recycle/resident_memory": {"taken": ["0", "1MiB"],      "refused": ["1", 0]},
  "models/0/recycle/requests":        {"taken": [0, 4000000000],    "refused": [-1, 4000000001]},
  "models/0/recycle/age":             {"taken": ["0", "1s"],        "refused": ["1", 0]},
  "models/2/sequences/max_candidates": {"taken": [1, 65536],        "refused": [0, 65537]},
  "models/2/sequences/max_idle":      {"taken": ["1ms", "24h"],     "refused": ["0", "1", 0]}
})";

// The part of the schema that is about the value at `path`.
Json SchemaOf(const Json& root, const std::string& path) {
  Json schema = root;
  for (const absl::string_view name : absl::StrSplit(path, '/')) {
    const bool is_index = absl::ascii_isdigit(static_cast<unsigned char>(name[0]));
    const Json child = is_index ? schema["items"] : schema["properties"][std::string(name)];
    schema = child.contains("$ref")
                 ? root[Json::json_pointer(child["$ref"].get<std::string>().substr(1))]
                 : child;
  }
  return schema;
}

// JSON Schema's verdict on a value without members, as far as ours uses its words.
bool Takes(const Json& schema, const Json& value) {
  const auto takes_value = [&](const Json& choice) { return Takes(choice, value); };
  const std::string type = schema.value("type", "");
  if (type == "string" && !value.is_string()) return false;
  if (type == "integer" && !value.is_number_integer()) return false;
  if (schema.contains("const") && schema["const"] != value) return false;
  if (schema.contains("minimum") && value < schema["minimum"]) return false;
  if (schema.contains("maximum") && value > schema["maximum"]) return false;
  if (schema.contains("pattern") && value.is_string() &&
      !std::regex_search(value.get<std::string>(), std::regex(schema["pattern"]))) {
    return false;
  }
  if (!schema.contains("anyOf")) return true;
  return std::any_of(schema["anyOf"].begin(), schema["anyOf"].end(), takes_value);
}

TEST(ConfigValues, SchemaTakesThoseOfTheParser) {
  const Json reference = ReadJson("reference.json");
  const Json schema = ReadJson("schema.json");
  const Json values = Json::parse(kValues);
  for (const auto& key : values.items()) {
    const Json part = SchemaOf(schema, key.key());
    ASSERT_TRUE(part.contains("description")) << key.key();
    for (const char* kind : {"taken", "refused"}) {
      const bool taken = std::string(kind) == "taken";
      for (const Json& value : key.value()[kind]) {
        Json document = reference;
        document[Json::json_pointer("/" + key.key())] = value;
        EXPECT_EQ(Takes(part, value), taken) << "the schema: " << key.key() << " " << value;
        const absl::Status status = ParseHere(document.dump()).status();
        EXPECT_EQ(status.ok(), taken) << key.key() << " " << value << ": " << status;
      }
    }
  }
}

TEST(ConfigFolder, ReferenceIsAConfig) {
  const Config config = ParseHere(ReadConfigFolder("reference.json")).value();
  EXPECT_EQ(config.models.size(), 3U);
}

// Each default in the reference is one.
TEST(ConfigFolder, ReferenceHoldsTheDefaults) {
  const Config config = ParseHere(ReadConfigFolder("reference.json")).value();
  const Config defaults;
  EXPECT_EQ(config.listen.grpc, DefaultGrpcAddresses(config.state_dir));
  EXPECT_EQ(config.listen.http, defaults.listen.http);
  EXPECT_EQ(config.listen.plaintext, defaults.listen.plaintext);
  EXPECT_EQ(config.listen.tls.client_must_show_certificate,
            defaults.listen.tls.client_must_show_certificate);
  EXPECT_EQ(config.server_name, defaults.server_name);
  EXPECT_EQ(config.log.requests, defaults.log.requests);
  EXPECT_EQ(config.trace.file, defaults.trace.file);
  EXPECT_EQ(config.trace.otlp, defaults.trace.otlp);
  EXPECT_EQ(config.trace.collector, defaults.trace.collector);
  EXPECT_EQ(config.trace.rate, defaults.trace.rate);
  EXPECT_EQ(config.trace.metrics_interval_ns, defaults.trace.metrics_interval_ns);
  EXPECT_EQ(config.log.level, defaults.log.level);
  EXPECT_EQ(config.log.file, defaults.log.file);
  const ModelConfig model;
  EXPECT_EQ(config.models[0].device, model.device);
  EXPECT_EQ(config.models[0].placement.lanes, model.placement.lanes);
  EXPECT_EQ(config.models[0].warmup, model.warmup);
  EXPECT_EQ(config.models[0].keep_warm_ns, model.keep_warm_ns);
  EXPECT_EQ(config.models[0].precision, model.precision);
  EXPECT_EQ(config.sandbox, Config().sandbox);
  EXPECT_EQ(config.cuda_mps, Config().cuda_mps);
  EXPECT_EQ(config.mps_fallback, Config().mps_fallback);
  EXPECT_EQ(config.keep_awake, Config().keep_awake);
  EXPECT_EQ(config.memory_pressure, Config().memory_pressure);
  EXPECT_EQ(config.models[0].batching.max_delay_ns, model.batching.max_delay_ns);
  EXPECT_EQ(config.models[0].max_request_rows, model.max_request_rows);
  EXPECT_EQ(config.models[0].max_batch_tokens, model.max_batch_tokens);
  EXPECT_EQ(config.models[0].queue.levels[0].requests, model.queue.levels[0].requests);
  EXPECT_EQ(config.models[0].queue_bytes, model.queue_bytes);
  EXPECT_EQ(config.models[0].queue.levels[0].timeout_ns, model.queue.levels[0].timeout_ns);
  EXPECT_EQ(config.models[0].supervision, model.supervision);
}

TEST(ConfigFolder, DemoIsAConfig) {
  const Config config = ParseHere(ReadConfigFolder("demo.json")).value();
  EXPECT_EQ(config.listen.grpc, std::vector<std::string>{"127.0.0.1:8001"});
  ASSERT_EQ(config.models.size(), 3U);
  EXPECT_EQ(config.models[0].name, "minilm");
  EXPECT_EQ(config.models[1].name, "mlp");
  EXPECT_EQ(config.models[2].format, ModelFormat::kSynthetic);
}

}  // namespace
}  // namespace mpsd
