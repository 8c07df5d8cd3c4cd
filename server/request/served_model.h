// ServedModel and ModelDirectory: which models there are, and how to reach them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/link/model_spec.h"
#include "server/request/request.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// One model and version as the request path sees it. Thread-safe: everything but the two atomics is
// constant once `ready` was true for the first time.
struct ServedModel {
  std::string name;
  std::string version = "1";
  std::string platform;                           // "pytorch_libtorch", "synthetic"
  std::map<std::string, std::string> parameters;  // from the config, for operators
  ModelSpec spec;                                 // complete once `ready` was true
  RequestQueue* queue = nullptr;
  ModelMetrics metrics;
  std::atomic<bool> ready{false};   // at least one worker serves it
  std::atomic<bool> loaded{false};  // the spec is known
};

// "x:FP32[-1,16] -> y:FP32[-1,4]", the batch dim included: how people are shown a spec.
std::string SpecText(const ModelSpec& spec);

// Thread-safe. The models never move and live as long as the directory.
class ModelDirectory {
 public:
  // REQUIRES: no model of that name is there; called before requests are taken.
  void Add(std::unique_ptr<ServedModel> model);

  // Null when there is none of that name.
  ServedModel* Find(absl::string_view name) const;

  const std::vector<std::unique_ptr<ServedModel>>& models() const { return models_; }

  // The daemon takes requests: from its start to the end of the lame-duck time.
  std::atomic<bool> accepting{false};
  // It was asked to end, and is not ready any more.
  std::atomic<bool> stopping{false};

  // True when requests are taken and every model is ready.
  bool AllReady() const;

 private:
  std::vector<std::unique_ptr<ServedModel>> models_;
  absl::flat_hash_map<std::string, ServedModel*> by_name_;
};

}  // namespace mpsd
