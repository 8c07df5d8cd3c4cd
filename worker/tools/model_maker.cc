#include "worker/tools/model_maker.h"

#include <cmath>
#include <functional>
#include <utility>

#include "ATen/CPUGeneratorImpl.h"
#include "ATen/TensorOperators.h"
#include "ATen/ops/randn.h"
#include "ATen/ops/zeros.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/link/model_spec.h"
#include "torch/csrc/jit/api/module.h"
#include "worker/model/foreign_errors.h"

namespace mpsd {
namespace {

constexpr uint64_t kSeed = 20;
constexpr uint32_t kDemoMaxBatch = 64;

// A model being built: its weights, and the lines of its forward.
class Builder {
 public:
  Builder() : generator_(at::detail::createCPUGenerator(kSeed)), module_("Model") {}

  // Small values keep activations level.
  void Weight(const std::string& name, const std::vector<int64_t>& dims) {
    int64_t fan_in = 1;
    for (size_t i = 1; i < dims.size(); ++i) fan_in *= dims[i];
    const double scale = std::sqrt(2.0 / static_cast<double>(fan_in));
    module_.register_parameter(name, at::randn(dims, generator_) * scale, /*is_buffer=*/false);
  }
  void Constant(const std::string& name, int64_t size, double value) {
    module_.register_parameter(name, at::zeros({size}) + value, /*is_buffer=*/false);
  }

  // `x = linear(x)` with new weights.
  void Linear(int64_t from, int64_t to) {
    const std::string name = absl::StrCat("linear", layers_++);
    Weight(name + "_w", {to, from});
    Constant(name + "_b", to, 0.01);
    Line(absl::StrCat("x = torch.linear(x, self.", name, "_w, self.", name, "_b)"));
  }
  void Buffer(const std::string& name, const std::vector<int64_t>& dims) {
    module_.register_buffer(name, at::zeros(dims));
  }
  void TrainingMode() { module_.register_attribute("training", c10::BoolType::get(), true); }
  void Line(absl::string_view line) { absl::StrAppend(&body_, "    ", line, "\n"); }

  void Save(absl::string_view signature, const ModelSpec& spec, const std::string& path) {
    module_.define(absl::StrCat("def forward(", signature, ":\n", body_));
    module_.save(path, {{"mpsd.json", ToJson(spec).dump()}});
  }

