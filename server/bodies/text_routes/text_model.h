// TextModel: a served model as the text routes see it.
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

namespace mpsd {

// A generation with a task for texts or tokens. A value, which keeps the generation alive. A task
// has one from the reading of its body until its reply is written. So the generation that was found
// first words the reply, even if a reload has the request run on a later one.
struct TextModel {
  std::shared_ptr<ServedModel> served;
  ModelTask task = ModelTask::kEmbedding;  // never kAuto
  size_t output = 0;                       // index of the output with a row's vector or scores
  std::optional<size_t> raw_output;        // "logits", from which the scores were made
  size_t width = 0;                        // numbers in a row; 0: the spec leaves it open

  const std::string& name() const { return served->name; }
  const TensorSpec& output_spec() const { return served->spec.outputs[output]; }

  // The name of a row's class; "LABEL_n" without one.
  std::string LabelOf(size_t index) const;
};

// The generation's task with texts. Nothing if it takes none, its output is no row of FP32, or
// neither config nor file says a task and the outputs do not tell:
//
//   an output named                      of a row      task
//   sentence_embedding or embedding      any width     embedding
//   scores or score                      one number    rerank
//                                        several       classify
//
// With a task in the config or file the only output counts, whatever its name. REQUIRES: it is
// loaded. Pure.
std::optional<TextModel> TextModelOf(std::shared_ptr<ServedModel> served);

// Limit of tokens in a row, special ones included; and whether a longer text is cut unless the
// client says otherwise. Pure.
size_t MostTokens(const TextModel& model);
bool CutsByDefault(const TextModel& model);

// All loaded models of the directory with a task, each name once, in the directory's order.
// Thread-safe.
std::vector<TextModel> AllTextModels(const ModelDirectory& models);

// The model that a client names. Errors as FindServed(). Also INVALID_ARGUMENT if the model serves
// no texts, UNAVAILABLE if it is not loaded yet. Thread-safe.
absl::StatusOr<TextModel> FindTextModel(const ModelDirectory& models, absl::string_view name);

}  // namespace mpsd
