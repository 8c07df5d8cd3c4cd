// InputCutter: cuts the rows of one input off its payload.
#pragma once

#include <cstdint>

#include "server/request/infer_message.h"
#include "server/request/payload_reader.h"
#include "server/request/request.h"

namespace mpsd {

// Goes through the rows from the first to the last. Copies none of their bytes: what it gives are
// views of the client's. A value on the stack of the thread that admits the request, whose input
// and payload outlive it. Thread-compatible.
class InputCutter {
 public:
  // An input that is left out has rows without bytes. REQUIRES: the input is checked, and `rows` is
  // the number of its rows, which is not 0.
  InputCutter(const RequestInput& input, uint32_t rows);

  // The next rows. REQUIRES: so many are left.
  Payload Take(uint32_t rows);

 private:
  uint64_t BytesOf(uint32_t rows);

  PayloadReader rows_;
  PayloadReader lengths_;  // of BYTES: stands behind the rows that were taken, as `rows_` does
  const bool is_strings_;
  uint64_t row_elements_ = 1;  // of BYTES
  uint64_t row_bytes_ = 0;     // of all others
};

}  // namespace mpsd
