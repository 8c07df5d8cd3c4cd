#include "worker/model/torchscript_device.h"

#include <dlfcn.h>
#include <unistd.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "c10/core/impl/VirtualGuardImpl.h"
#include "worker/model/foreign_errors.h"

namespace mpsd {
namespace {

// Whether libtorch has code for such devices; for cuda that code is a library of its own.
bool HasRuntime(c10::DeviceType type) {
  if (c10::impl::hasDeviceGuardImpl(type)) return true;
  if (type != c10::DeviceType::CUDA) return false;
  // It stays for the life of the process; so does what it registers in libtorch.
  return dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr &&
         c10::impl::hasDeviceGuardImpl(type);
}

int CountDevices(c10::DeviceType type) {
  return HasRuntime(type) ? c10::impl::VirtualGuardImpl(type).deviceCount() : 0;
}

// Loading libtorch_cuda costs seconds, so "auto" looks for the driver first.
bool HasCudaDriver() { return access("/dev/nvidiactl", F_OK) == 0; }

c10::Device PickAutomatically() {
  if (HasCudaDriver() && CountDevices(c10::DeviceType::CUDA) > 0) {
    return c10::Device(c10::DeviceType::CUDA, 0);
  }
  if (CountDevices(c10::DeviceType::MPS) > 0) return c10::Device(c10::DeviceType::MPS, 0);
  return c10::Device(c10::DeviceType::CPU);
}

absl::Status CheckThere(const std::string& name, c10::Device device) {
  if (device.is_cpu()) return absl::OkStatus();
  const std::string type = c10::DeviceTypeName(device.type(), /*lower_case=*/true);
  if (!HasRuntime(device.type())) {
    return absl::FailedPreconditionError(
        absl::StrCat("device '", name, "': the libtorch in use was built without ", type));
  }
  const int count = CountDevices(device.type());
  if (device.index() < count) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("device '", name, "': there are ", count, " ", type, " devices"));
}

}  // namespace

absl::StatusOr<c10::Device> PickDevice(const std::string& name) {
  std::optional<c10::Device> device;
  const absl::Status status = CatchForeign(
      [&] {
        device = name.empty() || name == "auto" ? PickAutomatically() : c10::Device(name);
        if (!device->is_cpu() && !device->has_index()) device->set_index(0);
        return CheckThere(name, *device);
      },
      [&](absl::string_view what) {
        return absl::InvalidArgumentError(
            absl::StrCat("device '", name, "': ", MeaningfulLine(what)));
      });
  if (!status.ok()) return status;
  return *device;
}

absl::Status BindThreadToStream(c10::Device device) {
  if (device.is_cpu()) return absl::OkStatus();
  return CatchForeign([&] {
    const c10::impl::VirtualGuardImpl guard(device.type());
    guard.setDevice(device);
    guard.exchangeStream(guard.getNewStream(device));
    return absl::OkStatus();
  });
}

void SynchronizeDevice(c10::Device device) {
  if (!device.is_cpu())
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

}  // namespace mpsd
