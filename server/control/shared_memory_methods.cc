#include "server/control/shared_memory_methods.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/control/inference_method_name.h"

namespace mpsd {

void AddSharedMemoryMethods(MethodTable* table) {
  for (const char* kind : {"System", "Cuda"}) {
    for (const char* verb : {"Status", "Register", "Unregister"}) {
      table->Add(InferenceMethodName(absl::StrCat(kind, "SharedMemory", verb)),
                 MethodTable::Kind::kUnary, [](const CallerInfo&, absl::string_view, std::string*) {
                   return absl::UnimplementedError(
                       "shared memory regions of clients are not supported by this server; send "
                       "tensors in raw_input_contents");
                 });
    }
  }
}

}  // namespace mpsd
