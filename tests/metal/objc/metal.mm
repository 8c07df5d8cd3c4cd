// Metal: a device whose buffers are the host's memory, and whose queues are threads.
#include "tests/metal/objc/metal.h"

#include <Block.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/metal/gpu/delays.h"
#include "tests/metal/gpu/shared_event.h"
#include "tests/metal/graph/strided_copy.h"
#include "tests/metal/objc/shaders.h"
#include "tests/metal/rules/planted_race.h"

using mpsd::standin::Command;
using mpsd::standin::CommandBuffer;
using mpsd::standin::BufferStage;
using mpsd::standin::Delays;
using mpsd::standin::EncoderLife;
using mpsd::standin::GpuMemory;
using mpsd::standin::GpuQueue;
using mpsd::standin::GpuRange;
using mpsd::standin::OneThread;
using mpsd::standin::PlantedRace;
using mpsd::standin::SharedEvent;
using mpsd::standin::StridedCopyOf;

namespace {

constexpr NSUInteger kWorkingSet = 8UL << 30;
constexpr NSUInteger kHostPage = 4096;  // Linux maps these; a Mac's are larger
constexpr NSUInteger kHeapStep = 256;

constexpr mpsd::standin::Rule kWholePages{
    "whole-pages", "memory of the host that a buffer uses without a copy is of whole pages"};

std::atomic<NSUInteger> allocated_bytes{0};
std::atomic<uint64_t> queues{0};

MTLStorageMode ModeOf(MTLResourceOptions options) {
  return options & MTLResourceStorageModePrivate ? MTLStorageModePrivate : MTLStorageModeShared;
}

// A fault of the real driver, planted where MPSD_STANDIN_DRIVER_RACE is set: the driver begins
// encoders and takes them apart with state of the process.
PlantedRace& Driver() {
  static auto* const driver = new PlantedRace("MPSD_STANDIN_DRIVER_RACE", "driver");
  return *driver;
}

// Whether no page can be written. The call brings pages in, and changes no byte. A Mac's page around an
// object has several of the host's, and the others may be anybody's.
bool AreReadOnly(char* pages, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kHostPage) {
    if (madvise(pages + at, kHostPage, MADV_POPULATE_WRITE) == 0) return false;
  }
  return true;
}

// A block that is kept, and runs within a pool of its own.
std::function<void()> Kept(id<MTLCommandBuffer> buffer, MTLCommandBufferHandler block) {
  const std::shared_ptr<void> copy(_Block_copy(block), [](void* kept) { _Block_release(kept); });
  const std::shared_ptr<void> argument = Retained(buffer);
  return [copy, argument] {
    @autoreleasepool {
      ((MTLCommandBufferHandler)copy.get())((id)argument.get());
    }
  };
}

}  // namespace

@interface StandinHeap : NSObject <MTLHeap> {
 @public
  NSUInteger _size;
  std::atomic<NSUInteger> _used;
}
@end

@interface StandinBuffer : NSObject <MTLBuffer> {
 @public
  std::shared_ptr<GpuMemory> _memory;
  MTLResourceOptions _options;
  StandinHeap* _heap;
}
@end

@implementation StandinBuffer
@dynamic resourceOptions, gpuAddress;
+ (StandinBuffer*)newOver:(std::shared_ptr<GpuMemory>)memory options:(MTLResourceOptions)options {
  StandinBuffer* const buffer = [self new];
  buffer->_memory = std::move(memory);
  buffer->_options = options;
  allocated_bytes += buffer->_memory->bytes();
  return buffer;
}
- (NSUInteger)length {
  return _memory->bytes();
}
- (void*)contents {
  return ModeOf(_options) == MTLStorageModePrivate ? nullptr : _memory->data();
}
- (MTLStorageMode)storageMode {
  return ModeOf(_options);
}
- (id<MTLDevice>)device {
  return StandinDeviceOfProcess();
}
- (id<MTLHeap>)heap {
  return _heap;
}
- (void)didModifyRange:(NSRange)range {
}
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
  return MTLPurgeableStateNonVolatile;
}
- (void)dealloc {
  allocated_bytes -= _memory->bytes();
  if (_heap != nil) {
    _heap->_used -= _memory->bytes();
    [_heap release];
  }
  [super dealloc];
}
@end

