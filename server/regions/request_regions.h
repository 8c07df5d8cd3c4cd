// RequestRegions: moves a request's tensors from and to its client's memory.
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

// Inputs are copied before they are read: a client that writes to its region meanwhile changes no
// checked byte. Device memory takes a second step, which blocks:
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
// Regions in use stay open until Clear(). A request's inputs have at most
// ClientRegions::message_bytes(). All requests' copies share ClientRegions::copies(): without room
// a request is RESOURCE_EXHAUSTED, with a time to retry. DropInputs(), StoreToDevice() or Clear()
// returns the room.
//
// Owned by an exchange and reused. Thread-compatible, except that DropInputs() may run while
// another thread stores an answer.
class RequestRegions {
 public:
  RequestRegions() = default;
  ~RequestRegions() { Clear(); }
  RequestRegions(const RequestRegions&) = delete;
  RequestRegions& operator=(const RequestRegions&) = delete;

  // Finds the connection's regions, and makes copies of inputs in objects the payloads. Payloads of
  // device inputs point to memory that LoadFromDevice() fills. The status is the client's answer.
  // `table` outlives this.
  absl::Status Load(absl::Span<const RegionUse> uses, const ConnectionId& connection,
                    ClientRegions* table, InferMessage* message);

  bool awaits_device() const { return !device_inputs_.empty(); }

  // Blocks. Called in a task of the copier.
  absl::Status LoadFromDevice();

  bool has_outputs() const { return !outputs_.empty(); }

  // Writes outputs into regions, and replaces their bytes in the answer by their place.
  // INVALID_ARGUMENT if an output is larger than its range; earlier ones may be written. Device
  // outputs are copied for StoreToDevice(). Called once an answer, never for two at a time.
  absl::Status Store(Answer* answer);

  bool has_device_outputs() const { return !device_outputs_.empty(); }

  // Writes the device outputs, and releases their copies. Blocks. Called in a task of the copier.
  absl::Status StoreToDevice();

  // Another thread may be storing an answer meanwhile.
  void DropInputs();

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
  uint64_t held_bytes_ = 0;         // taken from copies() for inputs
  std::vector<std::string> inputs_;
  std::vector<DeviceInput> device_inputs_;

  // Used by the thread that stores an answer, while another may drop the inputs.
  std::vector<Target> outputs_;
  std::vector<DeviceOutput> device_outputs_;
  ClientRegions* output_table_ = nullptr;  // constant once outputs_ is not empty
};

}  // namespace mpsd
