#include "server/texts/told_inputs.h"

#include <algorithm>
#include <utility>

#include "server/texts/token_tensors.h"

namespace mpsd {

std::vector<TensorSpec> ToldInputs(const ServedModel& model) {
  std::vector<TensorSpec> inputs = model.spec.inputs;
  std::erase_if(inputs, [&](const TensorSpec& input) { return !model.IsAskedFor(input); });
  const bool has_text = std::any_of(inputs.begin(), inputs.end(),
                                    [](const TensorSpec& input) { return input.name == "text"; });
  if (!model.texts.ok() || has_text || !FindTokenPlaces(model.spec).has_value()) return inputs;
  std::vector<TensorSpec> told = {{"text", DataType::kBytes, {1}},
                                  {"text_pair", DataType::kBytes, {1}, /*optional=*/true}};
  for (TensorSpec& input : inputs) {
    input.optional = true;
    told.push_back(std::move(input));
  }
  return told;
}

}  // namespace mpsd
