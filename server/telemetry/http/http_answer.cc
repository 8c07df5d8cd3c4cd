#include "server/telemetry/http/http_answer.h"

#include "absl/strings/match.h"
#include "nlohmann/json.hpp"
#include "server/telemetry/open_metrics.h"

namespace mpsd {
namespace {

constexpr char kTextType[] = "text/plain; charset=utf-8";
constexpr char kJsonType[] = "application/json";

// The protocol's paths repeat the code in JSON.
bool IsOfProtocol(absl::string_view path) { return absl::StartsWith(path, "/v2/"); }

HttpAnswer LiveAnswer(absl::string_view path, HealthSource* health) {
  const bool live = health->Live();
  const int code = live ? 200 : 503;
  if (!IsOfProtocol(path)) return {code, kTextType, live ? "ok" : "not live"};
  return {code, kJsonType, live ? R"({"live":true})" : R"({"live":false})"};
}

HttpAnswer ReadyAnswer(absl::string_view path, HealthSource* health) {
  const Readiness readiness = health->Ready();
  if (readiness.ready) {
    if (!IsOfProtocol(path)) return {200, kTextType, "ok"};
    return {200, kJsonType, R"({"ready":true})"};
  }
  const nlohmann::json json = {
      {"ready", false}, {"reason", readiness.reason}, {"unready_models", readiness.unready_models}};
  return {503, kJsonType, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

HttpAnswer MetricsAnswer(absl::string_view accept, const MetricsPage& page) {
  if (!absl::StrContains(accept, "application/openmetrics-text")) {
    return {200, MetricsPage::kContentType, page.Text()};
  }
  return {200, kOpenMetricsType, page.OpenText()};
}

}  // namespace

HttpAnswer AnswerTo(absl::string_view path, absl::string_view accept, const MetricsPage& page,
                    HealthSource* health) {
  if (path == "/metrics") return MetricsAnswer(accept, page);
  if (path == "/livez" || path == "/v2/health/live") return LiveAnswer(path, health);
  if (path == "/readyz" || path == "/health" || path == "/v2/health/ready") {
    return ReadyAnswer(path, health);
  }
  return {404, kTextType, "not found"};
}

}  // namespace mpsd
