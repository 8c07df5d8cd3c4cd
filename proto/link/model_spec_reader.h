// model_spec_reader: reads the keys of a ModelSpec from a JSON object that may have other keys too.
//
// In a config they stand among a model's other keys. ModelSpecFromJson() reads an object without
// others.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "proto/link/json_object.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// The caller lists them among the keys of its JsonObject.
absl::Span<const std::string_view> ModelSpecKeys();

// Also refuses duplicate names, padding rules for dims that are not open, more than kMaxTensors or
// kMaxRank. Reports every mistake to the object; `spec` is complete only without one. REQUIRES:
// ModelSpecKeys() are among the object's keys. Thread-compatible.
void ReadModelSpec(const JsonObject& object, ModelSpec* spec);

// Ends a sentence that begins with the value. Empty: no fault. Pure.
std::string TensorNameFault(std::string_view name);
std::string DimsFault(absl::Span<const int64_t> dims);

}  // namespace mpsd
