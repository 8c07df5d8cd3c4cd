// MetalPerformanceShaders, as far as libtorch's mps backend uses it.
#pragma once

#include <Metal/Metal.h>
#include <cstdint>

typedef NSArray<NSNumber*> MPSShape;

typedef enum MPSDataType : uint32_t {
  MPSDataTypeInvalid = 0,
  MPSDataTypeComplexBit = 0x01000000,
  MPSDataTypeFloatBit = 0x10000000,
  MPSDataTypeSignedBit = 0x20000000,
  MPSDataTypeAlternateEncodingBit = 0x80000000,
  MPSDataTypeUInt8 = 8,
  MPSDataTypeUInt16 = 16,
  MPSDataTypeUInt32 = 32,
  MPSDataTypeUInt64 = 64,
  MPSDataTypeInt8 = MPSDataTypeSignedBit | 8,
  MPSDataTypeInt16 = MPSDataTypeSignedBit | 16,
  MPSDataTypeInt32 = MPSDataTypeSignedBit | 32,
  MPSDataTypeInt64 = MPSDataTypeSignedBit | 64,
  MPSDataTypeFloat16 = MPSDataTypeFloatBit | 16,
  MPSDataTypeFloat32 = MPSDataTypeFloatBit | 32,
  MPSDataTypeBool = MPSDataTypeAlternateEncodingBit | 8,
  MPSDataTypeBFloat16 = MPSDataTypeAlternateEncodingBit | MPSDataTypeFloat16,
  MPSDataTypeComplexFloat16 = MPSDataTypeFloatBit | MPSDataTypeComplexBit | 32,
  MPSDataTypeComplexFloat32 = MPSDataTypeFloatBit | MPSDataTypeComplexBit | 64,
} MPSDataType;

typedef NS_ENUM(NSUInteger, MPSAliasingStrategy) {
  MPSAliasingStrategyDefault = 0,
  MPSAliasingStrategyShallAlias = 1,
  MPSAliasingStrategyShallNotAlias = 2
};

@interface MPSCommandBuffer : NSObject <MTLCommandBuffer>
@property(readonly) id<MTLCommandBuffer> commandBuffer;
@property(readonly) id<MTLCommandBuffer> rootCommandBuffer;
+ (instancetype)commandBufferFromCommandQueue:(id<MTLCommandQueue>)queue;
- (void)commitAndContinue;
@end

@interface MPSKernel : NSObject
@property NSUInteger options;
- (instancetype)initWithDevice:(id<MTLDevice>)device;
@end

@interface MPSNDArrayDescriptor : NSObject
@property MPSDataType dataType;
@property NSUInteger numberOfDimensions;
+ (instancetype)descriptorWithDataType:(MPSDataType)type shape:(MPSShape*)shape;
- (void)transposeDimension:(NSUInteger)one withDimension:(NSUInteger)other;
- (void)sliceDimension:(NSUInteger)dimension withSubrange:(NSRange)range;
@end

@interface MPSNDArray : NSObject
@property(readonly) MPSDataType dataType;
@property(readonly) NSUInteger numberOfDimensions;
@property(retain) NSString* label;
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSNDArrayDescriptor*)descriptor;
- (instancetype)initWithDevice:(id<MTLDevice>)device scalar:(double)value;
- (NSUInteger)lengthOfDimension:(NSUInteger)dimension;
- (MPSNDArrayDescriptor*)descriptor;
- (MPSNDArray*)arrayViewWithCommandBuffer:(id<MTLCommandBuffer>)buffer
                               descriptor:(MPSNDArrayDescriptor*)descriptor
                                 aliasing:(MPSAliasingStrategy)aliasing;
- (void)writeBytes:(const void*)bytes strideBytes:(NSInteger*)strides;
@end

@interface MPSNDArrayMultiaryBase : MPSKernel
@end
@interface MPSNDArrayMultiaryKernel : MPSNDArrayMultiaryBase
@end
@interface MPSNDArrayUnaryKernel : MPSKernel
@end
@interface MPSNDArrayBinaryKernel : MPSNDArrayMultiaryKernel
@end
@interface MPSNDArrayMatrixMultiplication : MPSNDArrayMultiaryKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device sourceCount:(NSUInteger)count;
- (void)encodeToCommandEncoder:(id<MTLComputeCommandEncoder>)encoder
                 commandBuffer:(id<MTLCommandBuffer>)buffer
                  sourceArrays:(NSArray<MPSNDArray*>*)sources
              destinationArray:(MPSNDArray*)target;
@end

@interface MPSMatrixDescriptor : NSObject
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                matrices:(NSUInteger)matrices
                                rowBytes:(NSUInteger)row_bytes
                             matrixBytes:(NSUInteger)matrix_bytes
                                dataType:(MPSDataType)type;
@end
@interface MPSMatrix : NSObject
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSMatrixDescriptor*)descriptor;
@end
@interface MPSMatrixMultiplication : MPSKernel
@end
@interface MPSMatrixSolveTriangular : MPSKernel
@property NSUInteger batchStart;
@property NSUInteger batchSize;
- (instancetype)initWithDevice:(id<MTLDevice>)device
                         right:(BOOL)right
                         upper:(BOOL)upper
                     transpose:(BOOL)transpose
                          unit:(BOOL)unit
                         order:(NSUInteger)order
        numberOfRightHandSides:(NSUInteger)count
                         alpha:(double)alpha;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)buffer
                 sourceMatrix:(MPSMatrix*)source
          rightHandSideMatrix:(MPSMatrix*)right
               solutionMatrix:(MPSMatrix*)solution;
@end
@interface MPSMatrixDecompositionLU : MPSKernel
- (instancetype)initWithDevice:(id<MTLDevice>)device
                          rows:(NSUInteger)rows
                       columns:(NSUInteger)columns;
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)buffer
                 sourceMatrix:(MPSMatrix*)source
                 resultMatrix:(MPSMatrix*)result
                 pivotIndices:(MPSMatrix*)pivots
                       status:(id<MTLBuffer>)status;
@end
