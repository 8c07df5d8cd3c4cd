// mpsd-lane-bench: the ceiling for a worker's answers: lanes of one process without a front end.
//
// Run with:
//   mpsd-lane-bench FILE DEVICE LANES ROWS SECONDS [PARAMETER=VALUE…]
//   mpsd-lane-bench minilm cpu 1 32 3 length=16
//
//   register=off     does not register the read-only pages of the inputs with the device
//   length=N         an open dim is N long, not 32
//   graphs=off       lanes replay no recorded run
//   precision=bf16   computes in that precision
//   mixed=on         the mask keeps rows of all lengths: log-normal, 55 tokens in the mean and
//                    250 in the 99th percentile
//
// Prints JSON: batches, samples, tokens of the mask and input bytes a second.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <latch>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/synchronization/mutex.h"
#include "nlohmann/json.hpp"
#include "proto/base/limits.h"
#include "proto/base/platform.h"
#include "worker/load/load_model.h"
#include "worker/model/model.h"

namespace mpsd {
namespace {

constexpr int kExitUsage = 64;
constexpr int kExitBadModel = 65;

struct Options {
  LoadOrder order;
  uint32_t rows = 1;
  double seconds = 1;
  bool register_memory = true;
  int64_t open_length = 32;
  bool has_mixed_rows = false;
};

// At random, but equal in each run of the program.
void MixRows(int64_t* mask, int64_t rows, int64_t length) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> tokens(3.703, 0.78);
  for (int64_t row = 0; row < rows; ++row) {
    const auto kept = std::clamp<int64_t>(std::llround(tokens(random)), 1, length);
    std::fill(mask + row * length + kept, mask + (row + 1) * length, 0);
  }
}

class ReusedSink final : public OutputSink {
 public:
  void Begin() { next_ = 0; }
  void* Add(DataType datatype, absl::Span<const int64_t> dims) override {
    return Reserve(TensorBytes(datatype, dims).value_or(0));
  }
  void* AddBytes(absl::Span<const int64_t>, uint64_t bytes) override { return Reserve(bytes); }
  void FailRow(uint32_t, absl::string_view) override {}

 private:
  void* Reserve(uint64_t bytes) {
    if (next_ == memory_.size()) memory_.emplace_back();
    std::vector<char>& memory = memory_[next_++];
    if (memory.size() < bytes) memory.resize(bytes);
    return memory.data();
  }
  std::vector<std::vector<char>> memory_;
  size_t next_ = 0;
};

bool ReadParameter(const std::string& text, Options* options) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  if (name == "length") return absl::SimpleAtoi(value, &options->open_length);
  if (name == "precision") {
    const std::optional<Precision> precision = FromName<Precision>(value);
    if (precision.has_value()) options->order.precision = *precision;
    return precision.has_value();
  }
  if (name == "register") {
    options->register_memory = value != "off";
  } else if (name == "mixed") {
    options->has_mixed_rows = value != "off";
  } else {
    options->order.parameters[name] = value;
  }
  return true;
}

ModelFormat FormatOf(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return ModelFormat::kHuggingFace;
  return absl::EndsWith(path, ".pt2") ? ModelFormat::kAoti : ModelFormat::kTorchScript;
}

bool ReadArguments(int argc, char** argv, Options* options) {
  if (argc < 6) return false;
  LoadOrder& order = options->order;
  order.model = "bench";
  order.path = argv[1];
  order.format = FormatOf(order.path);
  order.device = argv[2];
  for (int i = 6; i < argc; ++i) {
    if (!ReadParameter(argv[i], options)) return false;
  }
  return absl::SimpleAtoi(argv[3], &order.lanes) && order.lanes > 0 && order.lanes <= kMaxLanes &&
         absl::SimpleAtoi(argv[4], &options->rows) && options->rows > 0 &&
         absl::SimpleAtod(argv[5], &options->seconds);
}

// One lane's inputs: zeros; INT64 are ones, so that a mask keeps all tokens. Lives on the lane's
// thread; the model outlives it.
class Inputs {
 public:
  Inputs(const Options& options, Model* model) : model_(model) {
    const ModelSpec& spec = model->spec();
    for (const TensorSpec& tensor : spec.inputs) {
      InputTensor& input = tensors_.emplace_back();
      input.datatype = tensor.datatype;
      if (spec.batches()) input.dims.push_back(options.rows);
      for (const int64_t dim : tensor.dims) {
        input.dims.push_back(dim < 0 ? options.open_length : dim);
      }
      input.bytes = TensorBytes(input.datatype, input.dims).value_or(0);
      const uint64_t mapped = std::max<uint64_t>(input.bytes, 1);
      void* data = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      if (input.datatype == DataType::kInt64) {
        std::fill_n(static_cast<int64_t*>(data), input.bytes / sizeof(int64_t), 1);
      }
      if (options.has_mixed_rows && tensor.name == "attention_mask") {
        MixRows(static_cast<int64_t*>(data), input.dims[0], input.dims[1]);
      }
      mprotect(data, mapped, PROT_READ);
      input.data = data;
      if (options.register_memory && model->memory() != nullptr) {
        model->memory()->RegisterMemory(input.data, input.bytes);
      }
    }
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;
  ~Inputs() {
    for (const InputTensor& input : tensors_) {
      if (model_->memory() != nullptr) model_->memory()->UnregisterMemory(input.data);
      munmap(const_cast<void*>(input.data), std::max<uint64_t>(input.bytes, 1));
    }
  }

  const std::vector<InputTensor>& tensors() const { return tensors_; }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const InputTensor& input : tensors_) sum += input.bytes;
    return sum;
  }
  int64_t tokens() const {
    int64_t sum = 0;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (model_->spec().inputs[i].name != "attention_mask") continue;
      const auto* const mask = static_cast<const int64_t*>(tensors_[i].data);
      sum += std::accumulate(mask, mask + tensors_[i].bytes / sizeof(int64_t), int64_t{0});
    }
    return sum;
  }

 private:
  Model* const model_;
  std::vector<InputTensor> tensors_;
};