 private:
  const at::Generator generator_;
  torch::jit::Module module_;
  std::string body_;
  int layers_ = 0;
};

constexpr absl::string_view kTensorToTensor = "self, input: Tensor) -> Tensor";

ModelSpec OneToOne(Dims input, Dims output) {
  ModelSpec spec;
  spec.max_batch_size = kDemoMaxBatch;
  spec.inputs = {{"input", DataType::kFp32, std::move(input)}};
  spec.outputs = {{"output", DataType::kFp32, std::move(output)}};
  return spec;
}

void MakeIdentity(const std::string& path) {
  Builder builder;
  builder.Line("return input");
  builder.Save(kTensorToTensor, OneToOne({256}, {256}), path);
}

void MakeMlp(const std::vector<int64_t>& widths, const std::string& path) {
  Builder builder;
  builder.Line("x = input");
  for (size_t i = 1; i < widths.size(); ++i) {
    builder.Linear(widths[i - 1], widths[i]);
    builder.Line("x = torch.relu(x)");
  }
  builder.Line("return x");
  builder.Save(kTensorToTensor, OneToOne({widths.front()}, {widths.back()}), path);
}

void MakeConv(const std::string& path) {
  Builder builder;
  builder.Weight("conv1", {16, 3, 3, 3});
  builder.Constant("bias1", 16, 0.01);
  builder.Weight("conv2", {32, 16, 3, 3});
  builder.Constant("bias2", 32, 0.01);
  builder.Line("x = torch.relu(torch.conv2d(input, self.conv1, self.bias1, [1, 1], [1, 1]))");
  builder.Line("x = torch.max_pool2d(x, [2, 2])");
  builder.Line("x = torch.relu(torch.conv2d(x, self.conv2, self.bias2, [1, 1], [1, 1]))");
  builder.Line("x = torch.max_pool2d(x, [2, 2])");
  builder.Line("x = torch.flatten(x, 1)");
  builder.Linear(32 * 8 * 8, 10);
  builder.Line("return x");
  builder.Save(kTensorToTensor, OneToOne({3, 32, 32}, {10}), path);
}

// Two layers of a pre-norm encoder: 64 wide, 4 heads.
void MakeTransformer(const std::string& path) {
  Builder builder;
  builder.Constant("norm_w", 64, 1);
  builder.Constant("norm_b", 64, 0);
  builder.Line("batch, length = input.size(0), input.size(1)");
  builder.Line("kept = input");
  for (int layer = 0; layer < 2; ++layer) {
    builder.Line("x = torch.layer_norm(kept, [64], self.norm_w, self.norm_b)");
    builder.Linear(64, 3 * 64);
    builder.Line("q, k, v = torch.unbind(x.view(batch, length, 3, 4, 16).permute(2, 0, 3, 1, 4))");
    builder.Line("x = torch.scaled_dot_product_attention(q, k, v)");
    builder.Line("x = x.transpose(1, 2).reshape(batch, length, 64)");
    builder.Linear(64, 64);
    builder.Line("kept = kept + x");
    builder.Line("x = torch.layer_norm(kept, [64], self.norm_w, self.norm_b)");
    builder.Linear(64, 128);
    builder.Line("x = torch.gelu(x)");
    builder.Linear(128, 64);
    builder.Line("kept = kept + x");
  }
  builder.Line("return kept");
  builder.Save(kTensorToTensor, OneToOne({-1, 64}, {-1, 64}), path);
}

void MakeThrows(const std::string& path) {
  Builder builder;
  builder.Line("assert not bool(torch.any(torch.isnan(input))), \"the input holds a NaN\"");
  builder.Line("return input");
  builder.Save(kTensorToTensor, OneToOne({16}, {16}), path);
}

void MakeTwoOutputs(const std::string& path) {
  Builder builder;
  builder.Line("return {\"double\": input * 2, \"sum\": input.sum([1], True)}");
  ModelSpec spec = OneToOne({16}, {16});
  spec.outputs = {{"double", DataType::kFp32, {16}}, {"sum", DataType::kFp32, {1}}};
  builder.Save("self, input: Tensor) -> Dict[str, Tensor]", spec, path);
}

struct Recipe {
  std::string name;
  bool large;
  std::function<void(const std::string& path)> make;
};

const std::vector<Recipe>& Recipes() {
  static const auto* recipes = new std::vector<Recipe>{
      {"identity", false, MakeIdentity},
      {"mlp_256x512x4", false,
       [](const std::string& path) {
         MakeMlp({256, 512, 512, 512, 256}, path);
       }},
      {"mlp_1024x6", false,
       [](const std::string& path) { MakeMlp(std::vector<int64_t>(7, 1024), path); }},
      {"mlp_2048x8", true,
       [](const std::string& path) { MakeMlp(std::vector<int64_t>(9, 2048), path); }},
      {"conv", false, MakeConv},
      {"transformer", false, MakeTransformer},
      {"throws", false, MakeThrows},
      {"two_outputs", false, MakeTwoOutputs},
  };
  return *recipes;
}

absl::Status Make(const std::function<void()>& make, const std::string& path) {
  return CatchForeign(
      [&] {
        make();
        return absl::OkStatus();
      },
      [&](absl::string_view what) {
        return absl::UnknownError(absl::StrCat("cannot make ", path, ": ", MeaningfulLine(what)));
      });
}

}  // namespace

std::vector<std::string> MadeModels(bool large) {
  std::vector<std::string> names;
  for (const Recipe& recipe : Recipes()) {
    if (large || !recipe.large) names.push_back(recipe.name);
  }
  return names;
}

absl::Status MakeModel(absl::string_view name, const std::string& path) {
  for (const Recipe& recipe : Recipes()) {
    if (recipe.name == name) return Make([&] { recipe.make(path); }, path);
  }
  return absl::NotFoundError(absl::StrCat("there is no model '", name, "' to make"));
}

absl::Status MakeRacyModel(const std::string& path) {
  return Make(
      [&] {
        Builder builder;
        builder.Buffer("scratch", {kDemoMaxBatch, 64});
        builder.Weight("w", {384, 384});
        builder.Line("mine = self.scratch[:input.size(0)]");
        builder.Line("mine.copy_(input)");
        // Depends on the input, so that loading cannot fold it away, and gives another lane time to
        // interfere.
        builder.Line("work = torch.matmul(torch.matmul(self.w + input[0, 0], self.w), self.w)");
        builder.Line("return mine + 0 * work[0, 0]");
        builder.Save(kTensorToTensor, OneToOne({64}, {64}), path);
      },
      path);
}

absl::Status MakeTrainingModel(const std::string& path) {
  return Make(
      [&] {
        Builder builder;
        builder.TrainingMode();
        builder.Line("x = input");
        builder.Linear(8, 8);
        builder.Line("return torch.dropout(x, 0.5, self.training)");
        builder.Save(kTensorToTensor, OneToOne({8}, {8}), path);
      },
      path);
}

absl::Status MakeScript(absl::string_view source, absl::string_view spec_json,
                        const std::string& path) {
  return Make(
      [&] {
        torch::jit::Module module("Script");
        module.define(std::string(source));
        torch::jit::ExtraFilesMap extra_files;
        if (!spec_json.empty()) extra_files["mpsd.json"] = std::string(spec_json);
        module.save(path, extra_files);
      },
      path);
}

}  // namespace mpsd
