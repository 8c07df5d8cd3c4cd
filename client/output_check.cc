#include "client/output_check.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"

namespace mpsd::client {

absl::Status CheckOutput(const InferOutput& output, absl::string_view datatype) {
  if (output.datatype == DataType::kInvalid) {
    return absl::InternalError(absl::StrCat("the answer's output '", output.name,
                                            "' is of unknown datatype '", datatype, "'"));
  }
  if (output.datatype == DataType::kBytes) return absl::OkStatus();
  const std::optional<uint64_t> expected = TensorBytes(output.datatype, output.shape);
  const uint64_t bytes_there =
      output.range.region.empty() ? output.bytes.size() : output.range.bytes;
  if (expected == bytes_there) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the answer's output '", output.name, "' is ", datatype,
                                          ShapeText(output.shape), " in ", bytes_there, " bytes"));
}

}  // namespace mpsd::client
