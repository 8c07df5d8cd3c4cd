// TorchScriptProgram: the forward of one loaded archive, ready to be called from many threads.
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

// How to load an archive.
struct ProgramOptions {
  std::string name;  // used in the log
  std::string path;
  c10::Device device = c10::Device(c10::DeviceType::CPU);
  bool rewrite_linear = false;
  bool allow_training_mode = false;
};

// Owned by its TorchScriptModel. Knows libtorch's interpreter, but nothing of batches, streams or
// sinks. Load() and Bind() run on the main thread; after Bind() it is thread-safe. Its functions
// throw what libtorch throws: only the model's loader and its Forward() call them, inside
// CatchForeign.
class TorchScriptProgram {
 public:
  // Reads the archive to `options.device` and freezes the module if it can be frozen. Fills
  // `spec_json` with the archive's mpsd.json, empty if there is none. FAILED_PRECONDITION for a
  // module in training mode, unless the options allow it; it is then put into evaluation mode.
  // INVALID_ARGUMENT for what CheckArchiveSize() refuses.
  static absl::StatusOr<TorchScriptProgram> Load(const ProgramOptions& options,
                                                 std::string* spec_json);

  // The names of forward's arguments that can be inputs, in order: the leading tensors and lists of
  // strings.
  std::vector<std::string> InputArguments() const;

  // The same arguments as inputs that an operator may copy and complete: "x:FP32[-1,…]",
  // "words:BYTES[-1,1]".
  std::vector<std::string> InputExamples() const;

  // Sets which of those arguments each input is. INVALID_ARGUMENT if another argument without a
  // default is left over, or if an optional input's argument has no default. INVALID_ARGUMENT also
  // if an input is BYTES and its argument is no list of strings, or the reverse.
  absl::Status Bind(const std::vector<TensorSpec>& inputs, const std::vector<size_t>& arguments);

  // Makes forward compute in floats of `type` (graph_precision.h). From now on Forward() casts
  // float inputs to `type` and returns floats of any type. INVALID_ARGUMENT names what cannot be
  // converted; the program means nothing then. Does nothing if `type` is float and the weights are
  // float already. REQUIRES: Bind() was OK, and no other thread has the program.
  absl::Status Convert(c10::ScalarType type);

  // Whether Convert() has changed the program.
  bool is_converted() const { return type_.has_value(); }

  // Makes as many of forward's linear layers as possible multiply by panels (panel_linear.h);
  // panel_layers() counts them. REQUIRES: HasPanelProducts(), Bind() was OK, and no other thread
  // has the program.
  void UsePanels();

  // How many linear layers multiply by panels.
  size_t panel_layers() const { return panel_layers_; }

  // Runs forward on the calling thread with these inputs, in the order of Bind(), and returns its
  // result. For an input that is None, which must be optional, forward gets the argument's default.
  // CHECKs that there are as many inputs as Bind() was given.
  c10::IValue Forward(absl::Span<const c10::IValue> inputs) const;

  // Whether forward may write into some input, so that inputs must be copied.
  bool WritesInputs() const { return writes_inputs_; }

  // The weights on that device that no run writes (torchscript_graph.h).
  std::vector<c10::Storage> Constants(c10::Device device) const {
    return ConstantsOf(module_, device);
  }

  const Census& census() const { return census_; }

  // On mps, the operators for which this libtorch has no kernel there; empty on other devices, and
  // if no operator lacks one.
  const std::vector<std::string>& without_kernel() const { return without_kernel_; }

 private:
  TorchScriptProgram(torch::jit::Module module, Census census,
                     std::vector<std::string> without_kernel);

  // Replaces the module by a changed copy.
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
