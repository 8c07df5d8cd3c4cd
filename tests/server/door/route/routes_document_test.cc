// server/door/page/openapi.json names the routes that RouteOf() knows, each with its methods, and
// no others.
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "server/door/page/page_files.h"
#include "server/door/route/route.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

Json Paths() { return Json::parse(std::string(kRoutesFile))["paths"]; }

std::string PathOf(const std::string& written) {
  return absl::StrReplaceAll(written, {{"{model}", "m"}, {"{version}", "1"}, {"{region}", "r"}});
}

TEST(RoutesDocument, HasNoPathThatIsNotServed) {
  const Json paths = Paths();
  for (const auto& [written, operations] : paths.items()) {
    for (const std::string method : {"get", "post", "put"}) {
      const RouteKind kind = RouteOf(absl::AsciiStrToUpper(method), PathOf(written)).kind;
      EXPECT_NE(kind, RouteKind::kNone) << written;
      EXPECT_EQ(operations.contains(method), kind != RouteKind::kWrongMethod) << method << written;
    }
  }
}

TEST(RoutesDocument, HasEachRoute) {
  std::set<RouteKind> kinds;
  std::set<TextRoute> texts;
  const Json paths = Paths();
  for (const auto& [written, operations] : paths.items()) {
    const std::string method = operations.contains("get") ? "GET" : "POST";
    const Route route = RouteOf(method, PathOf(written));
    kinds.insert(route.kind);
    texts.insert(route.text.route);
  }
  const auto last = static_cast<int>(RouteKind::kCudaUnregister);
  for (int kind = static_cast<int>(RouteKind::kPage); kind <= last; ++kind) {
    const bool has_path = static_cast<RouteKind>(kind) != RouteKind::kCall;
    EXPECT_EQ(kinds.count(static_cast<RouteKind>(kind)), has_path ? 1U : 0U)
        << "the route of kind " << kind;
  }
  for (int text = 0; text <= static_cast<int>(TextRoute::kOllamaVersion); ++text) {
    EXPECT_EQ(texts.count(static_cast<TextRoute>(text)), 1U) << "the route for texts " << text;
  }
}

TEST(RoutesDocument, HasEachProbeAndBothFormsOfAModelsPath) {
  const Json paths = Paths();
  for (const char* path :
       {"/livez", "/readyz", "/health", "/v2/health/live", "/v2/health/ready", "/metrics"}) {
    EXPECT_TRUE(paths.contains(path)) << path;
  }
  for (const auto& [written, operations] : paths.items()) {
    const std::string model = "/v2/models/{model}";
    if (written.rfind(model, 0) != 0 || written == model + "/trace/setting") continue;
    if (written.find("{version}") != std::string::npos) continue;
    const std::string other = model + "/versions/{version}" + written.substr(model.size());
    EXPECT_TRUE(paths.contains(other)) << other;
  }
}

TEST(RoutesDocument, EachOperationHasANameOfItsOwn) {
  std::set<std::string> names;
  const Json paths = Paths();
  for (const auto& [written, operations] : paths.items()) {
    for (const auto& [method, operation] : operations.items()) {
      EXPECT_TRUE(names.insert(operation["operationId"].get<std::string>()).second) << written;
    }
  }
}

}  // namespace
}  // namespace mpsd
