// CopyingFiller: copies inputs to their rows as they are.
#pragma once

#include <algorithm>

#include "server/request/infer_message.h"
#include "server/request/request.h"

namespace mpsd {

// Pads nothing. Thread-safe.
class CopyingFiller final : public RowFiller {
 public:
  void Fill(const ModelSpec&, const Request& request, const RowTargets& targets) const override {
    for (size_t i = 0; i < request.inputs.size(); ++i) {
      char* target = targets.inputs[i];
      for (const absl::string_view piece : request.inputs[i].payload->pieces) {
        target = std::copy(piece.begin(), piece.end(), target);
      }
    }
  }
};

}  // namespace mpsd
