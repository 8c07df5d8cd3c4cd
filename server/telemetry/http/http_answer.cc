#include "server/telemetry/http/http_answer.h"

#include "nlohmann/json.hpp"
#include "proto/base/check.h"

namespace mpsd {
namespace {

constexpr char kTextType[] = "text/plain; charset=utf-8";
constexpr char kJsonType[] = "application/json";

HttpAnswer Ok() { return {200, "OK", kTextType, "ok"}; }

HttpAnswer Unavailable(const char* content_type, std::string body) {
  return {503, "Service Unavailable", content_type, std::move(body)};
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

HttpAnswer AnswerTo(absl::string_view method, absl::string_view path, const MetricsPage& page,
                    HealthSource* health) {
  if (method != "GET" && method != "HEAD") {
    return {405, "Method Not Allowed", kTextType, "GET and HEAD only", "Allow: GET, HEAD\r\n"};
  }
  if (path == "/metrics") return {200, "OK", MetricsPage::kContentType, page.Text()};
  if (path == "/livez" || path == "/v2/health/live") return LiveAnswer(health);
  if (path == "/readyz" || path == "/v2/health/ready") return ReadyAnswer(health);
  return {404, "Not Found", kTextType, "not found"};
}

HttpAnswer RefusalAnswer(Verdict verdict) {
  MPSD_CHECK(verdict != Verdict::kAllowed);
  const std::string text(StatusOf(verdict).message());
  if (verdict == Verdict::kDenied) return {403, "Forbidden", kTextType, text};
  return {401, "Unauthorized", kTextType, text, "WWW-Authenticate: Bearer\r\n"};
}

}  // namespace mpsd
