// WarmUpSample: a request that a lane makes for itself before its first batch.
//
//   config.pbtxt ─▶ front end: reads the data files ─▶ LoadOrder ─▶ worker ─▶ each lane runs it
//
// Triton's `model_warmup` names such requests. The front end reads their data files, because a
// worker's sandbox forbids that, and sends them in the LoadOrder. Without a sample the lanes warm
// up with zeros (warm_up.h), which some models refuse. Nobody gets the answers.
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

inline constexpr size_t kMaxWarmUpSamples = 64;           // per model
inline constexpr uint32_t kMaxWarmUpRuns = 1000;          // per sample
inline constexpr uint64_t kMaxWarmUpDataBytes = 2 << 20;  // for all samples of a model together

// The content of an input. kRandom: floats from 0 to 1, integers 0 and 1, short strings. kData: the
// content of the config's data file.
enum class WarmUpFill { kZero, kRandom, kData };

template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<WarmUpFill> = {"zero", "random", "data"};

// An input of a sample. Datatype and dims are from Triton's config. Whether the model has such an
// input is checked when the lane runs the sample. A value.
struct WarmUpInput {
  std::string name;
  DataType datatype = DataType::kInvalid;
  Dims dims;  // dims of one row
  WarmUpFill fill = WarmUpFill::kZero;
  std::string data;  // bytes of one row, repeated for all rows; empty unless kData

  bool operator==(const WarmUpInput&) const = default;
};

// The inputs of one request, all with the same number of rows. A value.
struct WarmUpSample {
  uint32_t rows = 1;  // 1 if the model does not batch
  uint32_t runs = 1;  // how often the sample is run
  std::vector<WarmUpInput> inputs;

  bool operator==(const WarmUpSample&) const = default;
};

// The samples as JSON, as a LoadOrder carries them, and back. Bytes of `data` that are not UTF-8
// survive unchanged. INVALID_ARGUMENT for any other JSON. Pure.
nlohmann::json ToJson(const std::vector<WarmUpSample>& samples);
absl::StatusOr<std::vector<WarmUpSample>> WarmUpSamplesFromJson(const nlohmann::json& json);

}  // namespace mpsd
