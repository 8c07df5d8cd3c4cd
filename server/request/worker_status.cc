#include "server/request/worker_status.h"

#include "server/request/device_list.h"

namespace mpsd {

std::string DevicesOf(absl::Span<const WorkerInfo> workers) {
  std::vector<std::string> devices;
  for (const WorkerInfo& worker : workers) devices.push_back(worker.device);
  return DeviceListText(devices);
}

}  // namespace mpsd
