// model_spec_reader: reads the keys of a ModelSpec from a JSON object that may have other keys too,
// such as a model of the config.
//
// The same keys mean the same in a config and in a model archive's mpsd.json, so one reader serves
// both: server/config adds them to the keys of a model, and ModelSpecFromJson() (model_spec.h)
// reads an object that has no others.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "proto/link/json_object.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// "max_batch_size", "inputs", "outputs", "pad", "decoupled". The caller puts them among the keys of
// the JsonObject that it makes.
absl::Span<const std::string_view> ModelSpecKeys();

// Reads those keys of `object` and checks them against each other: names that occur twice, padding
// rules for dims that are not open, more than kMaxTensors or kMaxRank. REQUIRES: ModelSpecKeys()
// are among the object's keys. Reports every mistake to the object's errors; `spec` is complete
// only when there was none. Thread-compatible.
void ReadModelSpec(const JsonObject& object, ModelSpec* spec);

// What is wrong with a tensor's name or dims, on their own, as the end of a sentence that begins
// with the value; empty when nothing is. Pure.
std::string TensorNameFault(std::string_view name);
std::string DimsFault(absl::Span<const int64_t> dims);

}  // namespace mpsd
