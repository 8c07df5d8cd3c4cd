// RequestRegions: moves one request's tensors from and to its client's own memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/regions/client_regions.h"
#include "server/request/infer_message.h"
#include "server/request/reply.h"
#include "server/wire/tensor_forms.h"

namespace mpsd {

// Copies inputs to private memory before anything reads them, so that a client that writes to its
// region meanwhile changes no byte that was checked. Writes outputs before the answer is sent.
// Device memory takes two steps, of which the second blocks and runs in a task of the copier:
//
//   step 2   Load()             objects are read;  device inputs are noted    queue thread
//            [LoadFromDevice()]                    device inputs are copied   copier's thread
//   step 5   DropInputs()       the payload lies in the rows: copies go       queue thread
//   step 13  Store()            objects are written; device outputs are kept  any thread
//            [StoreToDevice()]                       and copied               copier's thread
//   the end  Clear()                                                          queue thread
//
// A request without regions never comes here. The regions that it uses stay open until Clear().
//
// Bounds: the inputs of one request have at most ClientRegions::message_bytes(), and all copies
// that requests hold, of inputs and of outputs for devices, share ClientRegions::copies(). A
// request that finds no room there is RESOURCE_EXHAUSTED and told when to come again. All room is
// given back by DropInputs(), StoreToDevice() or Clear(), whichever comes first.
//
// Owned by an exchange and used again for its next request. Thread-compatible, except that
// DropInputs() may run while another thread stores an answer.
class RequestRegions {
 public:
  RequestRegions() = default;
  ~RequestRegions() { Clear(); }
  RequestRegions(const RequestRegions&) = delete;
  RequestRegions& operator=(const RequestRegions&) = delete;

  // Finds the regions among the connection's own, copies the inputs that lie in objects, and makes
  // the copies the payloads of `message`. The payloads of inputs on devices point to memory that
  // LoadFromDevice() fills. The status is the client's answer. `table` outlives this object.
  absl::Status Load(absl::Span<const RegionUse> uses, const ConnectionId& connection,
                    ClientRegions* table, InferMessage* message);

  // True when Load() has left inputs on devices to LoadFromDevice().
  bool awaits_device() const { return !device_inputs_.empty(); }

  // Copies the inputs that lie on devices. Blocks. Called in a task of the copier.
  absl::Status LoadFromDevice();

  bool has_outputs() const { return !outputs_.empty(); }

  // Writes the outputs that the client wants in regions, and removes their bytes from the answer,
  // which then says where they lie. INVALID_ARGUMENT where an output is larger than the range that
  // the client gave for it; outputs before it may have been written then.
  // Copies the outputs for devices and leaves them to StoreToDevice(). Called once for each answer
  // of a request, never for two at a time.
  absl::Status Store(Answer* answer);

  // True when Store() has left outputs to StoreToDevice().
  bool has_device_outputs() const { return !device_outputs_.empty(); }

  // Writes the outputs for devices, and releases the copies of them. Blocks. Called in a task of
  // the copier.
  absl::Status StoreToDevice();

  // Releases the copies of inputs. Another thread may be storing an answer meanwhile.
  void DropInputs();

  // Forgets the request and releases all that it holds.
  void Clear();

 private:
  // An output that the client wants in a region.
  struct Target {
    std::string output;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    std::shared_ptr<const ClientRegion> region;
  };

  // A copy on its way from or to a device.
  struct DeviceInput {
    char* target = nullptr;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    std::shared_ptr<const ClientRegion> region;
  };
  struct DeviceOutput {
    std::string bytes;
    const Target* target = nullptr;
  };

  absl::Status LoadInput(const RegionUse& use, std::shared_ptr<const ClientRegion> region,
                         InputMessage* input);
  absl::Status Put(absl::string_view bytes, const Target& target);
  void DropDeviceOutputs();

  ClientRegions* table_ = nullptr;  // set while bytes are held
  uint64_t held_bytes_ = 0;         // taken from the table's copies() for the inputs
  std::vector<std::string> inputs_;
  std::vector<DeviceInput> device_inputs_;

  // Used by the thread that stores an answer, while another may drop the inputs.
  std::vector<Target> outputs_;
  std::vector<DeviceOutput> device_outputs_;
  ClientRegions* output_table_ = nullptr;  // constant once outputs_ has some
};

}  // namespace mpsd
