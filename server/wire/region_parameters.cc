#include "server/wire/region_parameters.h"

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

constexpr char kRegion[] = "shared_memory_region";
constexpr char kOffset[] = "shared_memory_offset";
constexpr char kByteSize[] = "shared_memory_byte_size";

std::string WrongType(absl::string_view name, absl::string_view tensor,
                      absl::string_view expected) {
  return absl::StrCat("invalid value type for '", name, "' parameter for tensor '", tensor,
                      "', expected ", expected, ".");
}

// Reads one of a region's numbers; leaves `number` as it is when the parameter is absent.
std::string ReadNumber(const ParameterMap& parameters, const char* name, absl::string_view tensor,
                       bool has_region, uint64_t* number) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return "";
  if (!has_region) {
    return absl::StrCat("'", name, "' can not be specified without '", kRegion,
                        "' parameter for tensor '", tensor, "'");
  }
  if (found->second.parameter_choice_case() != inference::InferParameter::kInt64Param) {
    return WrongType(name, tensor, "int64_param");
  }
  if (found->second.int64_param() < 0) {
    return absl::StrCat("invalid value for '", name, "' parameter for tensor '", tensor,
                        "', expected >= 0.");
  }
  *number = static_cast<uint64_t>(found->second.int64_param());
  return "";
}

}  // namespace

std::string ReadRegionUse(const ParameterMap& parameters, absl::string_view tensor,
                          RegionUse* use) {
  const auto region = parameters.find(kRegion);
  const bool has_region = region != parameters.end();
  if (has_region) {
    if (region->second.parameter_choice_case() != inference::InferParameter::kStringParam) {
      return WrongType(kRegion, tensor, "string_param");
    }
    use->region = region->second.string_param();
    if (use->region.empty()) {
      return absl::StrCat("'", kRegion, "' parameter for tensor '", tensor, "' is empty");
    }
  }
  std::string fault = ReadNumber(parameters, kOffset, tensor, has_region, &use->offset);
  if (!fault.empty()) return fault;
  fault = ReadNumber(parameters, kByteSize, tensor, has_region, &use->bytes);
  if (!fault.empty() || !has_region || parameters.contains(kByteSize)) return fault;
  return absl::StrCat("'", kByteSize, "' must be specified along with '", kRegion,
                      "' parameter for tensor '", tensor, "'");
}

}  // namespace mpsd
