// mpsd-bare-loop: the ceiling for throughput at a batch size: a TorchScript model in a loop.
//
// Run with:
//   OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
//     mpsd-bare-loop --model mlp.pt --input 'FP32[1024]' --batches 1,8,64
//
// Prints JSON: samples a second by batch size, the median of the runs. Exit status 65: a model that
// is missing or does not run.

#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kExitBadModel = 65;

struct Options {
  std::string model;
  std::vector<std::string> inputs;
  std::vector<int64_t> batches = {1, 8, 64};
  int lanes = 1;
  int runs = 5;
  double seconds = 1;
};

// Without its batch dim: "INT64[30]", "FP32[3,224,224]", "FP32[]".
struct Input {
  at::ScalarType type = at::kFloat;
  std::vector<int64_t> dims;
};

std::optional<Input> ParseInput(const std::string& text) {
  static const std::map<std::string, at::ScalarType> types = {
      {"FP32", at::kFloat}, {"FP64", at::kDouble}, {"INT64", at::kLong}, {"INT32", at::kInt}};
  const size_t open = text.find('[');
  const auto type = types.find(text.substr(0, open));
  if (open == std::string::npos || type == types.end() || text.back() != ']') return std::nullopt;
  Input input{type->second, {}};
  const std::string dims = text.substr(open + 1, text.size() - open - 2);
  for (const std::string& dim : CLI::detail::split(dims, ',')) {
    if (dim.empty()) continue;
    input.dims.emplace_back();
    if (!CLI::detail::lexical_cast(dim, input.dims.back()) || input.dims.back() < 0) {
      return std::nullopt;
    }
  }
  return input;
}

// A check for CLI11: the text's fault, or "".
std::string InputFault(const std::string& text) {
  return ParseInput(text).has_value() ? "" : "not DTYPE[dims]: '" + text + "'";
}

std::vector<c10::IValue> MakeBatch(const std::vector<Input>& inputs, int64_t rows) {
  std::vector<c10::IValue> batch;
  for (const Input& input : inputs) {
    std::vector<int64_t> dims = {rows};
    dims.insert(dims.end(), input.dims.begin(), input.dims.end());
    batch.emplace_back(at::ones(dims, at::TensorOptions().dtype(input.type)));
  }
  return batch;
}

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Returns samples a second.
double RunLane(const torch::jit::Module& model, const std::vector<c10::IValue>& batch, int64_t rows,
               double seconds) {
  const c10::InferenceMode inference;
  torch::jit::Module module = model;
  const auto begin = std::chrono::steady_clock::now();
  int64_t samples = 0;
  double passed = 0;
  do {
    module.forward(batch);
    samples += rows;
    passed = SecondsSince(begin);
  } while (passed < seconds);
  return static_cast<double>(samples) / passed;
}

double RunLanes(const Options& options, const torch::jit::Module& model,
                const std::vector<c10::IValue>& batch, int64_t rows, double seconds) {
  std::vector<double> rates(static_cast<size_t>(options.lanes));
  std::vector<std::thread> threads;
  for (double& rate : rates) {
    threads.emplace_back([&] { rate = RunLane(model, batch, rows, seconds); });
  }
  double sum = 0;
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i].join();
    sum += rates[i];
  }
  return sum;
}

// With a worker's settings: nothing is recorded, specialized or fused while the model runs.
torch::jit::Module Load(const std::string& path) {
  torch::jit::getProfilingMode() = false;
  torch::jit::FusionStrategy none = {{torch::jit::FusionBehavior::STATIC, 0}};
  torch::jit::setFusionStrategy(none);
  torch::jit::Module model = torch::jit::load(path, at::kCPU);
  model.eval();
  return torch::jit::freeze(model);
}

// The run before the lanes shows whether the model runs: lanes catch no exception.
void Run(const Options& options) {
  std::vector<Input> inputs;
  for (const std::string& text : options.inputs) inputs.push_back(*ParseInput(text));
  const torch::jit::Module model = Load(options.model);
  std::string rates;
  for (const int64_t rows : options.batches) {
    const std::vector<c10::IValue> batch = MakeBatch(inputs, rows);
    RunLane(model, batch, rows, 0);
    RunLanes(options, model, batch, rows, 0.2);  // warm
    std::vector<double> runs;
    for (int i = 0; i < options.runs; ++i) {
      runs.push_back(RunLanes(options, model, batch, rows, options.seconds));
    }
    std::sort(runs.begin(), runs.end());
    rates += (rates.empty() ? "\"" : ", \"") + std::to_string(rows) +
             "\": " + std::to_string(runs[runs.size() / 2]);
  }
  std::printf("{\"lanes\": %d, \"samples_per_second\": {%s}}\n", options.lanes, rates.c_str());
}

// When libtorch loads, the fault comes first; when it runs, last, below a trace of the model.
std::string FaultLine(const std::exception& error) {
  const auto* const loading = dynamic_cast<const c10::Error*>(&error);
  const std::string text = loading != nullptr ? loading->what_without_backtrace() : error.what();
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "libtorch does not say what is wrong";
  if (loading != nullptr) return text.substr(0, text.find('\n'));
  const size_t before = text.find_last_of('\n', end);
  return text.substr(before + 1, end - before);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Runs a TorchScript model in a loop.");
  app.add_option("--model", options.model, "TorchScript archive")->required();
  app.add_option("--input", options.inputs, "DTYPE[dims] without the batch dim; repeat in order")
      ->required()
      ->take_all()
      ->check(InputFault);
  app.add_option("--batches", options.batches, "batch sizes")->delimiter(',');
  app.add_option("--lanes", options.lanes, "threads")->check(CLI::Range(1, 64));
  app.add_option("--runs", options.runs, "runs of each batch size")->check(CLI::Range(1, 100));
  app.add_option("--seconds", options.seconds, "length of a run")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  at::set_num_threads(1);
  at::set_num_interop_threads(1);
  try {
    Run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mpsd-bare-loop: %s: %s\n", options.model.c_str(),
                 FaultLine(error).c_str());
    return kExitBadModel;
  }
  return 0;
}
