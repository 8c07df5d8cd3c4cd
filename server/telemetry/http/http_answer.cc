#include "server/telemetry/http/http_answer.h"

#include "nlohmann/json.hpp"

namespace mpsd {
namespace {

constexpr char kTextType[] = "text/plain; charset=utf-8";
constexpr char kJsonType[] = "application/json";

HttpAnswer Ok() { return {200, kTextType, "ok"}; }

HttpAnswer Unavailable(const char* content_type, std::string body) {
  return {503, content_type, std::move(body)};
}

HttpAnswer LiveAnswer(HealthSource* health) {
  return health->Live() ? Ok() : Unavailable(kTextType, "not live");
}

HttpAnswer ReadyAnswer(HealthSource* health) {
  const Readiness readiness = health->Ready();
  if (readiness.ready) return Ok();
  const nlohmann::json json = {
      {"ready", false}, {"reason", readiness.reason}, {"unready_models", readiness.unready_models}};
  return Unavailable(kJsonType,
                     json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

HttpAnswer AnswerTo(absl::string_view path, const MetricsPage& page, HealthSource* health) {
  if (path == "/metrics") return {200, MetricsPage::kContentType, page.Text()};
  if (path == "/livez" || path == "/v2/health/live") return LiveAnswer(health);
  if (path == "/readyz" || path == "/health" || path == "/v2/health/ready") {
    return ReadyAnswer(health);
  }
  return {404, kTextType, "not found"};
}

}  // namespace mpsd