// Makes the lane replay its runs, if the model can. False if the lane cannot go on.
bool Record(Model* model, uint32_t lane, const std::vector<InputTensor>& inputs, uint32_t rows) {
  if (model->recorder() == nullptr) return true;
  // One lane after another, each after runs that compile.
  static absl::Mutex mu(absl::kConstInit);
  absl::MutexLock lock(&mu);
  ReusedSink sink;
  for (int run = 0; run < 3; ++run) {
    sink.Begin();
    if (!model->Run(lane, inputs, rows, &sink).ok()) return false;
  }
  const absl::Status status = model->recorder()->Record(lane, inputs, rows);
  if (!status.ok()) {
    std::fprintf(stderr, "not recorded: %s\n", std::string(status.message()).c_str());
  }
  return !absl::IsDataLoss(status);
}

// Records, awaits the other lanes' records, warms up, then runs batches until `stop`.
void RunLane(Model* model, uint32_t lane, const Options& options, const std::atomic<bool>& stop,
             std::latch* recorded, std::atomic<uint32_t>* warm, std::atomic<uint64_t>* batches,
             bool* failed) {
  const Inputs inputs(options, model);
  ReusedSink sink;
  *failed = !model->BindLane(lane).ok() || !Record(model, lane, inputs.tensors(), options.rows);
  recorded->arrive_and_wait();
  for (uint64_t run = 0; !*failed && !stop; ++run) {
    sink.Begin();
    const absl::Status status = model->Run(lane, inputs.tensors(), options.rows, &sink);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
      *failed = true;
    }
    if (run == 5) warm->fetch_add(1);
    batches->fetch_add(1, std::memory_order_relaxed);
  }
  if (*failed) warm->fetch_add(1);
}

// Returns when a batch ends, because the measured time also began when one did. Failed lanes end no
// batch, so the wait lasts ten seconds at most.
void WaitForBatch(const std::atomic<uint64_t>& batches) {
  const uint64_t before = batches;
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (batches == before && std::chrono::steady_clock::now() < latest) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int Bench(const Options& options, Model* model) {
  const uint32_t lanes = options.order.lanes;
  std::atomic<bool> stop{false};
  std::latch recorded(lanes);
  std::atomic<uint32_t> warm{0};
  std::atomic<uint64_t> batches{0};
  std::vector<std::thread> threads;
  const auto failed = std::make_unique<bool[]>(lanes);
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    threads.emplace_back([&, lane] {
      RunLane(model, lane, options, stop, &recorded, &warm, &batches, &failed[lane]);
    });
  }
  while (warm < lanes) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const uint64_t first = batches;
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
  WaitForBatch(batches);
  const uint64_t count = batches - first;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  stop = true;
  for (std::thread& thread : threads) thread.join();
  if (std::any_of(failed.get(), failed.get() + lanes, [](bool lane) { return lane; })) return 1;
  const double rate = static_cast<double>(count) / took.count();
  const Inputs inputs(options, model);
  const nlohmann::ordered_json report = {
      {"model", options.order.path},
      {"device", model->traits().device},
      {"runtime", RuntimeName()},
      {"lanes", lanes},
      {"rows", options.rows},
      {"batches_per_second", rate},
      {"samples_per_second", rate * options.rows},
      {"tokens_per_second", rate * static_cast<double>(inputs.tokens())},
      {"input_bytes_per_second", rate * static_cast<double>(inputs.bytes())},
      {"resident_bytes", platform::ResidentMemoryBytes(getpid())}};
  std::printf("%s\n", report.dump().c_str());
  return 0;
}

int Main(int argc, char** argv) {
  Options options;
  if (!ReadArguments(argc, argv, &options)) {
    std::fprintf(stderr, "usage: mpsd-lane-bench FILE DEVICE LANES ROWS SECONDS [KEY=VALUE…]\n");
    return kExitUsage;
  }
  const absl::StatusOr<std::unique_ptr<Model>> model = LoadModel(options.order);
  if (model.ok()) return Bench(options, model->get());
  std::fprintf(stderr, "%s\n", std::string(model.status().message()).c_str());
  return kExitBadModel;
}

}  // namespace
}  // namespace mpsd

int main(int argc, char** argv) { return mpsd::Main(argc, argv); }
