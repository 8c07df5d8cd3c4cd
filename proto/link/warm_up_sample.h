// WarmUpSample: a request that a lane makes to itself before its first batch.
//
//   config.pbtxt ─▶ front end: reads the data files ─▶ LoadOrder ─▶ worker ─▶ each lane runs it
//
// Triton's `model_warmup` names such requests. The front end reads them, with their data files, and
// the LoadOrder takes them to the worker, whose sandbox keeps it from reading files. Without a
// sample the lanes warm up with zeros (warm_up.h), which some models refuse. Nobody gets the
// answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"
#include "proto/link/enum_names.h"

namespace mpsd {

inline constexpr size_t kMaxWarmUpSamples = 64;           // of a model
inline constexpr uint32_t kMaxWarmUpRuns = 1000;          // of a sample
inline constexpr uint64_t kMaxWarmUpDataBytes = 2 << 20;  // of all samples of a model

// What an input holds. kRandom: floats from 0 to 1, integers 0 and 1, short strings. kData: what
// the config's data file has.
enum class WarmUpFill { kZero, kRandom, kData };

template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<WarmUpFill> = {"zero", "random", "data"};

// An input of a sample. The datatype and the dims are those that Triton's config gives; whether the
// model has such an input is checked where the lane runs the sample. A value.
struct WarmUpInput {
  std::string name;
  DataType datatype = DataType::kInvalid;
  Dims dims;  // of one row
  WarmUpFill fill = WarmUpFill::kZero;
  std::string data;  // of one row, which all rows repeat; empty unless kData

  bool operator==(const WarmUpInput&) const = default;
};

// The inputs of one request, which have as many rows each. A value.
struct WarmUpSample {
  uint32_t rows = 1;  // 1 where the model does not batch
  uint32_t runs = 1;  // how often it is run
  std::vector<WarmUpInput> inputs;

  bool operator==(const WarmUpSample&) const = default;
};

// The samples as JSON, as a LoadOrder carries them, and back. Bytes of `data` that are not UTF-8
// come through whole. INVALID_ARGUMENT for JSON that is not theirs. Pure.
nlohmann::json ToJson(const std::vector<WarmUpSample>& samples);
absl::StatusOr<std::vector<WarmUpSample>> WarmUpSamplesFromJson(const nlohmann::json& json);

}  // namespace mpsd
