// model_spec_reader: reads the keys of a ModelSpec from a JSON object that may have other keys too,
// such as a model of the config.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "proto/link/json_object.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// "max_batch_size", "inputs", "outputs", "pad", "decoupled".
absl::Span<const std::string_view> ModelSpecKeys();

// Reads those keys of `object` and checks them against each other. The object must have been made
// with these keys among its own. Reports every mistake to the object's errors; `spec` is complete
// only when there was none.
void ReadModelSpec(const JsonObject& object, ModelSpec* spec);

// What is wrong with a tensor's name or dims, on their own; empty when nothing is.
std::string TensorNameFault(std::string_view name);
std::string DimsFault(absl::Span<const int64_t> dims);

}  // namespace mpsd
