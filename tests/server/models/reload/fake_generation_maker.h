// FakeGenerationMaker: generations without workers, whose fate the test decides.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "server/models/reload/generation_maker.h"

namespace mpsd {

// Thread-safe.
class FakeGenerationMaker final : public GenerationMaker {
 public:
  struct Started {
    ModelConfig model;
    size_t model_count;
    std::weak_ptr<ServedModel> generation;
  };

  std::shared_ptr<ServedModel> Start(const ModelConfig& model, absl::Span<const ModelConfig> others,
                                     std::shared_ptr<ModelMetrics> counters) override {
    auto generation = std::make_shared<ServedModel>(std::move(counters));
    generation->name = model.name;
    generation->version = model.version;
    absl::MutexLock lock(&mu_);
    started_.push_back({model, others.size() + 1, generation});
    alive_.push_back(generation);
    return generation;
  }

  // A model whose parameter "fail" is set fails with it; one with "hang" waits for the giving up.
  absl::Status WaitUntilServing(const ServedModel& model,
                                const std::function<bool()>& give_up) override {
    const std::map<std::string, std::string> parameters = Parameters(model);
    if (parameters.count("fail") > 0) return absl::InternalError(parameters.at("fail"));
    while (parameters.count("hang") > 0) {
      if (give_up()) return absl::CancelledError("nobody waits");
      absl::MutexLock lock(&mu_);
      hangs_ = true;
      mu_.AwaitWithTimeout(absl::Condition(&released_), absl::Milliseconds(5));
      if (released_) break;
    }
    const_cast<ServedModel&>(model).ready = true;
    return absl::OkStatus();
  }

  absl::Status Fault(const ServedModel& model) const override {
    absl::MutexLock lock(&mu_);
    const auto fault = faults_.find(model.name);
    return fault == faults_.end() ? absl::OkStatus() : fault->second;
  }

  void SetFault(const std::string& model, const absl::Status& fault) {
    absl::MutexLock lock(&mu_);
    faults_[model] = fault;
  }

  void Retire(const std::shared_ptr<ServedModel>& model) override {
    absl::MutexLock lock(&mu_);
    retired_.push_back(model);
    std::erase(alive_, model);
  }

  std::vector<Started> started() const {
    absl::MutexLock lock(&mu_);
    return started_;
  }

  // Not those that were released since.
  std::vector<std::shared_ptr<ServedModel>> retired() const {
    absl::MutexLock lock(&mu_);
    return retired_;
  }

  // The last request of all retired generations has ended.
  void ForgetRetired() {
    absl::MutexLock lock(&mu_);
    retired_.clear();
  }

  void WaitUntilOneHangs() {
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(&hangs_));
  }

  void Release() {
    absl::MutexLock lock(&mu_);
    released_ = true;
  }

 private:
  std::map<std::string, std::string> Parameters(const ServedModel& model) const {
    absl::MutexLock lock(&mu_);
    for (const Started& started : started_) {
      if (started.generation.lock().get() == &model) return started.model.parameters;
    }
    return {};
  }

  mutable absl::Mutex mu_;
  std::vector<Started> started_;
  std::map<std::string, absl::Status> faults_;
  std::vector<std::shared_ptr<ServedModel>> alive_;
  std::vector<std::shared_ptr<ServedModel>> retired_;
  bool hangs_ = false;
  bool released_ = false;
};

// A synthetic model of that name.
inline ModelConfig AModel(const std::string& name, const std::string& version = "1") {
  ModelConfig model;
  model.name = name;
  model.version = version;
  model.format = ModelFormat::kSynthetic;
  return model;
}

inline ModelConfig With(ModelConfig model, const std::string& key, const std::string& value) {
  model.parameters[key] = value;
  return model;
}

}  // namespace mpsd
