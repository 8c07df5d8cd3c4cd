#include "proto/link/token_places.h"

#include <string_view>

namespace mpsd {
namespace {

std::optional<size_t> FindRow(const ModelSpec& spec, std::string_view name) {
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const TensorSpec& input = spec.inputs[i];
    if (input.name != name) continue;
    const bool takes_ids = input.datatype == DataType::kInt64 || input.datatype == DataType::kInt32;
    const bool is_row = input.dims.size() == 1 && !input.client_dims.has_value();
    return takes_ids && is_row ? std::optional<size_t>(i) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<TokenPlaces> FindTokenPlaces(const ModelSpec& spec) {
  const std::optional<size_t> ids = FindRow(spec, "input_ids");
  const std::optional<size_t> mask = FindRow(spec, "attention_mask");
  if (!spec.batches() || !ids.has_value() || !mask.has_value()) return std::nullopt;
  return TokenPlaces{*ids, *mask, FindRow(spec, "token_type_ids")};
}

}  // namespace mpsd
