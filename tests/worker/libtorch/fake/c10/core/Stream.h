// Stands for libtorch's header of that name: what names a stream.
#pragma once

#include <cstdint>

namespace c10 {

using StreamId = int64_t;
enum class DeviceType { MPS };

struct Device {
  Device(DeviceType, int) {}
};

// Names one stream of a device. Thread-compatible.
class Stream {
 public:
  enum Unsafe { UNSAFE };
  Stream(Unsafe, Device, StreamId id) : id_(id) {}
  StreamId id() const { return id_; }

 private:
  StreamId id_;
};

}  // namespace c10
