#include "proto/link/census.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

using Count = uint32_t Census::*;

constexpr std::pair<const char*, Count> kCounts[] = {
    {"operators", &Census::operators},     {"layer_norm", &Census::layer_norm},
    {"attention", &Census::attention},     {"linear", &Census::linear},
    {"convolution", &Census::convolution}, {"matmul", &Census::matmul},
    {"embedding", &Census::embedding},     {"recurrent", &Census::recurrent},
    {"contiguous", &Census::contiguous},
};

// An operator gets the first kind whose text its name contains.
constexpr std::pair<const char*, Count> kKinds[] = {
    {"layer_norm", &Census::layer_norm}, {"attention", &Census::attention},
    {"multi_head", &Census::attention},  {"transformer_encoder", &Census::attention},
    {"linear", &Census::linear},         {"addmm", &Census::linear},
    {"conv", &Census::convolution},      {"embedding", &Census::embedding},
    {"lstm", &Census::recurrent},        {"gru", &Census::recurrent},
    {"rnn", &Census::recurrent},         {"contiguous", &Census::contiguous},
};

bool IsMatmul(absl::string_view name) {
  return name == "matmul" || name == "mm" || name == "bmm" || name == "einsum" || name == "baddbmm";
}

// "aten::linear" and "aten.linear.default" become "linear".
absl::string_view BareName(absl::string_view name) {
  for (const absl::string_view space : {"aten::", "aten.", "torch.ops.aten."}) {
    if (absl::StartsWith(name, space)) {
      name.remove_prefix(space.size());
      break;
    }
  }
  return name.substr(0, name.find('.'));
}

}  // namespace

void CountOperator(const std::string& name, Census* census) {
  ++census->operators;
  const absl::string_view bare = BareName(name);
  for (const auto& [part, count] : kKinds) {
    if (!absl::StrContains(bare, part)) continue;
    ++(census->*count);
    return;
  }
  if (IsMatmul(bare)) ++census->matmul;
}

nlohmann::json ToJson(const Census& census) {
  nlohmann::json json = {{"known", census.known},
                         {"parameter_bytes", census.parameter_bytes},
                         {"parameter_dtypes", census.parameter_dtypes}};
  for (const auto& [name, count] : kCounts) json[name] = census.*count;
  return json;
}

absl::StatusOr<Census> CensusFromJson(const nlohmann::json& json) {
  const absl::Status malformed = absl::InvalidArgumentError("a malformed census");
  if (!json.is_object()) return malformed;
  Census census;
  const auto known = json.find("known");
  if (known != json.end() && !known->is_boolean()) return malformed;
  census.known = known == json.end() || known->get<bool>();
  for (const auto& [name, count] : kCounts) {
    const auto found = json.find(name);
    if (found == json.end()) continue;
    if (!found->is_number_unsigned() || found->get<uint64_t>() > UINT32_MAX) return malformed;
    census.*count = found->get<uint32_t>();
  }
  const auto bytes = json.find("parameter_bytes");
  if (bytes != json.end()) {
    if (!bytes->is_number_unsigned()) return malformed;
    census.parameter_bytes = bytes->get<uint64_t>();
  }
  const auto dtypes = json.find("parameter_dtypes");
  if (dtypes == json.end()) return census;
  if (!dtypes->is_array() || dtypes->size() > kMaxTensors) return malformed;
  for (const nlohmann::json& dtype : *dtypes) {
    if (!dtype.is_string()) return malformed;
    census.parameter_dtypes.push_back(dtype.get<std::string>());
  }
  return census;
}

}  // namespace mpsd
