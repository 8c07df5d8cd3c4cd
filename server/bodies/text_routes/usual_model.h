// UsualModel: the model for requests that name none.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/link/model_task.h"
#include "server/bodies/text_routes/text_model.h"
#include "server/bodies/text_routes/text_route.h"
#include "server/request/served_model.h"

namespace mpsd {

using MayUseModel = absl::FunctionRef<bool(absl::string_view name)>;

// Each task has one usual model:
//
//   1. the model whose config has the task in `default_for`
//   2. else the first model of that task, in the order of the directory: the config's at the start,
//      with models that a reload adds behind
//
// For /predict a classifier precedes a reranker. The routes /info and /tokenize take the first
// model of any task, /tokenize only one with a tokenizer. Models that the caller may not use are
// skipped if there are others.
//
//   UNAVAILABLE       a model that may be the one is still loading; with a time to come again, so
//                     that no other model answers in its place meanwhile. Or it has failed to load,
//                     and the config says that it is the one
//   INVALID_ARGUMENT  several models take texts, and none answers the route. A single one is found
//                     all the same, and its own refusal says what it does
//   NOT_FOUND         no model takes texts
//
// Thread-safe.
absl::StatusOr<TextModel> FindUsualModel(const ModelDirectory& models, TextRoute route,
                                         MayUseModel may_use);

struct UsualModel {
  ModelTask task = ModelTask::kEmbedding;
  std::string name;
  size_t model_count = 1;  // models with the task
};

// One for each loaded model's task. Thread-safe.
std::vector<UsualModel> UsualModels(const ModelDirectory& models, MayUseModel may_use);

}  // namespace mpsd
