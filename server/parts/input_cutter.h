// InputCutter: cuts rows of one input off its payload.
#pragma once

#include <cstdint>

#include "server/request/infer_message.h"
#include "server/request/payload_reader.h"
#include "server/request/request.h"

namespace mpsd {

// Goes through the rows in order. Copies no bytes: its payloads are views of the client's. A value
// on the stack of the thread that admits the request; input and payload outlive it.
// Thread-compatible.
class InputCutter {
 public:
  // An input that is left out has rows without bytes. REQUIRES: the input is checked, and has
  // `rows` rows, at least one.
  InputCutter(const RequestInput& input, uint32_t rows);

  // The next rows. REQUIRES: that many are left.
  Payload Take(uint32_t rows);

 private:
  uint64_t BytesOf(uint32_t rows);

  PayloadReader rows_;
  PayloadReader lengths_;  // for BYTES: stands behind the rows already taken
  const bool is_strings_;
  uint64_t row_elements_ = 1;  // for BYTES
  uint64_t row_bytes_ = 0;     // for all others
};

}  // namespace mpsd
