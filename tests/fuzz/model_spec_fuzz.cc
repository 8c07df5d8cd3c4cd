// The JSON form of a model's spec, as it stands in archives and in control messages. A spec that is
// taken must come back as it was.
#include <cstdint>
#include <string>

#include "nlohmann/json.hpp"
#include "proto/base/check.h"
#include "proto/link/model_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  const std::string text(reinterpret_cast<const char*>(data), bytes);
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return 0;
  const absl::StatusOr<mpsd::ModelSpec> spec = mpsd::ModelSpecFromJson(json);
  if (!spec.ok()) return 0;
  const absl::StatusOr<mpsd::ModelSpec> again = mpsd::ModelSpecFromJson(mpsd::ToJson(*spec));
  MPSD_CHECK(again.ok() && *again == *spec);
  return 0;
}
