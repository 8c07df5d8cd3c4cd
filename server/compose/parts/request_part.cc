#include "server/compose/parts/request_part.h"

namespace mpsd {
namespace {

const Payload& PayloadOf(const RequestInput& input) {
  static const Payload kNothing;
  return input.is_left_out() ? kNothing : *input.payload;
}

}  // namespace

InputCutter::InputCutter(const RequestInput& input, uint32_t rows)
    : rows_(PayloadOf(input)),
      lengths_(PayloadOf(input)),
      is_strings_(input.datatype == DataType::kBytes),
      row_bytes_(PayloadOf(input).bytes / rows) {
  for (const int64_t dim : input.dims) row_elements_ *= static_cast<uint64_t>(dim);
}

Payload InputCutter::Take(uint32_t rows) { return rows_.Take(BytesOf(rows)); }

// CheckStrings() has checked the payload, so each length is that of an element.
uint64_t InputCutter::BytesOf(uint32_t rows) {
  if (!is_strings_) return row_bytes_ * rows;
  const uint64_t before = lengths_.left();
  for (uint64_t i = 0; i < row_elements_ * rows; ++i) lengths_.Skip(lengths_.Length());
  return before - lengths_.left();
}

void RequestPart::Take(const Request& whole, uint32_t rows, absl::Span<InputCutter> cutters) {
  Request* const part = request();
  part->StandFor(whole);
  part->rows = rows;
  part->rows_behind = whole.rows_behind + whole.rows - first_row_ - rows;
  payloads_.resize(cutters.size());
  for (size_t i = 0; i < cutters.size(); ++i) {
    RequestInput& input = part->inputs[i];
    if (input.is_left_out()) continue;
    payloads_[i] = cutters[i].Take(rows);
    input.payload = &payloads_[i];
    if (input.datatype == DataType::kBytes) input.tensor_bytes = payloads_[i].bytes;
  }
}

}  // namespace mpsd
