// The parser, config/README.md, config/schema.json and config/reference.json know the same keys.
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proto/link/json_object.h"
#include "server/config.h"
#include "tests/server/config_files.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;
// "models[].batching.max_delay": a key, in whatever element of the lists around it.
using Keys = std::set<std::string>;

// Its members are free, so that they are no keys.
constexpr char kFreeKey[] = "models[].parameters";
constexpr char kProbe[] = "q0";  // near to no key

std::string ReadText(const std::string& name) {
  std::ifstream stream(absl::StrCat(MPSD_SOURCE_DIR, "/config/", name));
  EXPECT_TRUE(stream.good()) << name;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Json ReadJson(const std::string& name) {
  return Json::parse(ReadText(name), nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/true);
}

// A config as one finds it: in a folder `config`, beside the files that it names.
absl::StatusOr<Config> ParseHere(std::string_view text) {
  const ConfigFiles files({"config/models/encoder.pt", "config/models/vocab.txt",
                           ".deps/models/minilm.pt", ".deps/models/vocab.txt",
                           ".deps/models/mlp_1024x6.pt", "config/tls/server.pem",
                           "config/tls/server.key", "config/tls/clients.pem"});
  files.WriteSecret("config/tls/tokens", "embedder " + std::string(64, 'a'));
  files.WriteSecret("config/tls/server.key", "");
  return ParseConfig(text, files.folder() + "/config/c.json");
}

void CollectDocument(const Json& json, const std::string& path, Keys* keys) {
  if (json.is_array()) {
    for (const Json& element : json) CollectDocument(element, path + "[]", keys);
    return;
  }
  if (!json.is_object() || path == kFreeKey) return;
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
  const std::string text = ReadText("README.md");
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
  if (!here.is_object() || path == kFreeKey) return;
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

TEST(ConfigFolder, ReferenceIsAConfig) {
  const absl::StatusOr<Config> config = ParseHere(ReadText("reference.json"));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->models.size(), 1U);
}

// What the reference gives as a default is one.
TEST(ConfigFolder, ReferenceHoldsTheDefaults) {
  const absl::StatusOr<Config> config = ParseHere(ReadText("reference.json"));
  ASSERT_TRUE(config.ok()) << config.status();
  const Config defaults;
  EXPECT_EQ(config->listen.grpc[0], defaults.listen.grpc[0]);
  EXPECT_EQ(config->listen.http, defaults.listen.http);
  EXPECT_EQ(config->listen.plaintext, defaults.listen.plaintext);
  EXPECT_EQ(config->listen.tls.client_must_show_certificate,
            defaults.listen.tls.client_must_show_certificate);
  EXPECT_EQ(config->server_name, defaults.server_name);
  EXPECT_EQ(config->limits.message_bytes, defaults.limits.message_bytes);
  EXPECT_EQ(config->limits.buffered_bytes, defaults.limits.buffered_bytes);
  EXPECT_EQ(config->limits.shared_memory_bytes, defaults.limits.shared_memory_bytes);
  EXPECT_EQ(config->limits.connection_pin_bytes, defaults.limits.connection_pin_bytes);
  EXPECT_EQ(config->limits.drain_timeout_ns, defaults.limits.drain_timeout_ns);
  EXPECT_EQ(config->limits.lame_duck_ns, defaults.limits.lame_duck_ns);
  EXPECT_EQ(config->limits.connections, defaults.limits.connections);
  EXPECT_EQ(config->limits.client_shared_memory_bytes, defaults.limits.client_shared_memory_bytes);
  EXPECT_EQ(config->limits.client_cuda_memory_bytes, defaults.limits.client_cuda_memory_bytes);
  EXPECT_EQ(config->log.requests, defaults.log.requests);
  EXPECT_EQ(config->trace.file, defaults.trace.file);
  EXPECT_EQ(config->trace.otlp, defaults.trace.otlp);
  EXPECT_EQ(config->trace.rate, defaults.trace.rate);
  EXPECT_EQ(config->log.level, defaults.log.level);
  EXPECT_EQ(config->log.file, defaults.log.file);
  const ModelConfig model;
  EXPECT_EQ(config->models[0].device, model.device);
  EXPECT_EQ(config->models[0].placement.lanes, model.placement.lanes);
  EXPECT_EQ(config->models[0].warmup, model.warmup);
  EXPECT_EQ(config->sandbox, Config().sandbox);
  EXPECT_EQ(config->cuda_mps, Config().cuda_mps);
  EXPECT_EQ(config->models[0].batching.max_delay_ns, model.batching.max_delay_ns);
  EXPECT_EQ(config->models[0].queue_requests, model.queue_requests);
  EXPECT_EQ(config->models[0].queue_bytes, model.queue_bytes);
  const SupervisionConfig& supervision = config->models[0].supervision;
  EXPECT_EQ(supervision.load_timeout_ns, model.supervision.load_timeout_ns);
  EXPECT_EQ(supervision.warmup_timeout_ns, model.supervision.warmup_timeout_ns);
  EXPECT_EQ(supervision.run_timeout_ns, model.supervision.run_timeout_ns);
  EXPECT_EQ(supervision.circuit_deaths, model.supervision.circuit_deaths);
  EXPECT_EQ(supervision.circuit_period_ns, model.supervision.circuit_period_ns);
  EXPECT_EQ(supervision.recycle_resident_bytes, model.supervision.recycle_resident_bytes);
  EXPECT_EQ(supervision.recycle_requests, model.supervision.recycle_requests);
  EXPECT_EQ(supervision.recycle_age_ns, model.supervision.recycle_age_ns);
}

TEST(ConfigFolder, DemoIsAConfig) {
  const absl::StatusOr<Config> config = ParseHere(ReadText("demo.json"));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->listen.grpc, std::vector<std::string>{"127.0.0.1:8001"});
  ASSERT_EQ(config->models.size(), 3U);
  EXPECT_EQ(config->models[0].name, "minilm");
  EXPECT_EQ(config->models[1].name, "mlp");
  EXPECT_EQ(config->models[2].format, ModelFormat::kSynthetic);
}

}  // namespace
}  // namespace mpsd
