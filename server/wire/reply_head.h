// ReplyHead: the fields of an answer that stand before its tensors.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace mpsd {

// Views of the request. The writers of all transports take it.
struct ReplyHead {
  absl::string_view model;
  absl::string_view version;
  absl::string_view id;
  bool final_flag = false;       // the answer says whether it is the request's last
  bool is_final = true;          // it is
  uint64_t truncated_texts = 0;  // of the request; the answer says how many, if any
};

}  // namespace mpsd
