// infer_bodies: the Open Inference Protocol over HTTP: paths, JSON, and the tensors behind it, as
// bytes (docs/http.md). All pure and thread-safe.
//
//   GET  ModelPath()                                  ReadModelMetadata ──▶ ModelMetadata
//   POST ModelPath() + "/infer"   WriteInferBody      ReadInferReply ─────▶ InferReply
//
//   | {"inputs":[{"name","shape",…}],…} | tensor | tensor |
//   |<----- Inference-Header-Content-Length ---->|         in the order of inputs or outputs
//
// A server may be anybody's, so answers are checked: INTERNAL says what is wrong.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/client.h"

namespace mpsd::client {

struct InferBody {
  std::string bytes;
  size_t json_bytes = 0;  // at the front
};

// %XX for what no path may hold.
std::string Escaped(absl::string_view text);

// "/v2/models/MODEL" or "/v2/models/MODEL/versions/VERSION", Escaped().
std::string ModelPath(absl::string_view model, absl::string_view version);

// Asks for all outputs as bytes. REQUIRES: no tensor lies in a region.
InferBody WriteInferBody(const InferRequest& request);

// The header Inference-Header-Content-Length is `json_length`; empty: all is JSON. INTERNAL for a
// wrong length or JSON, an output that is not bytes or is cut, and bytes behind the last output.
// Otherwise CheckOutput()'s errors.
absl::StatusOr<InferReply> ReadInferReply(absl::string_view body, absl::string_view json_length);

// An unknown datatype is kInvalid.
absl::StatusOr<ModelMetadata> ReadModelMetadata(absl::string_view body);

}  // namespace mpsd::client
