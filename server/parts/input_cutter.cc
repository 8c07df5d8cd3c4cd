#include "server/parts/input_cutter.h"

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

}  // namespace mpsd
