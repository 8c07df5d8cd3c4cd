// TorchScriptProgram: forward of one loaded archive, ready to be called from many threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "torch/csrc/jit/api/module.h"

namespace mpsd {

// Thread-safe after Bind(). Its functions throw what libtorch throws; only the model's loader and
// its Run() call them, inside CatchForeign.
class TorchScriptProgram {
 public:
  // Reads the archive, puts the model into evaluation mode and freezes it where that is possible.
  // `name` is for the log. Fills `spec_json` with the archive's mpsd.json.
  static TorchScriptProgram Load(const std::string& name, const std::string& path,
                                 c10::Device device, std::string* spec_json);

  // The names of forward's leading tensor arguments, in order.
  std::vector<std::string> TensorArguments() const;

  // Says which tensor argument each input is. INVALID_ARGUMENT when an argument that has no default
  // is left over.
  absl::Status Bind(const std::vector<size_t>& arguments);

  // What forward returns for these inputs, given in the order of Bind().
  c10::IValue Forward(absl::Span<const at::Tensor> inputs) const;

  // Whether forward may write into some input, so that it must be given a copy.
  bool WritesInputs() const { return writes_inputs_; }

 private:
  explicit TorchScriptProgram(torch::jit::Module module);

  torch::jit::Module module_;
  torch::jit::Function* forward_;       // of module_
  torch::jit::Stack blank_stack_;       // the module, then forward's defaults
  std::vector<size_t> place_of_input_;  // in the stack
  bool writes_inputs_ = false;
};

}  // namespace mpsd
