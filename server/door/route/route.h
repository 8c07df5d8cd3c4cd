// Route: what an HTTP request asks for, by method and path.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "server/bodies/text_routes/text_route.h"

namespace mpsd {

enum class RouteKind : uint8_t {
  kNone,
  kWrongMethod,  // see Route::allow
  kPage,         // /metrics and the probes
  kDocs,
  kInfer,
  kGenerate,
  kGenerateStream,
  kCall,      // by its content type
  kText,      // answered by a model
  kTextPage,  // answered by the door
  kTokenize,  // likewise, with a body
  kServerMetadata,
  kFrontPage,  // the status for a browser
  kStatus,     // as JSON
  kForgive,    // has a model take refused contents again
  kModelMetadata,
  kModelReady,
  kModelConfig,
  kModelStatistics,
  kRepositoryIndex,
  kModelLoad,
  kModelUnload,
  kTraceSetting,
  kLogSettings,
  kSystemRegions,
  kSystemRegister,
  kSystemUnregister,
  kCudaRegions,
  kCudaRegister,
  kCudaUnregister,
};

struct Route {
  RouteKind kind = RouteKind::kNone;
  std::string model;  // decoded, as the next two; empty: none, or all
  std::string version;
  std::string region;
  absl::string_view page;  // without a final slash; lives forever
  TextPath text;
  const char* allow = "";  // the path's methods
};

// Served by an InferTask. Pure.
inline bool IsInference(RouteKind kind) {
  return kind >= RouteKind::kInfer && kind <= RouteKind::kText;
}

// The Open Inference Protocol with Triton's extensions, the text routes, and mpsd's own; a test
// compares them with openapi.json. Nothing is folded: "/v2/../metrics" is no path here. Model and
// version may have escapes ("%20"), but not of "/" or NUL. A final slash is ignored. Pure.
Route RouteOf(absl::string_view method, absl::string_view path);

}  // namespace mpsd
