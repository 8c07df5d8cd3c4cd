// MetalPerformanceShaders: its command buffer, and arrays in the memory of a buffer.
#include "tests/metal/objc/mps.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "tests/metal/rules/live_objects.h"

using mpsd::standin::GpuMemory;
using mpsd::standin::LiveObjects;
using mpsd::standin::OneThread;

@interface MPSCommandBuffer () {
  StandinCommandBuffer* _buffer;
  std::unique_ptr<OneThread> _turn;
}
@end

@implementation MPSCommandBuffer
@dynamic GPUStartTime, GPUEndTime, kernelStartTime, kernelEndTime;
+ (instancetype)commandBufferFromCommandQueue:(id<MTLCommandQueue>)queue {
  MPSCommandBuffer* const buffer = [[MPSCommandBuffer new] autorelease];
  buffer->_buffer = (StandinCommandBuffer*)[[queue commandBuffer] retain];
  buffer->_turn = std::make_unique<OneThread>("MPSCommandBuffer");
  std::this_thread::yield();  // a real call takes its time
  ++LiveObjects::All().command_buffers;
  return buffer;
}
- (id<MTLCommandBuffer>)commandBuffer {
  return _buffer;
}
- (id<MTLCommandBuffer>)rootCommandBuffer {
  return _buffer;
}
- (void)commit {
  const OneThread::Turn turn(*_turn);
  [_buffer commit];
}
- (void)commitAndContinue {
  const OneThread::Turn turn(*_turn);
  [_buffer commit];
  @autoreleasepool {
    StandinCommandBuffer* const next =
        (StandinCommandBuffer*)[[[_buffer commandQueue] commandBuffer] retain];
    [std::exchange(_buffer, next) release];
  }
}
- (void)waitUntilCompleted {
  [_buffer waitUntilCompleted];
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  const OneThread::Turn turn(*_turn);
  return [_buffer computeCommandEncoder];
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type {
  const OneThread::Turn turn(*_turn);
  return [_buffer computeCommandEncoderWithDispatchType:type];
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
  const OneThread::Turn turn(*_turn);
  return [_buffer blitCommandEncoder];
}
- (void)addScheduledHandler:(MTLCommandBufferHandler)handler {
  const OneThread::Turn turn(*_turn);
  [_buffer addScheduledHandler:handler];
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler {
  const OneThread::Turn turn(*_turn);
  [_buffer addCompletedHandler:handler];
}
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
  const OneThread::Turn turn(*_turn);
  [_buffer encodeSignalEvent:event value:value];
}
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
  const OneThread::Turn turn(*_turn);
  [_buffer encodeWaitForEvent:event value:value];
}
- (MTLCommandBufferStatus)status {
  return [_buffer status];
}
- (NSError*)error {
  return nil;
}
- (id<MTLCommandQueue>)commandQueue {
  return [_buffer commandQueue];
}
- (id<MTLDevice>)device {
  return StandinDeviceOfProcess();
}
- (void)dealloc {
  --LiveObjects::All().command_buffers;
  [_buffer release];
  [super dealloc];
}
@end

std::vector<int64_t> ToSizes(MPSShape* shape) {
  std::vector<int64_t> sizes;
  for (NSNumber* size in shape) sizes.push_back(size.integerValue);
  return sizes;
}

MPSShape* ToShape(const std::vector<int64_t>& sizes) {
  NSMutableArray<NSNumber*>* const shape = [NSMutableArray arrayWithCapacity:sizes.size()];
  for (const int64_t size : sizes) [shape addObject:[NSNumber numberWithInteger:size]];
  return shape;
}

size_t BytesOf(MPSDataType type) { return (type & 0xffff) / 8; }

namespace {

// Row after row, without a gap.
std::vector<int64_t> DenseStrides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

}  // namespace

@interface MPSNDArrayDescriptor () {
 @public
  MPSDataType _type;
  std::vector<int64_t> _sizes;
  std::vector<size_t> _order;  // which dim of the described array each dim is
}
@end

