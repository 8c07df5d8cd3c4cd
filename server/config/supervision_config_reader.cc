#include "server/config/supervision_config_reader.h"

#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"

namespace mpsd {
namespace {

constexpr std::array<std::string_view, 2> kCircuitKeys = {"deaths", "period"};
constexpr std::array<std::string_view, 3> kRecycleKeys = {"resident_memory", "requests", "age"};

constexpr int64_t kMaxPhaseNs = 24 * 3600 * kNsPerSecond;
constexpr uint32_t kMaxDeaths = 1000;
constexpr int64_t kMaxPeriodNs = 3600 * kNsPerSecond;
constexpr uint32_t kMaxRecycleRequests = 4'000'000'000;
constexpr uint64_t kLeastRecycleBytes = 1ULL << 20;
constexpr uint64_t kMaxRecycleBytes = 1ULL << 44;
constexpr int64_t kMaxAgeNs = 365LL * 24 * 3600 * kNsPerSecond;

// Reports that the value of `key` is too small. The value is there: the defaults are large enough.
void FailBelow(const JsonObject& object, std::string_view key, absl::string_view least) {
  const nlohmann::json* written = object.Find(key);
  MPSD_CHECK(written != nullptr);
  object.Fail(key, absl::StrCat("must be at least '", least, "', not ", JsonText(*written)));
}

// Reads a time that is 0 or at least a second: less would end healthy workers.
void ReadTimeout(const JsonObject& object, std::string_view key, int64_t maximum_ns,
                 int64_t* value_ns) {
  object.GetDuration(key, maximum_ns, value_ns);
  if (*value_ns == 0 || *value_ns >= kNsPerSecond) return;
  FailBelow(object, key, "1s");
}

void ReadCircuit(const JsonObject& model, SupervisionConfig* config) {
  const nlohmann::json* json = model.Find("circuit");
  if (json == nullptr) return;
  const JsonObject object(*json, model.PathOf("circuit"), kCircuitKeys, model.errors());
  object.Get("deaths", 0, kMaxDeaths, &config->circuit_deaths);
  int64_t& period_ns = config->circuit_period_ns;
  object.GetDuration("period", kMaxPeriodNs, &period_ns);
  if (period_ns >= kNsPerSecond) return;
  FailBelow(object, "period", "1s");
}

void ReadRecycle(const JsonObject& model, SupervisionConfig* config) {
  const nlohmann::json* json = model.Find("recycle");
  if (json == nullptr) return;
  const JsonObject object(*json, model.PathOf("recycle"), kRecycleKeys, model.errors());
  uint64_t& resident_bytes = config->recycle_resident_bytes;
  object.GetBytes("resident_memory", 0, kMaxRecycleBytes, &resident_bytes);
  if (resident_bytes > 0 && resident_bytes < kLeastRecycleBytes) {
    FailBelow(object, "resident_memory", "1MiB");
  }
  uint32_t requests = 0;
  object.Get("requests", 0, kMaxRecycleRequests, &requests);
  config->recycle_requests = requests;
  ReadTimeout(object, "age", kMaxAgeNs, &config->recycle_age_ns);
}

}  // namespace

void ReadSupervisionConfig(const JsonObject& model, SupervisionConfig* config) {
  for (const auto& [key, value_ns] : {std::pair("load_timeout", &config->load_timeout_ns),
                                      std::pair("warmup_timeout", &config->warmup_timeout_ns)}) {
    ReadTimeout(model, key, kMaxPhaseNs, value_ns);
    if (*value_ns == 0) model.Fail(key, "must be at least '1s', not none");
  }
  const nlohmann::json* run = model.Find("run_timeout");
  if (run != nullptr && *run != "auto") {
    ReadTimeout(model, "run_timeout", kMaxPhaseNs, &config->run_timeout_ns);
  }
  ReadCircuit(model, config);
  ReadRecycle(model, config);
}

}  // namespace mpsd
