// RequestRegions: the tensors of one request that lie in its client's own memory.
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
#include "server/wire/region_parameters.h"

namespace mpsd {

// Thread-compatible; belongs to one call and is used again from request to request. Inputs are
// copied to private memory before anything looks at them: a client that writes meanwhile changes no
// byte that was checked. Outputs are written before the answer is sent. What lies in memory of a
// device takes two steps, the second of which is a task of the copier: Load() and LoadFromDevice(),
// Store() and StoreToDevice().
class RequestRegions {
 public:
  RequestRegions() = default;
  ~RequestRegions() { Clear(); }
  RequestRegions(const RequestRegions&) = delete;
  RequestRegions& operator=(const RequestRegions&) = delete;

  // Finds the regions among those of the connection, copies the inputs, but those on devices, and
  // makes them the payload of the message's. A status is the client's answer. `table` outlives this
  // object.
  absl::Status Load(absl::Span<const RegionUse> uses, const ConnectionId& connection,
                    ClientRegions* table, InferMessage* message);

  // Whether there are inputs on devices, and their copy, which the payloads point to already.
  bool awaits_device() const { return !device_inputs_.empty(); }
  absl::Status LoadFromDevice();

  bool has_outputs() const { return !outputs_.empty(); }

  // Writes the outputs that are to lie in regions there, and leaves their bytes out of the answer.
  // Those for devices are copied, and are still to be written.
  absl::Status Store(Answer* answer);

  // Whether Store() has left outputs to be written, and their writing. Answers of one request come
  // one after the other.
  bool has_device_outputs() const { return !device_outputs_.empty(); }
  absl::Status StoreToDevice();

  // Gives the copies of inputs back. Another thread may be storing an answer meanwhile.
  void DropInputs();

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
  uint64_t held_bytes_ = 0;
  std::vector<std::string> inputs_;
  std::vector<DeviceInput> device_inputs_;

  // Whoever gives an answer writes these, while the inputs may be dropped.
  std::vector<Target> outputs_;
  std::vector<DeviceOutput> device_outputs_;
  ClientRegions* output_table_ = nullptr;  // constant once outputs_ has some
};

}  // namespace mpsd
