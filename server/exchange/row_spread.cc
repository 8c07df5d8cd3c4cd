#include "server/exchange/row_spread.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/check.h"
#include "server/request/string_elements.h"

namespace mpsd {
namespace {

// Nothing if the bytes end before the row's end.
std::optional<absl::string_view> TakeRow(const AnswerOutput& output, size_t elements,
                                         absl::string_view* bytes) {
  const absl::string_view whole = *bytes;
  if (output.datatype != DataType::kBytes) {
    const size_t row_bytes = ElementBytes(output.datatype) * elements;
    if (whole.size() < row_bytes) return std::nullopt;
    bytes->remove_prefix(row_bytes);
  }
  for (size_t i = 0; output.datatype == DataType::kBytes && i < elements; ++i) {
    if (!TakeString(bytes).has_value()) return std::nullopt;
  }
  return whole.substr(0, whole.size() - bytes->size());
}

std::optional<std::vector<absl::string_view>> RowsOf(const AnswerOutput& output) {
  size_t elements = 1;  // per row
  for (size_t i = 1; i < output.dims.size(); ++i) elements *= static_cast<size_t>(output.dims[i]);
  std::vector<absl::string_view> rows;
  absl::string_view rest = output.bytes;
  for (int64_t row = 0; row < output.dims[0]; ++row) {
    const std::optional<absl::string_view> taken = TakeRow(output, elements, &rest);
    if (!taken.has_value()) return std::nullopt;
    rows.push_back(*taken);
  }
  return rows;
}

// At most `bytes_max` bytes together.
absl::Status Spread(absl::Span<const uint32_t> row_of_text, uint64_t bytes_max,
                    const std::vector<absl::string_view>& rows, std::string* bytes) {
  uint64_t total = 0;
  for (const uint32_t row : row_of_text) {
    MPSD_CHECK(row < rows.size());
    total += rows[row].size();
  }
  if (total > bytes_max) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the outputs take ", total, " bytes, more than the largest message, limits.message"));
  }
  bytes->reserve(total);
  for (const uint32_t row : row_of_text) bytes->append(rows[row].data(), rows[row].size());
  return absl::OkStatus();
}

}  // namespace

absl::Status SpreadRows(absl::Span<const uint32_t> row_of_text, uint64_t bytes_max, Answer* answer,
                        std::deque<std::string>* storage) {
  answer->memory = nullptr;
  uint64_t left = bytes_max;
  for (AnswerOutput& output : answer->outputs) {
    MPSD_CHECK(!output.dims.empty());
    const std::optional<std::vector<absl::string_view>> rows = RowsOf(output);
    if (!rows.has_value()) {
      return absl::InternalError(
          absl::StrCat("the bytes of output '", output.name, "' are not those of its rows"));
    }
    std::string& bytes = storage->emplace_back();
    if (absl::Status status = Spread(row_of_text, left, *rows, &bytes); !status.ok()) return status;
    left -= bytes.size();
    output.bytes = bytes;
    output.dims[0] = static_cast<int64_t>(row_of_text.size());
  }
  return absl::OkStatus();
}

}  // namespace mpsd
