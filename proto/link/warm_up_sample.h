// WarmUpSample: a request that a lane makes for itself before its first batch.
//
//   config.pbtxt ─▶ front end: reads the data files ─▶ LoadOrder ─▶ worker ─▶ each lane runs it
//
// Triton's `model_warmup` names them. A worker's sandbox forbids the data files. Some models refuse
// zeros (warm_up.h). Nobody gets the answers.
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
inline constexpr uint64_t kMaxWarmUpDataBytes = 2 << 20;  // per model

// kRandom: floats from 0 to 1, integers 0 and 1, short strings. kData: the config's data file.
enum class WarmUpFill { kZero, kRandom, kData };

template <>
inline constexpr std::array<std::string_view, 3> kNamesOf<WarmUpFill> = {"zero", "random", "data"};

// Follows Triton's config; the lane finds out whether the model has such an input. A value.
struct WarmUpInput {
  std::string name;
  DataType datatype = DataType::kInvalid;
  Dims dims;  // dims of one row
  WarmUpFill fill = WarmUpFill::kZero;
  std::string data;  // bytes of one row, repeated; empty unless kData

  bool operator==(const WarmUpInput&) const = default;
};

// A request whose inputs have `rows` rows each. A value.
struct WarmUpSample {
  uint32_t rows = 1;  // 1 if the model does not batch
  uint32_t runs = 1;
  std::vector<WarmUpInput> inputs;

  bool operator==(const WarmUpSample&) const = default;
};

// A LoadOrder carries this form. Bytes of `data` that are not UTF-8 survive. INVALID_ARGUMENT for
// other JSON. Pure.
nlohmann::json ToJson(const std::vector<WarmUpSample>& samples);
absl::StatusOr<std::vector<WarmUpSample>> WarmUpSamplesFromJson(const nlohmann::json& json);

}  // namespace mpsd
