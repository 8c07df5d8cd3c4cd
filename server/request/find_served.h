// FindServed: the model and version that a client names.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/request/served_model.h"

namespace mpsd {

// An empty version is the highest one. NOT_FOUND, INVALID_ARGUMENT, or UNAVAILABLE for a version
// that was unloaded, with the protocol's text.
// Whether the model is loaded or ready is not looked at. Thread-safe.
absl::StatusOr<std::shared_ptr<ServedModel>> FindServed(const ModelDirectory& models,
                                                        absl::string_view name,
                                                        absl::string_view version);

}  // namespace mpsd