@implementation MPSNDArrayDescriptor
+ (instancetype)descriptorWithDataType:(MPSDataType)type shape:(MPSShape*)shape {
  MPSNDArrayDescriptor* const descriptor = [[MPSNDArrayDescriptor new] autorelease];
  [descriptor describe:ToSizes(shape) type:type];
  return descriptor;
}
- (void)describe:(const std::vector<int64_t>&)sizes type:(MPSDataType)type {
  _type = type;
  _sizes = sizes;
  for (size_t i = 0; i < sizes.size(); ++i) _order.push_back(i);
}
- (MPSDataType)dataType {
  return _type;
}
- (NSUInteger)numberOfDimensions {
  return _sizes.size();
}
// The framework counts dims from the last.
- (void)transposeDimension:(NSUInteger)one withDimension:(NSUInteger)other {
  const size_t left = _sizes.size() - 1 - one;
  const size_t right = _sizes.size() - 1 - other;
  std::swap(_sizes[left], _sizes[right]);
  std::swap(_order[left], _order[right]);
}
- (void)setPreferPackedRows:(BOOL)is_preferred {
}
@end

@implementation MPSNDArray
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSNDArrayDescriptor*)descriptor {
  const std::vector<int64_t> strides = DenseStrides(descriptor->_sizes);
  int64_t count = 1;
  for (const int64_t size : descriptor->_sizes) count *= size;
  const size_t bytes = static_cast<size_t>(count) * BytesOf(descriptor->_type);
  _view = ArrayView{{GpuMemory::Make(bytes), 0, bytes}, descriptor->_sizes, strides,
                    descriptor->_type};
  return self;
}
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSNDArrayDescriptor*)descriptor {
  _view = ArrayView{RangeOf(buffer, offset, [buffer length] - offset), descriptor->_sizes,
                    DenseStrides(descriptor->_sizes), descriptor->_type};
  return self;
}
- (MPSDataType)dataType {
  return _view.type;
}
- (NSUInteger)numberOfDimensions {
  return _view.sizes.size();
}
- (NSUInteger)lengthOfDimension:(NSUInteger)dimension {
  return static_cast<NSUInteger>(_view.sizes[_view.sizes.size() - 1 - dimension]);
}
- (MPSNDArrayDescriptor*)descriptor {
  MPSNDArrayDescriptor* const descriptor = [[MPSNDArrayDescriptor new] autorelease];
  [descriptor describe:_view.sizes type:_view.type];
  return descriptor;
}
+ (MPSNDArray*)arrayOver:(ArrayView)view {
  MPSNDArray* const array = [[MPSNDArray new] autorelease];
  array->_view = std::move(view);
  return array;
}
- (MPSNDArray*)arrayViewWithCommandBuffer:(id<MTLCommandBuffer>)buffer
                               descriptor:(MPSNDArrayDescriptor*)descriptor
                                 aliasing:(MPSAliasingStrategy)aliasing {
  ArrayView view = _view;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    view.sizes[i] = _view.sizes[descriptor->_order[i]];
    view.strides[i] = _view.strides[descriptor->_order[i]];
  }
  return [MPSNDArray arrayOver:std::move(view)];
}
- (MPSNDArray*)arrayViewWithShape:(MPSShape*)shape strides:(MPSShape*)strides {
  return [MPSNDArray arrayOver:ArrayView{_view.range, ToSizes(shape), ToSizes(strides), _view.type}];
}
@end

@implementation MPSKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device {
  return self;
}
@end
@implementation MPSNDArrayMultiaryBase
@end
@implementation MPSNDArrayMultiaryKernel
@end
@implementation MPSNDArrayUnaryKernel
@end
@implementation MPSNDArrayBinaryKernel
@end
@implementation MPSNDArrayMatrixMultiplication
@end
@implementation MPSMatrixDescriptor
@end
@implementation MPSMatrix
@end
@implementation MPSMatrixMultiplication
@end
@implementation MPSMatrixSolveTriangular
@end
@implementation MPSMatrixDecompositionLU
@end

// The one use of this kernel takes dims of size 1 away.
@interface MPSNDArrayIdentity : MPSNDArrayUnaryKernel
@end
@implementation MPSNDArrayIdentity
- (MPSNDArray*)reshapeWithCommandBuffer:(id<MTLCommandBuffer>)buffer
                            sourceArray:(MPSNDArray*)source
                                  shape:(MPSShape*)shape
                       destinationArray:(MPSNDArray*)target {
  ArrayView view = source->_view;
  view.sizes = ToSizes(shape);
  view.strides.resize(view.sizes.size());
  return [MPSNDArray arrayOver:std::move(view)];
}
@end
