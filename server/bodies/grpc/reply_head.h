// ReplyHead: the fields of an answer before its tensors.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace mpsd {

// Views of the request, for the writers of all transports.
struct ReplyHead {
  absl::string_view model;
  absl::string_view version;
  absl::string_view id;
  bool final_flag = false;  // tells whether this answer is the last
  bool is_final = true;
  uint64_t truncated_texts = 0;  // texts that were cut; told if above 0
};

}  // namespace mpsd
