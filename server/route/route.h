// Route: what a request of HTTP asks for, by its method and path.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "server/embedders/text_route.h"

namespace mpsd {

enum class RouteKind : uint8_t {
  kNone,         // no such path
  kWrongMethod,  // the path has another method: Route::allow
  kPage,         // /metrics and the probes, see HttpAnswer
  kDocs,         // the OpenAPI document of all routes
  kInfer,
  kGenerate,
  kGenerateStream,
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
  std::string version;     // likewise
  std::string region;      // likewise
  absl::string_view page;  // of kPage: its path, without a slash at the end; lives forever
  TextPath text;           // of kText and kTextPage
  const char* allow = "";  // the methods that the path has
};

// Whether the model answers: an InferTask serves it. Pure.
inline bool IsInference(RouteKind kind) {
  return kind >= RouteKind::kInfer && kind <= RouteKind::kText;
}

// The routes of the Open Inference Protocol, with Triton's extensions, those for texts
// (FindTextPath), and our own; a test holds server/page/openapi.json to them. A path is taken as it
// is written: nothing is folded, so that "/v2/../metrics" is no path here, whatever a proxy made of
// it. Model and version may have escapes ("%20"); an escaped "/" or NUL is no name. A slash at the
// end is ignored. Pure.
Route RouteOf(absl::string_view method, absl::string_view path);

}  // namespace mpsd
