// The objects of Metal that the stand-in's MetalPerformanceShaders uses.
#pragma once

#import <Metal/Metal.h>

#include <functional>
#include <memory>
#include <vector>

#include "tests/metal/gpu/command_buffer.h"
#include "tests/metal/gpu/gpu_memory.h"
#include "tests/metal/gpu/gpu_queue.h"
#include "tests/metal/objc/foundation.h"

@interface StandinQueue : NSObject <MTLCommandQueue> {
 @public
  std::unique_ptr<mpsd::standin::GpuQueue> _queue;
}
@end

@interface StandinCommandBuffer : NSObject <MTLCommandBuffer> {
 @public
  std::shared_ptr<mpsd::standin::CommandBuffer> _commands;
  StandinQueue* _queue;
}
@end

// A part of a buffer, which stays until the last copy of the result is gone.
mpsd::standin::GpuRange RangeOf(id<MTLBuffer> buffer, NSUInteger offset, NSUInteger bytes);

// The device that every call returns.
id<MTLDevice> StandinDeviceOfProcess();
