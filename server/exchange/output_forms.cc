#include "server/exchange/output_forms.h"

namespace mpsd {

absl::Status ApplyOutputForms(const TensorForms& forms, bool batches, RequestRegions* regions,
                              Answer* answer, std::deque<std::string>* storage) {
  const absl::Status status = Classify(forms.classes, batches, answer, storage);
  return status.ok() ? regions->Store(answer) : status;
}

}  // namespace mpsd
