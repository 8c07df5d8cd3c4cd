// Models that take texts, as far as the text routes look at them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/bodies/text_routes/text_model.h"

namespace mpsd {

// Takes tokens, in rows of at most eight, and gives these outputs.
inline std::shared_ptr<ServedModel> ServedOf(const std::string& name,
                                             std::vector<TensorSpec> outputs) {
  auto served = std::make_shared<ServedModel>();
  served->name = name;
  served->spec.max_batch_size = 4;
  served->spec.inputs = {{"input_ids", DataType::kInt64, {-1}},
                         {"attention_mask", DataType::kInt64, {-1}}};
  served->spec.outputs = std::move(outputs);
  served->spec.pad = {{"input_ids", 0, {4, 8}, 0, {}}};
  served->loaded = true;
  served->ready = true;
  return served;
}

inline std::shared_ptr<ServedModel> ServedEmbedder(const std::string& name, int64_t width = 3) {
  return ServedOf(name, {{"sentence_embedding", DataType::kFp32, {width}}});
}

inline std::shared_ptr<ServedModel> ServedScorer(const std::string& name, int64_t labels = 1) {
  return ServedOf(name,
                  {{"logits", DataType::kFp32, {labels}}, {"scores", DataType::kFp32, {labels}}});
}

}  // namespace mpsd
