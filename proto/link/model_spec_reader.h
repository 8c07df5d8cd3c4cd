// Reads the part of a JSON object that says what a model takes and gives, for a reader whose object
// has other keys besides, as a model of the config has.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "proto/link/json_object.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// "max_batch_size", "inputs", "outputs", "pad".
absl::Span<const std::string_view> ModelSpecKeys();

// Reads those keys of `object`, whose keys must have them, and holds them to each other. Reports
// every mistake to the object's errors; `spec` is whole only when there was none.
void ReadModelSpec(const JsonObject& object, ModelSpec* spec);

// What is wrong with a tensor's name or dims, on their own; empty when nothing is.
std::string TensorNameFault(std::string_view name);
std::string DimsFault(absl::Span<const int64_t> dims);

}  // namespace mpsd
