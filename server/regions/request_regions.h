// RequestRegions: moves one request's tensors from and to its client's own memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/bodies/grpc/tensor_forms.h"
#include "server/regions/client_regions.h"
#include "server/request/infer_message.h"
#include "server/request/reply.h"

namespace mpsd {

// Inputs are copied to private memory before they are read, so a client that writes to its region
// meanwhile changes no checked byte. Outputs are written before the answer is sent. Device memory
// takes a second step, which blocks and runs in a task of the copier:
//
//   step 2   Load()             objects are read;  device inputs are noted    call's thread
//            [LoadFromDevice()]                    device inputs are copied   copier's thread
//
//   step 5   DropInputs()       the rows have the payload: copies go          call's thread
//   step 13  Store()            objects are written; device outputs are kept  any thread
//            [StoreToDevice()]                    device outputs are copied   copier's thread
//
//   the end  Clear()                                                          call's thread
//
// A request without regions never comes here. The regions in use stay open until Clear().
//
// Bounds: the inputs of one request have at most ClientRegions::message_bytes(). All copies that
// requests hold, of inputs and of device outputs, share ClientRegions::copies(). A request that
// finds no room there gets RESOURCE_EXHAUSTED and is told when to retry. DropInputs(),
// StoreToDevice() or Clear() returns the room, whichever comes first.
//
// Owned by an exchange and reused for its next request. Thread-compatible, except that DropInputs()
// may run while another thread stores an answer.
class RequestRegions {
 public:
  RequestRegions() = default;
  ~RequestRegions() { Clear(); }
  RequestRegions(const RequestRegions&) = delete;
  RequestRegions& operator=(const RequestRegions&) = delete;

  // Finds the named regions of the connection, copies the inputs that lie in objects, and makes the
  // copies the payloads of `message`. Payloads of device inputs point to memory that
  // LoadFromDevice() fills. The status is the client's answer. `table` outlives this object.
  absl::Status Load(absl::Span<const RegionUse> uses, const ConnectionId& connection,
                    ClientRegions* table, InferMessage* message);

  // True if Load() has left device inputs to LoadFromDevice().
  bool awaits_device() const { return !device_inputs_.empty(); }

  // Copies the device inputs. Blocks. Called in a task of the copier.
  absl::Status LoadFromDevice();

  bool has_outputs() const { return !outputs_.empty(); }

  // Writes the outputs that the client wants in regions, and replaces their bytes in the answer by
  // their place. INVALID_ARGUMENT if an output is larger than the client's range; earlier outputs
  // may have been written by then. Device outputs are copied and left to StoreToDevice(). Called
  // once per answer of a request, never for two at a time.
  absl::Status Store(Answer* answer);

  // True if Store() has left outputs to StoreToDevice().
  bool has_device_outputs() const { return !device_outputs_.empty(); }

  // Writes the device outputs, and releases their copies. Blocks. Called in a task of the copier.
  absl::Status StoreToDevice();

  // Releases the copies of inputs. Another thread may be storing an answer meanwhile.
  void DropInputs();

  // Forgets the request and releases everything it holds.
  void Clear();

 private:
  struct Target {
    std::string output;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    std::shared_ptr<const ClientRegion> region;
  };

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
  uint64_t held_bytes_ = 0;         // taken from the table's copies() for inputs
  std::vector<std::string> inputs_;
  std::vector<DeviceInput> device_inputs_;

  // Used by the thread that stores an answer, while another may drop the inputs.
  std::vector<Target> outputs_;
  std::vector<DeviceOutput> device_outputs_;
  ClientRegions* output_table_ = nullptr;  // constant once outputs_ is not empty
};

}  // namespace mpsd
