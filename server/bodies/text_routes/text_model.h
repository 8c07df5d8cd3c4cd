// TextModel: a served model, as the text routes see it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/link/model_task.h"
#include "server/request/served_model.h"
#include "server/request/text_policy.h"

namespace mpsd {

// Keeps the generation alive. A call's task has one until its reply is written. So the generation
// that was found first words the reply, even if the request runs on a later one.
struct TextModel {
  std::shared_ptr<ServedModel> served;
  ModelTask task = ModelTask::kEmbedding;
  size_t output = 0;                 // has a row's vector or scores
  std::optional<size_t> raw_output;  // "logits", from which scores were made
  size_t width = 0;                  // numbers in a row; 0: the spec leaves it open

  const std::string& name() const { return served->name; }
  const TensorSpec& output_spec() const { return served->spec.outputs[output]; }

  // "LABEL_n" for a class without a name.
  std::string LabelOf(size_t index) const;
};

// Nothing if the generation takes no texts, its output is no row of FP32, or neither config nor
// file says a task and the outputs do not tell:
//
//   an output named                      of a row      task
//   sentence_embedding or embedding      any width     embedding
//   scores or score                      one number    rerank
//                                        several       classify
//
// With a task in the config or file the only output counts, under any name. REQUIRES: it is loaded.
// Pure.
std::optional<TextModel> TextModelOf(std::shared_ptr<ServedModel> served);

// The most tokens in a row, with special ones; whether a longer text is cut by default, and at
// which end. Pure.
size_t MostTokens(const TextModel& model);
bool CutsByDefault(const TextModel& model);
TextSide CutSideByDefault(const TextModel& model);

// Loaded models with a task, each name once, in the directory's order. Thread-safe.
std::vector<TextModel> AllTextModels(const ModelDirectory& models);

// Errors as FindServed(). Also INVALID_ARGUMENT if the model serves no texts, UNAVAILABLE if it is
// not loaded yet. Thread-safe.
absl::StatusOr<TextModel> FindTextModel(const ModelDirectory& models, absl::string_view name);

}  // namespace mpsd
