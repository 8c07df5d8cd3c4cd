#include "worker/model/torchscript_program.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "torch/csrc/jit/ir/alias_analysis.h"
#include "torch/csrc/jit/passes/inliner.h"
#include "torch/csrc/jit/runtime/graph_executor.h"
#include "torch/csrc/jit/serialization/import.h"
#include "worker/model/foreign_errors.h"

namespace mpsd {
namespace {

bool IsTraining(const torch::jit::Module& module) {
  for (const torch::jit::Module& part : module.modules()) {
    if (part.hasattr("training") && part.attr("training").toBool()) return true;
  }
  return false;
}

// A frozen module has its weights as constants in the graph, which is then simplified once. Some
// modules cannot be frozen; they run as they are.
torch::jit::Module Freeze(const std::string& name, const torch::jit::Module& module) {
  std::optional<torch::jit::Module> frozen;
  const absl::Status status = CatchForeign(
      [&] {
        frozen = torch::jit::freeze(module);
        return absl::OkStatus();
      },
      [](absl::string_view what) { return absl::InternalError(MeaningfulLine(what)); });
  if (status.ok()) return *std::move(frozen);
  std::fprintf(stderr, "model '%s' cannot be frozen and is served as it is: %s\n", name.c_str(),
               std::string(status.message()).c_str());
  return module;
}

bool MayWriteInputs(const torch::jit::Module& module) {
  const std::shared_ptr<torch::jit::Graph> graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  const torch::jit::AliasDb aliases(graph);
  for (const torch::jit::Value* input : graph->inputs().slice(1)) {
    if (aliases.hasWriters(input)) return true;
  }
  return false;
}

// Profiling would record, specialize and fuse in the first calls of every shape: seconds of it, in
// the middle of serving.
void TurnProfilingOff() {
  torch::jit::getProfilingMode() = false;
  torch::jit::FusionStrategy none = {{torch::jit::FusionBehavior::STATIC, 0}};
  torch::jit::setFusionStrategy(none);
}

}  // namespace

TorchScriptProgram TorchScriptProgram::Load(const std::string& name, const std::string& path,
                                            c10::Device device, std::string* spec_json) {
  TurnProfilingOff();
  torch::jit::ExtraFilesMap extra_files = {{"mpsd.json", ""}};
  torch::jit::Module module = torch::jit::load(path, device, extra_files);
  *spec_json = extra_files["mpsd.json"];
  if (IsTraining(module)) {
    std::fprintf(stderr, "model '%s' was saved in training mode; it is served in evaluation mode\n",
                 name.c_str());
    module.eval();
  }
  return TorchScriptProgram(Freeze(name, module));
}

TorchScriptProgram::TorchScriptProgram(torch::jit::Module module)
    : module_(std::move(module)),
      forward_(&module_.get_method("forward").function()),
      writes_inputs_(MayWriteInputs(module_)) {}

std::vector<std::string> TorchScriptProgram::TensorArguments() const {
  std::vector<std::string> names;
  const std::vector<c10::Argument>& arguments = forward_->getSchema().arguments();
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (!c10::TensorType::get()->isSubtypeOf(*arguments[i].type())) break;
    names.push_back(arguments[i].name());
  }
  return names;
}

absl::Status TorchScriptProgram::Bind(const std::vector<size_t>& arguments) {
  const std::vector<c10::Argument>& schema = forward_->getSchema().arguments();
  std::vector<bool> given(schema.size(), false);
  place_of_input_.clear();
  for (const size_t argument : arguments) {
    MPSD_CHECK(argument + 1 < schema.size());
    place_of_input_.push_back(argument + 1);
    given[argument + 1] = true;
  }
  blank_stack_.assign(1, module_._ivalue());
  for (size_t i = 1; i < schema.size(); ++i) {
    if (!given[i] && !schema[i].default_value().has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "forward's argument '", schema[i].name(), "' (", schema[i].type()->annotation_str(),
          ") is none of the inputs, and has no default"));
    }
    blank_stack_.push_back(given[i] ? c10::IValue() : *schema[i].default_value());
  }
  return absl::OkStatus();
}

c10::IValue TorchScriptProgram::Forward(absl::Span<const at::Tensor> inputs) const {
  MPSD_CHECK(inputs.size() == place_of_input_.size());
  torch::jit::Stack stack = blank_stack_;
  for (size_t i = 0; i < inputs.size(); ++i) stack[place_of_input_[i]] = inputs[i];
  forward_->run(stack);
  MPSD_CHECK(stack.size() == 1);
  return std::move(stack.front());
}

}  // namespace mpsd
