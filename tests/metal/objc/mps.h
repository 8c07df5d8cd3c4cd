// The parts of MetalPerformanceShaders that graphs use.
#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <cstdint>
#include <vector>

#include "tests/metal/objc/metal.h"

// An array in the memory of a buffer, dims and strides in elements, the outermost first.
struct ArrayView {
  mpsd::standin::GpuRange range;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  MPSDataType type = MPSDataTypeInvalid;
};

@interface MPSNDArray () {
 @public
  ArrayView _view;
}
+ (MPSNDArray*)arrayOver:(ArrayView)view;
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSNDArrayDescriptor*)descriptor;
@end

std::vector<int64_t> ToSizes(MPSShape* shape);
MPSShape* ToShape(const std::vector<int64_t>& sizes);
size_t BytesOf(MPSDataType type);