GpuRange RangeOf(id<MTLBuffer> buffer, NSUInteger offset, NSUInteger bytes) {
  return GpuRange{((StandinBuffer*)buffer)->_memory, offset, bytes, Retained(buffer)};
}

@implementation StandinHeap
- (NSUInteger)size {
  return _size;
}
- (NSUInteger)usedSize {
  return _used;
}
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment {
  return _size - _used;
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  if (_used + length > _size) return nil;
  _used += length;
  StandinBuffer* const buffer = [StandinBuffer newOver:GpuMemory::Make(length) options:options];
  buffer->_heap = [self retain];
  return buffer;
}
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
  return MTLPurgeableStateNonVolatile;
}
@end

@interface StandinEvent : NSObject <MTLSharedEvent> {
 @public
  std::shared_ptr<SharedEvent> _event;
}
@end

@implementation StandinEvent
- (instancetype)init {
  _event = std::make_shared<SharedEvent>();
  return self;
}
- (uint64_t)signaledValue {
  return _event->value();
}
- (void)setSignaledValue:(uint64_t)value {
  _event->Signal(value);
}
- (void)notifyListener:(MTLSharedEventListener*)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block {
  const std::shared_ptr<void> copy(_Block_copy(block), [](void* kept) { _Block_release(kept); });
  const std::shared_ptr<void> event = Retained(self);
  _event->WhenReached(value, [copy, event, value] {
    @autoreleasepool {
      ((MTLSharedEventNotificationBlock)copy.get())((id)event.get(), value);
    }
  });
}
@end

// Both kinds of encoder have one life. A driver has a class for each kind.
@interface StandinEncoder : NSObject {
 @public
  std::shared_ptr<CommandBuffer> _commands;
  std::unique_ptr<OneThread> _turn;
  EncoderLife _life;
}
@end

@implementation StandinEncoder
- (instancetype)init {
  _turn = std::make_unique<OneThread>("encoder");
  return self;
}
- (void)endEncoding {
  const OneThread::Turn turn(*_turn);
  if (_life.Ends()) _commands->life().EndsEncoder();
}
// Where the real driver crashes.
- (void)destroyImpl {
  const PlantedRace::Use use(Driver());
}
- (void)dealloc {
  _life.Released();
  [self destroyImpl];
  [super dealloc];
}
@end

@interface StandinBlitEncoder : StandinEncoder <MTLBlitCommandEncoder>
@end

@implementation StandinBlitEncoder
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value {
  const OneThread::Turn turn(*_turn);
  if (!_life.AllowsCommands("fillBuffer")) return;
  const GpuRange target = RangeOf(buffer, range.location, range.length);
  _commands->Add("fillBuffer",
                 Command{[=] { std::memset(target.data(), value, target.bytes); }, {}, {target}});
}
- (void)copyFromBuffer:(id<MTLBuffer>)source_buffer
          sourceOffset:(NSUInteger)source_offset
              toBuffer:(id<MTLBuffer>)target_buffer
     destinationOffset:(NSUInteger)target_offset
                  size:(NSUInteger)size {
  const OneThread::Turn turn(*_turn);
  if (!_life.AllowsCommands("copyFromBuffer")) return;
  const GpuRange source = RangeOf(source_buffer, source_offset, size);
  const GpuRange target = RangeOf(target_buffer, target_offset, size);
  _commands->Add("copyFromBuffer",
                 Command{[=] { std::memmove(target.data(), source.data(), source.bytes); },
                         {source},
                         {target}});
}
- (void)synchronizeResource:(id<MTLResource>)resource {
}
@end

// A kernel's arguments stay until others replace them.
@interface StandinComputeEncoder : StandinEncoder {
  StandinPipeline* _pipeline;
  std::map<NSUInteger, GpuRange> _buffers;
  std::map<NSUInteger, std::vector<uint32_t>> _words;
}
@end

