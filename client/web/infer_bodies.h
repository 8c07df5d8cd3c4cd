// infer_bodies: what the Open Inference Protocol sends and answers over HTTP, written and read: the
// paths, the JSON, and the tensors behind it, as bytes (docs/http.md). Pure functions, all
// thread-safe.
//
//   GET  ModelPath()                                  ReadModelMetadata ──▶ ModelMetadata
//   POST ModelPath() + "/infer"   WriteInferBody      ReadInferReply ─────▶ InferReply
//
//   | {"inputs":[{"name","shape",…}],…} | tensor | tensor |
//   |<----- Inference-Header-Content-Length ---->|         in the order of inputs or outputs
//
// A server may be anybody's, so an answer is checked before it is believed: INTERNAL says what is
// wrong with it.
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

// `text` with %XX for what no path may hold.
std::string Escaped(absl::string_view text);

// "/v2/models/MODEL" or "/v2/models/MODEL/versions/VERSION", with %XX for what no path may hold.
std::string ModelPath(absl::string_view model, absl::string_view version);

// Asks for all outputs as bytes. Whether the request fits the model is for the server to say.
// REQUIRES: no tensor lies in a region.
InferBody WriteInferBody(const InferRequest& request);

// `json_length` is the answer's Inference-Header-Content-Length; empty: all of the body is JSON.
// INTERNAL if that length is no number up to the body's size, or the JSON is not the protocol's.
// INTERNAL also for an output that is not bytes or is cut, and for bytes behind the last output.
// Otherwise errors are those of CheckOutput().
absl::StatusOr<InferReply> ReadInferReply(absl::string_view body, absl::string_view json_length);

// A datatype that this client does not know is kInvalid.
absl::StatusOr<ModelMetadata> ReadModelMetadata(absl::string_view body);

}  // namespace mpsd::client
