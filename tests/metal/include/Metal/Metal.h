// Metal, as far as libtorch's mps backend uses it.
#pragma once

#include <Foundation/Foundation.h>
#include <cstdint>

typedef struct {
  NSUInteger width;
  NSUInteger height;
  NSUInteger depth;
} MTLSize;

typedef unsigned simd_uint3 __attribute__((ext_vector_type(3)));
typedef unsigned long simd_ulong3 __attribute__((ext_vector_type(3)));

typedef struct {
  NSUInteger size;
  NSUInteger align;
} MTLSizeAndAlign;

static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
  return (MTLSize){width, height, depth};
}

typedef NS_OPTIONS(NSUInteger, MTLResourceOptions) {
  MTLResourceCPUCacheModeDefaultCache = 0,
  MTLResourceStorageModeShared = 0,
  MTLResourceHazardTrackingModeDefault = 0,
  MTLResourceStorageModeManaged = 16,
  MTLResourceStorageModePrivate = 32,
  MTLResourceHazardTrackingModeUntracked = 256,
  MTLResourceHazardTrackingModeTracked = 512
};
typedef NS_ENUM(NSUInteger, MTLStorageMode) {
  MTLStorageModeShared = 0,
  MTLStorageModeManaged = 1,
  MTLStorageModePrivate = 2
};
typedef NS_ENUM(NSUInteger, MTLCPUCacheMode) { MTLCPUCacheModeDefaultCache = 0 };
typedef NS_ENUM(NSUInteger, MTLHazardTrackingMode) {
  MTLHazardTrackingModeDefault = 0,
  MTLHazardTrackingModeUntracked = 1,
  MTLHazardTrackingModeTracked = 2
};
typedef NS_ENUM(NSUInteger, MTLHeapType) { MTLHeapTypeAutomatic = 0 };
typedef NS_ENUM(NSUInteger, MTLPurgeableState) {
  MTLPurgeableStateNonVolatile = 2,
  MTLPurgeableStateEmpty = 4
};
typedef NS_ENUM(NSInteger, MTLGPUFamily) {
  MTLGPUFamilyApple7 = 1007,
  MTLGPUFamilyMac2 = 2002,
  MTLGPUFamilyMetal3 = 5001
};
typedef NS_ENUM(NSUInteger, MTLLanguageVersion) {
  MTLLanguageVersion2_3 = 0x20003,
  MTLLanguageVersion3_0 = 0x30000
};
typedef NS_ENUM(NSInteger, MTLCaptureDestination) { MTLCaptureDestinationGPUTraceDocument = 2 };
typedef NS_ENUM(NSUInteger, MTLCommandBufferStatus) {
  MTLCommandBufferStatusNotEnqueued = 0,
  MTLCommandBufferStatusEnqueued = 1,
  MTLCommandBufferStatusCommitted = 2,
  MTLCommandBufferStatusScheduled = 3,
  MTLCommandBufferStatusCompleted = 4,
  MTLCommandBufferStatusError = 5
};
typedef NS_ENUM(NSUInteger, MTLDispatchType) {
  MTLDispatchTypeSerial = 0,
  MTLDispatchTypeConcurrent = 1
};
typedef NS_OPTIONS(NSUInteger, MTLResourceUsage) {
  MTLResourceUsageRead = 1,
  MTLResourceUsageWrite = 2
};

@protocol MTLDevice
, MTLBuffer, MTLHeap, MTLCommandQueue, MTLCommandBuffer, MTLComputeCommandEncoder,
    MTLBlitCommandEncoder, MTLSharedEvent, MTLEvent, MTLLibrary, MTLFunction,
    MTLComputePipelineState, MTLArgumentEncoder;
@class MTLHeapDescriptor, MTLCompileOptions, MTLSharedEventListener, MTLFunctionConstantValues;

typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer>);
typedef void (^MTLSharedEventNotificationBlock)(id<MTLSharedEvent>, uint64_t);
typedef void (^MTLBufferDeallocator)(void*, NSUInteger);

@protocol MTLResource <NSObject>
@end

@protocol MTLBuffer <MTLResource>
@property(readonly) NSUInteger length;
@property(readonly) MTLStorageMode storageMode;
@property(readonly) MTLResourceOptions resourceOptions;
@property(readonly) id<MTLDevice> device;
@property(readonly) id<MTLHeap> heap;
@property(readonly) uint64_t gpuAddress;
- (void*)contents;
- (void)didModifyRange:(NSRange)range;
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state;
@end

@protocol MTLHeap <NSObject>
@property(readonly) NSUInteger size;
@property(readonly) NSUInteger usedSize;
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state;
@end

@protocol MTLCommandQueue <NSObject>
@property(readonly) id<MTLDevice> device;
- (id<MTLCommandBuffer>)commandBuffer;
@end

