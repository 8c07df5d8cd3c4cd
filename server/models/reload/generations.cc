#include "server/models/reload/generations.h"

#include <utility>

#include "proto/base/check.h"

namespace mpsd {

void Generations::Begin(const ModelConfig& model, absl::Span<const ModelConfig> others) {
  models_->Know(model.name, model.version);
  std::shared_ptr<ServedModel> generation = maker_->Start(model, others, CountersOf(model.key()));
  MPSD_CHECK(generation != nullptr);
  models_->Publish(generation);
  absl::MutexLock lock(&mu_);
  Known& known = known_[model.key()];
  MPSD_CHECK(known.generation == nullptr);
  known.source = known.model = model;
  known.generation = std::move(generation);
}

absl::Status Generations::Swap(const ModelConfig& source, const ModelConfig& model,
                               const GiveUp& give_up) {
  const ModelKey key = model.key();
  bool is_new = false;
  {
    absl::MutexLock lock(&mu_);
    const auto [known, added] = known_.try_emplace(key);
    is_new = added;
    if (added) known->second.source = known->second.model = source;
    known->second.loading = true;
  }
  const std::shared_ptr<ServedModel> candidate =
      maker_->Start(model, ServedBeside(key), CountersOf(key));
  const absl::Status status = maker_->WaitUntilServing(*candidate, give_up);
  if (!status.ok()) {
    maker_->Retire(candidate);
    absl::MutexLock lock(&mu_);
    const auto known = known_.find(key);
    MPSD_CHECK(known != known_.end() && known->second.loading);
    known->second.loading = false;
    known->second.reason = std::string(status.message());
    if (is_new) known_.erase(known);
    return status;
  }
  models_->Know(key.name, key.version);
  const std::shared_ptr<ServedModel> old = models_->Publish(candidate);
  if (old != nullptr) maker_->Retire(old);
  absl::MutexLock lock(&mu_);
  known_[key] = {source, model, candidate, {}, false, ""};
  return status;
}

void Generations::Unload(const ModelKey& key) {
  std::shared_ptr<ServedModel> generation;
  {
    absl::MutexLock lock(&mu_);
    const auto known = known_.find(key);
    if (known == known_.end() || known->second.generation == nullptr) return;
    generation = std::exchange(known->second.generation, nullptr);
    known->second.leaving = generation;
    known->second.reason = kUnloadedReason;
  }
  models_->Withdraw(*generation);
  maker_->Retire(generation);
}

void Generations::Remove(const ModelKey& key) {
  models_->Forget(key.name, key.version);
  Unload(key);
  absl::MutexLock lock(&mu_);
  known_.erase(key);
}

void Generations::Know(const ModelConfig& source, const std::string& reason) {
  models_->Know(source.name, source.version);
  absl::MutexLock lock(&mu_);
  Known& known = known_[source.key()];
  known.source = source;
  known.reason = reason;
}

bool Generations::IsServed(const ModelKey& key) const {
  absl::MutexLock lock(&mu_);
  const auto known = known_.find(key);
  return known != known_.end() && known->second.generation != nullptr;
}

bool Generations::HasFailed(const ModelKey& key) const {
  absl::MutexLock lock(&mu_);
  const auto known = known_.find(key);
  if (known == known_.end() || known->second.generation == nullptr) return false;
  return absl::IsFailedPrecondition(maker_->Fault(*known->second.generation));
}

bool Generations::IsUpToDate(const ModelConfig& model) const {
  absl::MutexLock lock(&mu_);
  const auto known = known_.find(model.key());
  return known != known_.end() && known->second.generation != nullptr &&
         known->second.generation->IsReady() && known->second.model == model;
}

std::vector<ModelConfig> Generations::Sources() const {
  std::vector<ModelConfig> sources;
  absl::MutexLock lock(&mu_);
  for (const auto& [key, known] : known_) sources.push_back(known.source);
  return sources;
}

std::vector<ModelConfig> Generations::Sources(const std::string& name) const {
  std::vector<ModelConfig> sources = Sources();
  std::erase_if(sources, [&name](const ModelConfig& source) { return source.name != name; });
  return sources;
}

std::vector<ModelListing> Generations::List() const {
  std::vector<ModelListing> listings;
  absl::MutexLock lock(&mu_);
  for (const auto& [key, known] : known_) {
    listings.push_back(ListingOf(key, known));
  }
  return listings;
}

ModelListing Generations::ListingOf(const ModelKey& key, const Known& known) const {
  ModelListing listing = {key.name, key.version, "READY", known.reason};
  if (known.generation != nullptr && known.generation->IsReady()) return listing;
  listing.state = "LOADING";
  if (known.loading) return listing;
  if (known.generation == nullptr) {
    listing.state = known.leaving.expired() ? "UNAVAILABLE" : "UNLOADING";
    return listing;
  }
  const absl::Status fault = maker_->Fault(*known.generation);
  if (fault.ok()) return listing;
  listing.state = "UNAVAILABLE";
  listing.reason = std::string(fault.message());
  return listing;
}

// The other models that serve or are starting.
std::vector<ModelConfig> Generations::ServedBeside(const ModelKey& key) const {
  std::vector<ModelConfig> others;
  absl::MutexLock lock(&mu_);
  for (const auto& [other, known] : known_) {
    if (other == key || (known.generation == nullptr && !known.loading)) continue;
    others.push_back(known.generation != nullptr ? known.model : known.source);
  }
  return others;
}

std::shared_ptr<ModelMetrics> Generations::CountersOf(const ModelKey& key) {
  absl::MutexLock lock(&mu_);
  std::erase_if(counters_, [](const auto& entry) { return entry.second.expired(); });
  std::shared_ptr<ModelMetrics> counters = counters_[key].lock();
  if (counters != nullptr) return counters;
  counters = std::make_shared<ModelMetrics>();
  counters->model = key.name;
  counters->version = key.version;
  counters_[key] = counters;
  return counters;
}

}  // namespace mpsd
