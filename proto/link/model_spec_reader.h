// model_spec_reader: reads the keys of a ModelSpec from a JSON object that may have other keys too,
// such as a model of the config.
//
// The keys mean the same in a config and in a model archive's mpsd.json, so one reader serves both.
// In a config they stand among a model's other keys. ModelSpecFromJson() (model_spec.h) reads an
// object that has no others.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "proto/link/json_object.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// "max_batch_size", "inputs", "outputs", "pad", "decoupled". The caller lists them among the keys
// of its JsonObject.
absl::Span<const std::string_view> ModelSpecKeys();

// Reads those keys of `object` and checks them against each other: duplicate names, padding rules
// for dims that are not open, more than kMaxTensors or kMaxRank. REQUIRES: ModelSpecKeys() are
// among the object's keys. Reports every mistake to the object's errors; `spec` is complete only if
// there was none. Thread-compatible.
void ReadModelSpec(const JsonObject& object, ModelSpec* spec);

// The fault of a tensor's name or dims on their own, as the rest of a sentence that begins with the
// value. Empty if there is none. Pure.
std::string TensorNameFault(std::string_view name);
std::string DimsFault(absl::Span<const int64_t> dims);

}  // namespace mpsd
