// TorchScriptProgram: forward of one loaded archive, ready to be called from many threads.
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

namespace mpsd {

// How an archive is to be loaded.
struct ProgramOptions {
  std::string name;  // for the log
  std::string path;
  c10::Device device = c10::Device(c10::DeviceType::CPU);
  bool rewrite_linear = false;
  bool allow_training_mode = false;
};

// Thread-safe after Bind(). Its functions throw what libtorch throws; only the model's loader and
// its Run() call them, inside CatchForeign.
class TorchScriptProgram {
 public:
  // Reads the archive and freezes the model where that is possible. Fills `spec_json` with the
  // archive's mpsd.json. FAILED_PRECONDITION for a module in training mode, unless it is allowed,
  // which puts it into evaluation mode.
  static absl::StatusOr<TorchScriptProgram> Load(const ProgramOptions& options,
                                                 std::string* spec_json);

  // The names of forward's arguments that an input can be: the leading tensors and lists of
  // strings, in order.
  std::vector<std::string> InputArguments() const;

  // Says which of those arguments each input is. INVALID_ARGUMENT when an argument that has no
  // default is left over, or is no list of strings where its input is BYTES, or the reverse.
  absl::Status Bind(const std::vector<TensorSpec>& inputs, const std::vector<size_t>& arguments);

  // What forward returns for these inputs, given in the order of Bind().
  c10::IValue Forward(absl::Span<const c10::IValue> inputs) const;

  // Whether forward may write into some input, so that it must be given a copy.
  bool WritesInputs() const { return writes_inputs_; }

  const Census& census() const { return census_; }

 private:
  TorchScriptProgram(torch::jit::Module module, Census census);

  torch::jit::Module module_;
  torch::jit::Function* forward_;             // of module_
  torch::jit::Stack blank_stack_;             // the module, then forward's defaults
  std::vector<size_t> stack_index_of_input_;  // in the stack
  Census census_;
  bool writes_inputs_ = false;
};

}  // namespace mpsd
