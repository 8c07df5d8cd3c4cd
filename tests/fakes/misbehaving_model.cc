// The model of a malicious worker, linked with the worker's own main in place of the real models.
// It makes every attempt on the main thread while it is loaded, and again on the lane's thread in
// every run. Its answer is the outcomes of the attempts.
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/attempts.h"
#include "worker/load/load_model.h"
#include "worker/model/model.h"

namespace mpsd {
namespace {

std::vector<int64_t> MakeAttempts() {
  std::vector<int64_t> outcomes;
  for (const Attempt& attempt : Attempts()) outcomes.push_back(attempt.run());
  return outcomes;
}

// Thread-safe.
class MisbehavingModel final : public Model {
 public:
  explicit MisbehavingModel(ModelSpec spec) : Model(std::move(spec)), at_load_(MakeAttempts()) {}

  absl::Status Run(uint32_t, absl::Span<const InputTensor>, uint32_t, OutputSink* sink) override {
    const std::vector<int64_t> at_run = MakeAttempts();
    const int64_t dims[] = {static_cast<int64_t>(at_run.size())};
    for (const std::vector<int64_t>* outcomes : {&at_load_, &at_run}) {
      void* target = sink->Add(DataType::kInt64, dims);
      if (target != nullptr) std::memcpy(target, outcomes->data(), outcomes->size() * 8);
    }
    return absl::OkStatus();
  }

 private:
  const std::vector<int64_t> at_load_;
};

}  // namespace

absl::Status StartRuntime(const LoadOrder&) { return absl::OkStatus(); }

absl::StatusOr<std::unique_ptr<Model>> LoadModel(const LoadOrder& order) {
  ModelSpec spec;
  spec.inputs = order.spec.inputs;
  const auto count = static_cast<int64_t>(Attempts().size());
  spec.outputs = {{"at_load", DataType::kInt64, {count}}, {"at_run", DataType::kInt64, {count}}};
  return std::make_unique<MisbehavingModel>(std::move(spec));
}

absl::StatusOr<FolderPlan> PlanOfFolder(const std::string&) {
  return absl::UnimplementedError("it reads no folders");
}

uint32_t BearableLanes(const Model&, uint32_t wanted, std::string*) { return wanted; }
DriverGuard GuardOfDriver(const std::string&, std::string*) { return DriverGuard::kNone; }
std::string RuntimeName() { return "misbehaving"; }
std::string LoadedRuntimeKindName() { return "misbehaving"; }
std::string LoadedRuntimePath() { return ""; }
std::vector<std::string> GpuAddresses() { return {}; }

std::vector<std::string> UsableDevices() { return {"cpu"}; }

std::string PassedOver() { return ""; }

}  // namespace mpsd
