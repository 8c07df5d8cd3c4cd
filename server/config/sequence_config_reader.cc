#include <array>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "server/config/config_reader.h"

namespace mpsd {
namespace {

constexpr std::array<std::string_view, 4> kSequencesKeys = {"max_candidates", "max_idle",
                                                            "controls", "states"};
constexpr std::array<std::string_view, 4> kControlsKeys = {"start", "ready", "end", "id"};
constexpr std::array<std::string_view, 3> kStateKeys = {"input", "output", "told"};
constexpr int64_t kMaxIdleNs = 24LL * 3600 * kNsPerSecond;
constexpr int64_t kLeastIdleNs = 1 * kNsPerMs;

void ReadName(const JsonObject& object, std::string_view key, std::string* name) {
  object.Get(key, name);
  const bool is_written = object.Find(key) != nullptr && object.Find(key)->is_string();
  if (is_written && name->empty()) object.Fail(key, "must name a tensor");
}

void ReadControls(const JsonObject& sequences, SequencePolicy* policy) {
  const nlohmann::json* json = sequences.Find("controls");
  if (json == nullptr) return;
  const JsonObject object(*json, sequences.PathOf("controls"), kControlsKeys, sequences.errors());
  ReadName(object, "start", &policy->start.input);
  ReadName(object, "ready", &policy->ready.input);
  ReadName(object, "end", &policy->end.input);
  ReadName(object, "id", &policy->id_input);
}

void ReadStates(const JsonObject& sequences, SequencePolicy* policy) {
  sequences.GetList("states", kMaxTensors,
                    [&](const nlohmann::json& json, const std::string& path) {
                      const JsonObject object(json, path, kStateKeys, sequences.errors());
                      SequenceState& state = policy->states.emplace_back();
                      object.Require("input");
                      object.Require("output");
                      ReadName(object, "input", &state.input);
                      ReadName(object, "output", &state.output);
                      object.Get("told", &state.is_told);
                    });
}

// No two controls or states supply one input, no two states share an output.
void CheckNames(const JsonObject& object, const SequencePolicy& policy) {
  std::set<std::string> inputs;
  std::set<std::string> outputs;
  const auto add = [&object](const std::string& name, std::set<std::string>* names) {
    if (name.empty() || names->insert(name).second) return;
    object.errors()->Add(object.PathOf("sequences"), absl::StrCat("names '", name, "' twice"));
  };
  for (const SequenceControl* control : {&policy.start, &policy.ready, &policy.end}) {
    add(control->input, &inputs);
  }
  add(policy.id_input, &inputs);
  for (const SequenceState& state : policy.states) {
    add(state.input, &inputs);
    add(state.output, &outputs);
  }
}

// Keys that make no sense if requests depend on each other.
void CheckBeside(const JsonObject& object, const ModelConfig& model) {
  if (model.spec.decoupled) object.Fail("sequences", "are not for a decoupled model");
  if (model.max_request_rows > 0) {
    object.Fail("sequences", "are not for a model with max_request_rows");
  }
  if (model.response_cache != CacheScope::kOff) {
    object.Fail("sequences",
                "are not for a model with response_cache: equal requests of two "
                "sequences have different answers");
  }
}

}  // namespace

void ReadSequences(const JsonObject& object, ModelConfig* model) {
  const nlohmann::json* json = object.Find("sequences");
  if (json == nullptr) return;
  const JsonObject sequences(*json, object.PathOf("sequences"), kSequencesKeys, object.errors());
  SequencePolicy& policy = model->sequences.emplace();
  sequences.Get("max_candidates", 1, kMaxCandidates, &policy.candidates);
  sequences.GetDuration("max_idle", kMaxIdleNs, &policy.idle_ns);
  if (policy.idle_ns < kLeastIdleNs) sequences.Fail("max_idle", "must be at least '1ms'");
  ReadControls(sequences, &policy);
  ReadStates(sequences, &policy);
  CheckNames(object, policy);
  CheckBeside(object, *model);
}

}  // namespace mpsd