@implementation StandinComputeEncoder
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
  const OneThread::Turn turn(*_turn);
  if (_life.AllowsCommands("setComputePipelineState")) _pipeline = (StandinPipeline*)state;
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  const OneThread::Turn turn(*_turn);
  if (!_life.AllowsCommands("setBuffer")) return;
  _buffers[index] = RangeOf(buffer, offset, [buffer length] - offset);
}
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
  const OneThread::Turn turn(*_turn);
  if (!_life.AllowsCommands("setBytes")) return;
  const auto* words = static_cast<const uint32_t*>(bytes);
  _words[index].assign(words, words + length / sizeof(uint32_t));
}
- (void)dispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group {
  const OneThread::Turn turn(*_turn);
  if (!_life.AllowsCommands("dispatchThreads")) return;
  const std::vector<int64_t> sizes(_words[2].begin(), _words[2].end());
  const std::vector<int64_t> strides(_words[3].begin(), _words[3].end());
  _commands->Add("dispatchThreads",
                 StridedCopyOf(_pipeline->_kernel, _buffers[0], _buffers[1], sizes, strides));
}
@end

@implementation StandinCommandBuffer
@dynamic GPUStartTime, GPUEndTime, kernelStartTime, kernelEndTime;
- (instancetype)init {
  _commands = std::make_shared<CommandBuffer>();
  return self;
}
- (id)begin:(Class)kind call:(const char*)call {
  const PlantedRace::Use use(Driver());
  const OneThread::Turn turn(_commands->turn());
  const bool is_allowed = _commands->life().BeginsEncoder(call);
  StandinEncoder* const encoder = [[kind new] autorelease];
  encoder->_commands = _commands;
  if (!is_allowed) encoder->_life.Ends();
  return encoder;
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  return [self begin:[StandinComputeEncoder class] call:"computeCommandEncoder"];
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type {
  return [self begin:[StandinComputeEncoder class] call:"computeCommandEncoderWithDispatchType"];
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
  return [self begin:[StandinBlitEncoder class] call:"blitCommandEncoder"];
}
- (void)addScheduledHandler:(MTLCommandBufferHandler)handler {
  _commands->AddScheduledHandler(Kept(self, handler));
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler {
  _commands->AddCompletedHandler(Kept(self, handler));
}
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
  const std::shared_ptr<SharedEvent> shared = ((StandinEvent*)event)->_event;
  _commands->AddEvent("encodeSignalEvent", [=] { shared->Signal(value); });
}
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
  const std::shared_ptr<SharedEvent> shared = ((StandinEvent*)event)->_event;
  _commands->AddEvent("encodeWaitForEvent", [=] { shared->WaitFor(value); });
}
- (void)commit {
  _queue->_queue->Commit(_commands);
}
// libtorch 2.6 asks no command buffer for its error. The stand-in throws in place of newer ones.
- (void)waitUntilCompleted {
  _commands->WaitUntilCompleted();
  if (!_commands->error().empty()) throw std::runtime_error(_commands->error());
}
- (MTLCommandBufferStatus)status {
  switch (_commands->stage()) {
    case BufferStage::kOpen:
      return MTLCommandBufferStatusNotEnqueued;
    case BufferStage::kCommitted:
      return MTLCommandBufferStatusCommitted;
    case BufferStage::kCompleted:
      return MTLCommandBufferStatusCompleted;
  }
}
- (NSError*)error {
  return nil;
}
- (id<MTLCommandQueue>)commandQueue {
  return _queue;
}
- (id<MTLDevice>)device {
  return StandinDeviceOfProcess();
}
@end

@implementation StandinQueue
- (instancetype)init {
  _queue = std::make_unique<GpuQueue>(Delays::OfProcess(queues++));
  return self;
}
- (id<MTLCommandBuffer>)commandBuffer {
  StandinCommandBuffer* const buffer = [[StandinCommandBuffer new] autorelease];
  buffer->_queue = self;
  return buffer;
}
- (id<MTLDevice>)device {
  return StandinDeviceOfProcess();
}
@end

@interface StandinDevice : NSObject <MTLDevice>
@end

