#include "server/door/route/route.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/utf8.h"

namespace mpsd {
namespace {

constexpr char kGet[] = "GET, HEAD";
constexpr char kPost[] = "POST";
constexpr char kBoth[] = "GET, HEAD, POST";

// Below "/v2/models/NAME[/versions/VERSION]".
struct ModelRoute {
  absl::string_view action;
  RouteKind kind;
  const char* allow;
};
constexpr std::array<ModelRoute, 7> kModelRoutes = {{
    {"", RouteKind::kModelMetadata, kGet},
    {"ready", RouteKind::kModelReady, kGet},
    {"config", RouteKind::kModelConfig, kGet},
    {"stats", RouteKind::kModelStatistics, kGet},
    {"infer", RouteKind::kInfer, kPost},
    {"generate", RouteKind::kGenerate, kPost},
    {"generate_stream", RouteKind::kGenerateStream, kPost},
}};

constexpr std::array<absl::string_view, 6> kPages = {
    "/metrics", "/livez", "/readyz", "/health", "/v2/health/live", "/v2/health/ready"};

int Nibble(char digit) {
  if (absl::ascii_isdigit(static_cast<unsigned char>(digit))) return digit - '0';
  const char lower = absl::ascii_tolower(static_cast<unsigned char>(digit));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Nothing if the escapes are malformed, or stand for a character that no name has. No name has
// bytes that are not UTF-8, which protobuf could not take.
std::optional<std::string> Decoded(absl::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = Nibble(text[i + 1]);
    const int low = Nibble(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    const char c = static_cast<char>(high * 16 + low);
    if (c == '/' || c == '\0') return std::nullopt;
    decoded.push_back(c);
    i += 2;
  }
  if (!IsUtf8(decoded)) return std::nullopt;
  return decoded;
}

Route Of(RouteKind kind, const char* allow) {
  Route route;
  route.kind = kind;
  route.allow = allow;
  return route;
}

// "/v2/systemsharedmemory/…" or "/v2/cudasharedmemory/…"; `kinds` are for status, registering and
// unregistering.
Route RouteOfRegions(std::vector<absl::string_view> parts, const std::array<RouteKind, 3>& kinds) {
  std::optional<std::string> region = "";
  if (parts.size() == 3 && parts[0] == "region") {
    region = Decoded(parts[1]);
    if (region == "") return {};
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  if (!region.has_value() || parts.size() != 1) return {};
  Route route;
  if (parts[0] == "status") route = Of(kinds[0], kGet);
  if (parts[0] == "register" && !region->empty()) route = Of(kinds[1], kPost);
  if (parts[0] == "unregister") route = Of(kinds[2], kPost);
  route.region = *region;
  return route;
}

// "/v2/models/…".
Route RouteOfModel(std::vector<absl::string_view> parts) {
  if (parts.size() == 1 && parts[0] == "stats") return Of(RouteKind::kModelStatistics, kGet);
  const std::optional<std::string> model = Decoded(parts[0]);
  std::optional<std::string> version = "";
  parts.erase(parts.begin());
  if (parts.size() >= 2 && parts[0] == "versions") {
    version = Decoded(parts[1]);
    if (version == "") return {};
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  if (!model.has_value() || model->empty() || !version.has_value()) return {};
  if (parts.size() == 2 && parts[0] == "trace" && parts[1] == "setting" && version->empty()) {
    Route route = Of(RouteKind::kTraceSetting, kBoth);
    route.model = *model;
    return route;
  }
  if (parts.size() > 1) return {};
  const absl::string_view action = parts.empty() ? "" : parts[0];
  for (const ModelRoute& known : kModelRoutes) {
    if (known.action != action) continue;
    Route route = Of(known.kind, known.allow);
    route.model = *model;
    route.version = *version;
    return route;
  }
  return {};
}

// "/mpsd/models/…".
Route RouteOfForgiveness(absl::string_view path) {
  const bool is_one = absl::ConsumeSuffix(&path, "/forgive") && !absl::StrContains(path, '/');
  const std::optional<std::string> model = is_one ? Decoded(path) : std::nullopt;
  if (!model.has_value() || model->empty()) return {};
  Route route = Of(RouteKind::kForgive, kPost);
  route.model = *model;
  return route;
}

// "/v2/repository/…".
Route RouteOfRepository(const std::vector<absl::string_view>& parts) {
  if (parts.size() == 1 && parts[0] == "index") return Of(RouteKind::kRepositoryIndex, kPost);
  if (parts.size() != 3 || parts[0] != "models") return {};
  const std::optional<std::string> model = Decoded(parts[1]);
  if (!model.has_value() || model->empty()) return {};
  Route route;
  if (parts[2] == "load") route = Of(RouteKind::kModelLoad, kPost);
  if (parts[2] == "unload") route = Of(RouteKind::kModelUnload, kPost);
  route.model = *model;
  return route;
}

Route RouteOfText(const TextPath& text) {
  const std::optional<std::string> model = Decoded(text.name);
  if (!model.has_value()) return {};
  RouteKind kind = Infers(text.route) ? RouteKind::kText : RouteKind::kTextPage;
  if (text.route == TextRoute::kTokenize) kind = RouteKind::kTokenize;
  if (text.route == TextRoute::kOllamaShow) kind = RouteKind::kTokenize;
  Route route = Of(kind, text.is_get ? kGet : kPost);
  route.text = text;
  route.text.name = {};
  route.model = *model;
  return route;
}

// A browser asks for the page. Clients of text-embeddings-inference that know only the server's
// address post texts there, as to /embed.
Route RouteOfRoot(absl::string_view method) {
  if (method != "POST") return Of(RouteKind::kFrontPage, kBoth);
  Route route = RouteOfText(FindTextPath("/embed"));
  route.allow = kBoth;
  return route;
}

Route RouteOfPath(absl::string_view path) {
  absl::ConsumeSuffix(&path, "/");
  if (const auto page = std::find(kPages.begin(), kPages.end(), path); page != kPages.end()) {
    Route route = Of(RouteKind::kPage, kGet);
    route.page = *page;
    return route;
  }
  if (path == "/docs") return Of(RouteKind::kDocs, kGet);
  if (path == "/mpsd/status") return Of(RouteKind::kStatus, kGet);
  if (absl::ConsumePrefix(&path, "/mpsd/models/")) return RouteOfForgiveness(path);
  if (path == "/v2") return Of(RouteKind::kServerMetadata, kGet);
  if (path == "/v2/trace/setting") return Of(RouteKind::kTraceSetting, kBoth);
  if (path == "/v2/logging") return Of(RouteKind::kLogSettings, kBoth);
  if (absl::ConsumePrefix(&path, "/v2/systemsharedmemory/")) {
    return RouteOfRegions(
        absl::StrSplit(path, '/'),
        {RouteKind::kSystemRegions, RouteKind::kSystemRegister, RouteKind::kSystemUnregister});
  }
  if (absl::ConsumePrefix(&path, "/v2/cudasharedmemory/")) {
    return RouteOfRegions(
        absl::StrSplit(path, '/'),
        {RouteKind::kCudaRegions, RouteKind::kCudaRegister, RouteKind::kCudaUnregister});
  }
  if (absl::ConsumePrefix(&path, "/v2/models/")) return RouteOfModel(absl::StrSplit(path, '/'));
  if (absl::ConsumePrefix(&path, "/v2/repository/")) {
    return RouteOfRepository(absl::StrSplit(path, '/'));
  }
  const TextPath text = FindTextPath(path);
  return text.route == TextRoute::kNone ? Route() : RouteOfText(text);
}

bool Allows(absl::string_view allow, absl::string_view method) {
  if (method == "POST") return allow != kGet;
  return allow != kPost && (method == "GET" || method == "HEAD");
}

}  // namespace

Route RouteOf(absl::string_view method, absl::string_view path) {
  Route route = path == "/" ? RouteOfRoot(method) : RouteOfPath(path);
  if (route.kind == RouteKind::kNone) return {};
  if (!Allows(route.allow, method)) route.kind = RouteKind::kWrongMethod;
  return route;
}

}  // namespace mpsd
