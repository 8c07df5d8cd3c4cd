// TorchScriptProgram: the forward of one loaded archive.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/link/census.h"
#include "proto/link/model_spec.h"
#include "torch/csrc/jit/api/module.h"
#include "worker/model/torchscript/torchscript_graph.h"

namespace mpsd {

struct ProgramOptions {
  std::string name;  // used in the log
  std::string path;
  c10::Device device = c10::Device(c10::DeviceType::CPU);
  bool rewrite_linear = false;
  bool allow_training_mode = false;
};

// Owned by its TorchScriptModel. Load() and Bind() run on the main thread; after Bind() it is
// thread-safe. Functions throw what libtorch throws, so their callers are inside CatchForeign.
class TorchScriptProgram {
 public:
  // Reads the archive to `options.device` and freezes the module if possible. `spec_json` becomes
  // the archive's mpsd.json, empty if there is none. FAILED_PRECONDITION for a module in training
  // mode, unless the options allow it; it is then put into evaluation mode. INVALID_ARGUMENT for
  // what CheckArchiveSize() refuses.
  static absl::StatusOr<TorchScriptProgram> Load(const ProgramOptions& options,
                                                 std::string* spec_json);

  // Forward's leading tensors and lists of strings, in order.
  std::vector<std::string> InputArguments() const;

  // These arguments as inputs for an operator to complete: "x:FP32[-1,…]", "words:BYTES[-1,1]".
  std::vector<std::string> InputExamples() const;

  // Sets which argument each input is. INVALID_ARGUMENT if an argument that is left over, or an
  // optional input's, has no default. INVALID_ARGUMENT also if an input of BYTES has no list of
  // strings, or the reverse.
  absl::Status Bind(const std::vector<TensorSpec>& inputs, const std::vector<size_t>& arguments);

  // Makes forward compute in `type` (graph_precision.h). Forward() then casts float inputs to
  // `type`, and returns floats of any type. INVALID_ARGUMENT names what cannot be converted; the
  // program means nothing then. Does nothing if type and weights are float. REQUIRES: Bind() was
  // OK, and no other thread has the program.
  absl::Status Convert(c10::ScalarType type);

  bool is_converted() const { return type_.has_value(); }

  // Makes linear layers multiply by panels where possible (panel_linear.h). REQUIRES:
  // HasPanelProducts(), Bind() was OK, and no other thread has the program.
  void UsePanels();

  size_t panel_layers() const { return panel_layers_; }

  // Runs forward on the calling thread with inputs in the order of Bind(). For an input that is
  // None, forward gets the argument's default. CHECKs the number of inputs.
  c10::IValue Forward(absl::Span<const c10::IValue> inputs) const;

  // As MayWriteInputs().
  bool WritesInputs() const { return writes_inputs_; }

  // As ConstantsOf().
  std::vector<c10::Storage> Constants(c10::Device device) const {
    return ConstantsOf(module_, device);
  }

  const Census& census() const { return census_; }

  // Operators without a kernel on mps; empty on other devices.
  const std::vector<std::string>& without_kernel() const { return without_kernel_; }

 private:
  TorchScriptProgram(torch::jit::Module module, Census census,
                     std::vector<std::string> without_kernel);

  void Take(torch::jit::Module module);

  torch::jit::Module module_;
  torch::jit::Function* forward_;  // the forward of module_
  torch::jit::Stack blank_stack_;  // the module, then the defaults of forward's arguments
  std::vector<size_t> stack_index_of_input_;  // for each input, its index in the stack
  Census census_;
  std::vector<std::string> without_kernel_;
  std::optional<c10::ScalarType> type_;  // type of the module's floats; nullopt: as they were saved
  bool writes_inputs_ = false;
  size_t panel_layers_ = 0;
};

}  // namespace mpsd
