// ReplyHead: the fields of an answer before its tensors.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace mpsd {

// Views of the request. The writers of all transports take it.
struct ReplyHead {
  absl::string_view model;
  absl::string_view version;
  absl::string_view id;
  bool final_flag = false;       // tell the client whether this answer is the request's last
  bool is_final = true;          // this answer is the request's last
  uint64_t truncated_texts = 0;  // texts of the request that were cut; told if above 0
};

}  // namespace mpsd