@implementation StandinDevice
@dynamic maxThreadsPerThreadgroup;
- (NSString*)name {
  return @"Stand-in of Metal";
}
- (BOOL)isLowPower {
  return NO;
}
- (BOOL)hasUnifiedMemory {
  return YES;
}
- (NSUInteger)maxBufferLength {
  return kWorkingSet;
}
- (uint64_t)recommendedMaxWorkingSetSize {
  return kWorkingSet;
}
- (NSUInteger)maxThreadgroupMemoryLength {
  return 32768;
}
- (NSUInteger)currentAllocatedSize {
  return allocated_bytes;
}
- (BOOL)supportsFamily:(MTLGPUFamily)family {
  return YES;
}
- (id<MTLCommandQueue>)newCommandQueue {
  return [StandinQueue new];
}
- (id<MTLSharedEvent>)newSharedEvent {
  return [StandinEvent new];
}
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length
                                            options:(MTLResourceOptions)options {
  return MTLSizeAndAlign{(length + kHeapStep - 1) / kHeapStep * kHeapStep, kHeapStep};
}
- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor {
  StandinHeap* const heap = [StandinHeap new];
  heap->_size = descriptor.size;
  return heap;
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  if (length > kWorkingSet) return nil;
  return [StandinBuffer newOver:GpuMemory::Make(length) options:options];
}
- (id<MTLBuffer>)newBufferWithBytes:(const void*)bytes
                             length:(NSUInteger)length
                            options:(MTLResourceOptions)options {
  auto memory = GpuMemory::Make(length);
  std::memcpy(memory->data(), bytes, length);
  return [StandinBuffer newOver:std::move(memory) options:options];
}
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)bytes
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(MTLBufferDeallocator)deallocator {
  static const bool is_strict = std::getenv("MPSD_STANDIN_REFUSES_READ_ONLY") != nullptr;
  if (is_strict && AreReadOnly(static_cast<char*>(bytes), length)) return nil;
  if ((reinterpret_cast<uintptr_t>(bytes) | length) % kHostPage != 0) {
    Broken(kWholePages, "newBufferWithBytesNoCopy");
    return nil;
  }
  std::function<void()> ends;
  if (deallocator != nil) {
    const std::shared_ptr<void> copy(_Block_copy(deallocator),
                                     [](void* kept) { _Block_release(kept); });
    ends = [copy, bytes, length] { ((MTLBufferDeallocator)copy.get())(bytes, length); };
  }
  return [StandinBuffer newOver:GpuMemory::Wrap(bytes, length, std::move(ends)) options:options];
}
// Nothing here compiles shaders, but a library's source tells which kernels it has.
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source
                               options:(MTLCompileOptions*)options
                                 error:(NSError**)error {
  StandinLibrary* const library = [StandinLibrary new];
  library->_source = [source UTF8String];
  return library;
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                             error:(NSError**)error {
  return PipelineOf(function);
}
- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(NSError**)error {
  if (error != nullptr) *error = [[NSError new] autorelease];
  return nil;
}
@end

id<MTLDevice> StandinDeviceOfProcess() {
  static id<MTLDevice> const device = [StandinDevice new];
  return device;
}

NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) {
  return [[NSArray arrayWithObject:StandinDeviceOfProcess()] retain];
}

id<MTLDevice> MTLCreateSystemDefaultDevice(void) { return [StandinDeviceOfProcess() retain]; }

@implementation MTLHeapDescriptor
@end
@implementation MTLCompileOptions
@dynamic preprocessorMacros;
- (void)setLanguageVersion:(MTLLanguageVersion)version {
}
- (MTLLanguageVersion)languageVersion {
  return MTLLanguageVersion3_0;
}
- (void)setFastMathEnabled:(BOOL)is_enabled {
}
- (BOOL)fastMathEnabled {
  return NO;
}
- (void)setMathMode:(NSInteger)mode {
}
- (void)setMathFloatingPointFunctions:(NSInteger)functions {
}
@end
@implementation MTLSharedEventListener
@end
@implementation MTLFunctionConstantValues
@end
@implementation MTLCaptureDescriptor
@end
@implementation MTLCaptureManager
+ (MTLCaptureManager*)sharedCaptureManager {
  static auto* const manager = [MTLCaptureManager new];
  return manager;
}
- (BOOL)isCapturing {
  return NO;
}
- (BOOL)supportsDestination:(MTLCaptureDestination)destination {
  return NO;
}
@end
