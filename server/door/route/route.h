// Route: what an HTTP request asks for, by method and path.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "server/bodies/text_routes/text_route.h"

namespace mpsd {

enum class RouteKind : uint8_t {
  kNone,         // no such path
  kWrongMethod,  // Route::allow has the path's methods
  kPage,         // /metrics and the probes, see HttpAnswer
  kDocs,         // the OpenAPI document of all routes
  kInfer,
  kGenerate,
  kGenerateStream,
  kCall,      // ModelInfer of gRPC: by its content type, not by RouteOf()
  kText,      // Route::text, which a model answers
  kTextPage,  // likewise, which the door answers
  kTokenize,  // Route::text likewise, with a body that the door reads
  kServerMetadata,
  kFrontPage,  // the status for a browser, see StatusPage
  kStatus,     // the same as JSON
  kForgive,    // has a model take again the contents that it refuses
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

// A value.
struct Route {
  RouteKind kind = RouteKind::kNone;
  std::string model;       // decoded; empty: none, or all
  std::string version;     // decoded; empty: none, or all
  std::string region;      // decoded; empty: none, or all
  absl::string_view page;  // path of a kPage, without a final slash; lives forever
  TextPath text;           // for kText and kTextPage
  const char* allow = "";  // methods of the path
};

// Whether a model answers: an InferTask serves it. Pure.
inline bool IsInference(RouteKind kind) {
  return kind >= RouteKind::kInfer && kind <= RouteKind::kText;
}

// The routes of the Open Inference Protocol with Triton's extensions, the text routes
// (FindTextPath), and mpsd's own; a test compares them with server/door/page/openapi.json. Paths
// are taken literally: nothing is folded, so "/v2/../metrics" is no path here, whatever a proxy
// makes of it. Model and version may have escapes ("%20"), but not an escaped "/" or NUL. A final
// slash is ignored. Pure.
Route RouteOf(absl::string_view method, absl::string_view path);

}  // namespace mpsd
