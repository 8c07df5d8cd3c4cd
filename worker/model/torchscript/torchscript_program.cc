#include "worker/model/torchscript/torchscript_program.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/check.h"
#include "torch/csrc/jit/runtime/graph_executor.h"
#include "torch/csrc/jit/serialization/import.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/torch/archive_size.h"
#include "worker/model/torchscript/graph_precision.h"
#include "worker/model/torchscript/panel_linear.h"
#include "worker/model/torchscript/torchscript_graph.h"

namespace mpsd {
namespace {

bool IsTraining(const torch::jit::Module& module) {
  for (const torch::jit::Module& part : module.modules()) {
    if (part.hasattr("training") && part.attr("training").toBool()) return true;
  }
  return false;
}

// Freezing makes the weights constants of the graph. A module that cannot be frozen runs unchanged.
torch::jit::Module Freeze(const std::string& name, const torch::jit::Module& module) {
  std::optional<torch::jit::Module> frozen;
  const absl::Status status = CatchForeign(
      [&] {
        frozen = torch::jit::freeze(module);
        RenewCallStacks(*frozen);
        return absl::OkStatus();
      },
      [](absl::string_view what) { return absl::InternalError(MeaningfulLine(what)); });
  if (status.ok()) return *std::move(frozen);
  std::fprintf(stderr, "model '%s' cannot be frozen and is served as it is: %s\n", name.c_str(),
               std::string(status.message()).c_str());
  return module;
}

// With profiling, the first calls of every shape would record, specialize and fuse, for seconds.
void TurnProfilingOff() {
  torch::jit::getProfilingMode() = false;
  torch::jit::FusionStrategy none = {{torch::jit::FusionBehavior::STATIC, 0}};
  torch::jit::setFusionStrategy(none);
}

bool IsListOfStrings(const c10::Type& type) {
  return type.isSubtypeOf(*c10::ListType::ofStrings());
}

bool IsTensor(const c10::Type& type) { return c10::TensorType::get()->isSubtypeOf(type); }

}  // namespace

absl::StatusOr<TorchScriptProgram> TorchScriptProgram::Load(const ProgramOptions& options,
                                                            std::string* spec_json) {
  TurnProfilingOff();
  const absl::Status size = CheckArchiveSize(options.path);
  if (!size.ok()) return size;
  torch::jit::ExtraFilesMap extra_files = {{"mpsd.json", ""}};
  torch::jit::Module module = torch::jit::load(options.path, options.device, extra_files);
  *spec_json = extra_files["mpsd.json"];
  if (IsTraining(module)) {
    if (!options.allow_training_mode) {
      return absl::FailedPreconditionError(
          "it was saved in training mode, in which dropout and batch norm give other answers; call "
          "model.eval() before saving it, or set parameters.training_mode to evaluate");
    }
    module.eval();
  }
  Census census = TakeCensus(module);
  torch::jit::Module frozen = Freeze(options.name, module);
  AddFrozen(frozen, &census);
  if (options.rewrite_linear) {
    RewriteLinear(frozen.get_method("forward").graph());
  }
  std::vector<std::string> without_kernel;
  if (options.device.is_mps()) {
    without_kernel = OperatorsWithoutKernel(frozen, c10::DispatchKey::MPS);
  }
  if (!without_kernel.empty()) {
    std::fprintf(stderr, "model '%s': without a kernel for mps: %s\n", options.name.c_str(),
                 absl::StrJoin(without_kernel, ", ").c_str());
  }
  return TorchScriptProgram(std::move(frozen), std::move(census), std::move(without_kernel));
}

TorchScriptProgram::TorchScriptProgram(torch::jit::Module module, Census census,
                                       std::vector<std::string> without_kernel)
    : module_(std::move(module)),
      forward_(&module_.get_method("forward").function()),
      census_(std::move(census)),
      without_kernel_(std::move(without_kernel)),
      writes_inputs_(MayWriteInputs(module_)) {}

std::vector<std::string> TorchScriptProgram::InputArguments() const {
  std::vector<std::string> names;
  const std::vector<c10::Argument>& arguments = forward_->getSchema().arguments();
  for (size_t i = 1; i < arguments.size(); ++i) {
    const c10::Type& type = *arguments[i].type();
    if (!IsTensor(type) && !IsListOfStrings(type)) break;
    names.push_back(arguments[i].name());
  }
  return names;
}

std::vector<std::string> TorchScriptProgram::InputExamples() const {
  std::vector<std::string> examples = InputArguments();
  const std::vector<c10::Argument>& arguments = forward_->getSchema().arguments();
  for (size_t i = 0; i < examples.size(); ++i) {
    examples[i] += IsListOfStrings(*arguments[i + 1].type()) ? ":BYTES[-1,1]" : ":FP32[-1,…]";
  }
  return examples;
}

absl::Status TorchScriptProgram::Bind(const std::vector<TensorSpec>& inputs,
                                      const std::vector<size_t>& arguments) {
  const std::vector<c10::Argument>& schema = forward_->getSchema().arguments();
  std::vector<bool> given(schema.size(), false);
  stack_index_of_input_.clear();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t index = arguments[i] + 1;
    MPSD_CHECK(index < schema.size());
    const bool bytes = inputs[i].datatype == DataType::kBytes;
    if (bytes != IsListOfStrings(*schema[index].type())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "forward's argument '", schema[index].name(), "' is of the type ",
          schema[index].type()->annotation_str(), ", but input '", inputs[i].name, "' is ",
          std::string(DataTypeName(inputs[i].datatype)), "; BYTES is List[str]"));
    }
    if (inputs[i].optional && !schema[index].default_value().has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("input '", inputs[i].name,
                                                     "' is optional, but forward's argument '",
                                                     schema[index].name(), "' has no default"));
    }
    stack_index_of_input_.push_back(index);
    given[index] = true;
  }
  blank_stack_.assign(1, module_._ivalue());
  for (size_t i = 1; i < schema.size(); ++i) {
    if (!given[i] && !schema[i].default_value().has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "forward's argument '", schema[i].name(), "' (", schema[i].type()->annotation_str(),
          ") is none of the inputs, and has no default"));
    }
    blank_stack_.push_back(schema[i].default_value().value_or(c10::IValue()));
  }
  return absl::OkStatus();
}

