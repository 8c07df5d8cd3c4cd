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

// A generation that makes something of texts or of tokens. A value, which keeps the generation
// alive. A task has one from the reading of its body until its reply is written: the reply is
// worded by the generation that was found first, also where a reload has the request run on a later
// one.
struct TextModel {
  std::shared_ptr<ServedModel> served;
  ModelTask task = ModelTask::kEmbedding;  // never kAuto
  size_t output = 0;                       // of the spec: the vector or the scores of a row
  std::optional<size_t> raw_output;        // "logits", of which the scores were made
  size_t width = 0;                        // numbers of a row; 0: the spec leaves it open

  const std::string& name() const { return served->name; }
  const TensorSpec& output_spec() const { return served->spec.outputs[output]; }

  // The names of a row's classes, each of which is "LABEL_n" where nobody has named it.
  std::string LabelOf(size_t index) const;
};

// What the generation makes of texts; nothing where it takes none, where its output is no row of
// FP32, or where neither the config nor its file says a task, nor the outputs tell:
//
//   an output named                      of a row      task
//   sentence_embedding or embedding      any width     embedding
//   scores or score                      one number    rerank
//                                        several       classify
//
// With a task in the config or the file the only output counts, whatever its name. REQUIRES: it is
// loaded. Pure.
std::optional<TextModel> TextModelOf(std::shared_ptr<ServedModel> served);

// The most tokens of a row, special ones included; and whether a longer text is cut where the
// client says nothing of that. Pure.
size_t MostTokens(const TextModel& model);
bool CutsByDefault(const TextModel& model);

// All models of the directory that are loaded and have a task, each name once, in the directory's
// order. Thread-safe.
std::vector<TextModel> AllTextModels(const ModelDirectory& models);

// The model that a client names. Errors as FindServed(), and INVALID_ARGUMENT: the model serves no
// texts; UNAVAILABLE: it is not loaded yet. Thread-safe.
absl::StatusOr<TextModel> FindTextModel(const ModelDirectory& models, absl::string_view name);

}  // namespace mpsd
