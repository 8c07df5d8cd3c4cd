// FindServed: finds the model and version that a client names.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/request/served_model.h"

namespace mpsd {

// The generation that serves the model. An empty version means the highest. NOT_FOUND for an
// unknown model or version, INVALID_ARGUMENT for a version that is no number, UNAVAILABLE for one
// that was unloaded: all with the protocol's text. The model found may be neither loaded nor ready.
// Thread-safe.
absl::StatusOr<std::shared_ptr<ServedModel>> FindServed(const ModelDirectory& models,
                                                        absl::string_view name,
                                                        absl::string_view version);

}  // namespace mpsd