absl::Status TorchScriptProgram::Convert(c10::ScalarType type) {
  const std::vector<std::string>& dtypes = census_.parameter_dtypes;
  const auto has = [&dtypes](const char* name) {
    return std::find(dtypes.begin(), dtypes.end(), name) != dtypes.end();
  };
  if (has("FP64") && !has("FP32") && !has("FP16") && !has("BF16")) {
    return absl::InvalidArgumentError("its weights are FP64, and would lose what they are for");
  }
  const bool has_halves = has("FP16") || has("BF16") || has("FP64");
  if (type == c10::ScalarType::Float && !has_halves) return absl::OkStatus();
  torch::jit::Module converted = module_.clone();
  if (absl::Status status = ConvertPrecision(type, &converted); !status.ok()) return status;
  Take(std::move(converted));
  type_ = type;
  return absl::OkStatus();
}

void TorchScriptProgram::UsePanels() {
  torch::jit::Module changed = module_.clone();
  panel_layers_ = mpsd::UsePanels(changed);
  if (panel_layers_ > 0) Take(std::move(changed));
}

// `module` is always a clone: a function that has run keeps the code made from its graph.
void TorchScriptProgram::Take(torch::jit::Module module) {
  module_ = std::move(module);
  forward_ = &module_.get_method("forward").function();
  blank_stack_[0] = module_._ivalue();
}

c10::IValue TorchScriptProgram::Forward(absl::Span<const c10::IValue> inputs) const {
  MPSD_CHECK(inputs.size() == stack_index_of_input_.size());
  torch::jit::Stack stack = blank_stack_;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].isNone()) continue;
    const bool is_cast =
        type_.has_value() && inputs[i].isTensor() && inputs[i].toTensor().is_floating_point();
    stack[stack_index_of_input_[i]] =
        is_cast ? c10::IValue(inputs[i].toTensor().to(*type_)) : inputs[i];
  }
  forward_->run(stack);
  MPSD_CHECK(stack.size() == 1);
  return std::move(stack.front());
}

}  // namespace mpsd