@protocol MTLCommandBuffer <NSObject>
@property(readonly) MTLCommandBufferStatus status;
@property(readonly) NSError* error;
@property(readonly) CFTimeInterval GPUStartTime;
@property(readonly) CFTimeInterval GPUEndTime;
@property(readonly) CFTimeInterval kernelStartTime;
@property(readonly) CFTimeInterval kernelEndTime;
@property(readonly) id<MTLCommandQueue> commandQueue;
@property(readonly) id<MTLDevice> device;
- (id<MTLComputeCommandEncoder>)computeCommandEncoder;
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type;
- (id<MTLBlitCommandEncoder>)blitCommandEncoder;
- (void)commit;
- (void)waitUntilCompleted;
- (void)addScheduledHandler:(MTLCommandBufferHandler)handler;
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler;
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value;
@end

@protocol MTLCommandEncoder <NSObject>
- (void)endEncoding;
@end

@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage;
- (void)dispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group;
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)group;
@end

@protocol MTLBlitCommandEncoder <MTLCommandEncoder>
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value;
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)source_offset
              toBuffer:(id<MTLBuffer>)target
     destinationOffset:(NSUInteger)target_offset
                  size:(NSUInteger)size;
- (void)synchronizeResource:(id<MTLResource>)resource;
@end

@protocol MTLEvent <NSObject>
@end

@protocol MTLSharedEvent <MTLEvent>
@property uint64_t signaledValue;
- (void)notifyListener:(MTLSharedEventListener*)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block;
@end

@protocol MTLFunction <NSObject>
@property(readonly) NSString* name;
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index;
@end

@protocol MTLArgumentEncoder <NSObject>
@property(readonly) NSUInteger encodedLength;
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
@end

@protocol MTLLibrary <NSObject>
@property(readonly) NSArray<NSString*>* functionNames;
- (id<MTLFunction>)newFunctionWithName:(NSString*)name;
- (id<MTLFunction>)newFunctionWithName:(NSString*)name
                        constantValues:(MTLFunctionConstantValues*)values
                                 error:(NSError**)error;
@end

@protocol MTLComputePipelineState <NSObject>
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property(readonly) NSUInteger threadExecutionWidth;
@property(readonly) NSUInteger staticThreadgroupMemoryLength;
@end

@protocol MTLDevice <NSObject>
@property(readonly) NSString* name;
@property(readonly, getter=isLowPower) BOOL lowPower;
@property(readonly) BOOL hasUnifiedMemory;
@property(readonly) NSUInteger maxBufferLength;
@property(readonly) uint64_t recommendedMaxWorkingSetSize;
@property(readonly) NSUInteger currentAllocatedSize;
@property(readonly) MTLSize maxThreadsPerThreadgroup;
@property(readonly) NSUInteger maxThreadgroupMemoryLength;
- (BOOL)supportsFamily:(MTLGPUFamily)family;
- (id<MTLCommandQueue>)newCommandQueue;
- (id<MTLSharedEvent>)newSharedEvent;
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length
                                            options:(MTLResourceOptions)options;
- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (id<MTLBuffer>)newBufferWithBytes:(const void*)bytes
                             length:(NSUInteger)length
                            options:(MTLResourceOptions)options;
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)bytes
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(MTLBufferDeallocator)deallocator;
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source
                               options:(MTLCompileOptions*)options
                                 error:(NSError**)error;
- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(NSError**)error;
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                             error:(NSError**)error;
@end

@interface MTLHeapDescriptor : NSObject
@property NSUInteger size;
@property MTLStorageMode storageMode;
@property MTLCPUCacheMode cpuCacheMode;
@property MTLHazardTrackingMode hazardTrackingMode;
@property MTLHeapType type;
@property MTLResourceOptions resourceOptions;
@end

@interface MTLCompileOptions : NSObject
@property MTLLanguageVersion languageVersion;
@property BOOL fastMathEnabled;
@property(copy) NSDictionary* preprocessorMacros;
@end

@interface MTLSharedEventListener : NSObject
@end

@interface MTLFunctionConstantValues : NSObject
- (void)setConstantValue:(const void*)value type:(NSUInteger)type atIndex:(NSUInteger)index;
@end

@interface MTLCaptureDescriptor : NSObject
@property MTLCaptureDestination destination;
@property(copy) NSURL* outputURL;
@property(retain) id captureObject;
@end

@interface MTLCaptureManager : NSObject
+ (MTLCaptureManager*)sharedCaptureManager;
- (BOOL)isCapturing;
- (BOOL)supportsDestination:(MTLCaptureDestination)destination;
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor error:(NSError**)error;
- (void)stopCapture;
@end

extern "C" {
NSArray<id<MTLDevice>>* MTLCopyAllDevices(void);
id<MTLDevice> MTLCreateSystemDefaultDevice(void);
}
