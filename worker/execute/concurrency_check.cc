#include "worker/execute/concurrency_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/barrier.h"
#include "worker/model/elements.h"
#include "worker/model/trial_dims.h"

namespace mpsd {
namespace {

constexpr uint32_t kMaxRows = 4;
constexpr int kRounds = 8;

struct KeptOutput {
  DataType datatype = DataType::kInvalid;
  std::string bytes;
};

// Keeps the outputs of one run.
class KeepingSink final : public OutputSink {
 public:
  void* Add(DataType datatype, absl::Span<const int64_t> dims) override {
    return Keep(datatype, TensorBytes(datatype, dims).value_or(0));
  }
  void* AddBytes(absl::Span<const int64_t>, uint64_t bytes) override {
    return Keep(DataType::kBytes, bytes);
  }
  void FailRow(uint32_t, absl::string_view) override {}

  std::vector<std::unique_ptr<KeptOutput>> outputs;

 private:
  void* Keep(DataType datatype, uint64_t bytes) {
    outputs.push_back(std::make_unique<KeptOutput>());
    outputs.back()->datatype = datatype;
    outputs.back()->bytes.resize(bytes);
    return outputs.back()->bytes.data();
  }
};

// The largest relative difference of two runs that differ only in the order of their sums.
double Tolerance(DataType datatype) {
  switch (datatype) {
    case DataType::kFp64:
      return 1e-10;
    case DataType::kFp32:
      return 1e-4;
    case DataType::kFp16:
      return 1e-2;
    case DataType::kBf16:
      return 5e-2;
    default:
      return 0;
  }
}

bool Agree(const KeptOutput& a, const KeptOutput& b) {
  if (a.datatype != b.datatype || a.bytes.size() != b.bytes.size()) return false;
  if (a.bytes == b.bytes) return true;
  const double tolerance = Tolerance(a.datatype);
  const size_t element_bytes = ElementBytes(a.datatype);
  if (tolerance == 0 || element_bytes == 0) return false;
  for (size_t at = 0; at < a.bytes.size(); at += element_bytes) {
    const double left = ReadElement(a.datatype, a.bytes.data() + at);
    const double right = ReadElement(b.datatype, b.bytes.data() + at);
    if (std::isnan(left) && std::isnan(right)) continue;
    if (left == right) continue;
    const double scale = std::max({1.0, std::fabs(left), std::fabs(right)});
    if (!(std::fabs(left - right) <= tolerance * scale)) return false;
  }
  return true;
}

bool Agree(const KeepingSink& a, const KeepingSink& b) {
  return std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(),
                    [](const auto& left, const auto& right) { return Agree(*left, *right); });
}

// Small numbers: floats from 1 to 2; integers 0 and 1, which are valid indices of any table.
void Fill(DataType datatype, std::mt19937* random, std::string* bytes) {
  const size_t size = ElementBytes(datatype);
  for (size_t at = 0; size > 0 && at + size <= bytes->size(); at += size) {
    const uint32_t noise = (*random)();
    uint64_t bits = noise & 1;
    if (datatype == DataType::kFp32) bits = 0x3F800000U | (noise & 0x7FFFFF);
    if (datatype == DataType::kFp64) bits = 0x3FF0000000000000ULL | noise;
    if (datatype == DataType::kFp16) bits = 0x3C00U | (noise & 0x3FF);
    if (datatype == DataType::kBf16) bits = 0x3F80U | (noise & 0x7F);
    std::memcpy(bytes->data() + at, &bits, size);
  }
}

// One lane's inputs, and the outputs that the model gives for them when no other lane runs.
class Trial {
 public:
  Trial(const ModelSpec& spec, uint32_t lane)
      : rows_(spec.batches() ? std::min(spec.max_batch_size, kMaxRows) : 1), lane_(lane) {
    std::mt19937 random(lane + 1);
    for (const TensorSpec& tensor : spec.inputs) {
      InputTensor& input = inputs_.emplace_back();
      input.datatype = tensor.datatype;
      input.dims = TrialDims(spec, tensor, rows_, /*step=*/0, /*open_length=*/2);
      // Elements of BYTES are empty strings: a length of 0 each.
      const DataType fill =
          tensor.datatype == DataType::kBytes ? DataType::kUint32 : tensor.datatype;
      auto memory = std::make_unique<std::string>(TensorBytes(fill, input.dims).value_or(0), '\0');
      if (fill == tensor.datatype) Fill(fill, &random, memory.get());
      input.bytes = memory->size();
      input.data = memory->data();
      memory_.push_back(std::move(memory));
    }
  }

  absl::Status Run(Model* model, KeepingSink* sink) const {
    return model->Run(lane_, inputs_, rows_, sink);
  }

  KeepingSink expected;

 private:
  const uint32_t rows_;
  const uint32_t lane_;
  std::vector<InputTensor> inputs_;
  std::vector<std::unique_ptr<std::string>> memory_;
};

using Trials = std::vector<std::unique_ptr<Trial>>;

// Fills `expected` of each trial. Runs each lane's inputs twice, to find models that answer at
// random.
absl::Status RunAlone(Model* model, const Trials& trials) {
  for (uint32_t lane = 0; lane < trials.size(); ++lane) {
    if (absl::Status status = model->BindLane(lane); !status.ok()) return status;
    KeepingSink again;
    absl::Status status = trials[lane]->Run(model, &trials[lane]->expected);
    if (status.ok()) status = trials[lane]->Run(model, &again);
    model->ReleaseLane(lane);
    if (!status.ok()) {
      return absl::UnavailableError(
          absl::StrCat("the lanes cannot be compared: ", status.message()));
    }
    if (!Agree(trials[lane]->expected, again)) {
      return absl::UnavailableError(
          "the lanes cannot be compared: the model answers the same inputs differently each time");
    }
  }
  return absl::OkStatus();
}

absl::Status RunRounds(Model* model, const Trial& trial) {
  for (int round = 0; round < kRounds; ++round) {
    KeepingSink sink;
    const absl::Status status = trial.Run(model, &sink);
    if (!status.ok()) {
      return absl::AbortedError(
          absl::StrCat("lanes that run at the same time fail: ", status.message()));
    }
    if (!Agree(trial.expected, sink)) {
      return absl::AbortedError("lanes that run at the same time give other answers than alone");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckConcurrency(Model* model, uint32_t lanes) {
  if (lanes < 2) return absl::OkStatus();
  Trials trials;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    trials.push_back(std::make_unique<Trial>(model->spec(), lane));
  }
  absl::Status alone;
  std::thread([&] { alone = RunAlone(model, trials); }).join();
  if (!alone.ok()) return alone;

  std::vector<absl::Status> outcomes(lanes);
  std::vector<std::thread> threads;
  auto* together = new absl::Barrier(static_cast<int>(lanes));
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    threads.emplace_back([&, lane] {
      const absl::Status bound = model->BindLane(lane);
      if (together->Block()) delete together;
      outcomes[lane] = bound.ok() ? RunRounds(model, *trials[lane]) : bound;
      if (bound.ok()) model->ReleaseLane(lane);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& outcome : outcomes) {
    if (!outcome.ok()) return outcome;
  }
  return absl::OkStatus();
}

}  // namespace mpsd
