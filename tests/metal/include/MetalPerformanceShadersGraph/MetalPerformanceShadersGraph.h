// MetalPerformanceShadersGraph, as far as libtorch's mps backend uses it. Apple's graphs have more
// methods. libtorch's sources compile without them, and a call is an error that names the method.
#pragma once

#include <MetalPerformanceShaders/MetalPerformanceShaders.h>
#include <cstdint>

typedef NS_ENUM(uint64_t, MPSGraphOptimization) {
  MPSGraphOptimizationLevel0 = 0,
  MPSGraphOptimizationLevel1 = 1
};
typedef NS_ENUM(NSInteger, MPSGraphResizeMode) {
  MPSGraphResizeNearest = 0,
  MPSGraphResizeBilinear = 1
};
typedef NS_ENUM(NSUInteger, MPSGraphPaddingStyle) { MPSGraphPaddingStyleExplicit = 0 };
typedef NS_ENUM(NSInteger, MPSGraphPaddingMode) {
  MPSGraphPaddingModeConstant = 0,
  MPSGraphPaddingModeReflect = 1,
  MPSGraphPaddingModeSymmetric = 2,
  MPSGraphPaddingModeClampToEdge = 3,
  MPSGraphPaddingModeZero = 4
};
typedef NS_ENUM(NSUInteger, MPSGraphTensorNamedDataLayout) {
  MPSGraphTensorNamedDataLayoutNCHW = 0,
  MPSGraphTensorNamedDataLayoutNHWC = 1,
  MPSGraphTensorNamedDataLayoutOIHW = 2,
  MPSGraphTensorNamedDataLayoutHWIO = 3,
  MPSGraphTensorNamedDataLayoutCHW = 4,
  MPSGraphTensorNamedDataLayoutHWC = 5,
  MPSGraphTensorNamedDataLayoutHW = 6,
  MPSGraphTensorNamedDataLayoutNCDHW = 7,
  MPSGraphTensorNamedDataLayoutNDHWC = 8,
  MPSGraphTensorNamedDataLayoutOIDHW = 9,
  MPSGraphTensorNamedDataLayoutDHWIO = 10
};
typedef NS_ENUM(NSInteger, MPSGraphReductionMode) {
  MPSGraphReductionModeMin = 0,
  MPSGraphReductionModeMax = 1,
  MPSGraphReductionModeSum = 2
};
typedef NS_ENUM(NSInteger, MPSGraphScatterMode) {
  MPSGraphScatterModeAdd = 0,
  MPSGraphScatterModeSub = 1,
  MPSGraphScatterModeMul = 2,
  MPSGraphScatterModeDiv = 3,
  MPSGraphScatterModeMin = 4,
  MPSGraphScatterModeMax = 5,
  MPSGraphScatterModeSet = 6
};
typedef NS_ENUM(NSUInteger, MPSGraphLossReductionType) {
  MPSGraphLossReductionTypeNone = 0,
  MPSGraphLossReductionTypeAxis = 0,
  MPSGraphLossReductionTypeSum = 1,
  MPSGraphLossReductionTypeMean = 2
};

@interface MPSGraphObject : NSObject
@end
@interface MPSGraphOperation : MPSGraphObject
@end
@interface MPSGraphType : MPSGraphObject
@end
@interface MPSGraphShapedType : MPSGraphType
@end
@interface MPSGraphDevice : MPSGraphObject
@end
@interface MPSGraphExecutable : MPSGraphObject
@end

@interface MPSGraphTensor : MPSGraphObject <NSCopying>
@property(readonly) MPSShape* shape;
@property(readonly) MPSDataType dataType;
@end

@interface MPSGraphTensorData : MPSGraphObject
@property(readonly) MPSShape* shape;
@property(readonly) MPSDataType dataType;
- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer
                            shape:(MPSShape*)shape
                         dataType:(MPSDataType)type;
- (instancetype)initWithMPSNDArray:(MPSNDArray*)array;
- (MPSNDArray*)mpsndarray;
@end

@interface MPSGraphCompilationDescriptor : MPSGraphObject
@property MPSGraphOptimization optimizationLevel;
@end

@interface MPSGraphExecutionDescriptor : MPSGraphObject
@property(retain) MPSGraphCompilationDescriptor* compilationDescriptor;
@property BOOL waitUntilCompleted;
@end

@interface MPSGraphConvolution2DOpDescriptor : MPSGraphObject
@property NSUInteger strideInX;
@property NSUInteger strideInY;
@property NSUInteger dilationRateInX;
@property NSUInteger dilationRateInY;
@property NSUInteger paddingLeft;
@property NSUInteger paddingRight;
@property NSUInteger paddingTop;
@property NSUInteger paddingBottom;
@property NSUInteger groups;
@property MPSGraphPaddingStyle paddingStyle;
@property MPSGraphTensorNamedDataLayout dataLayout;
@property MPSGraphTensorNamedDataLayout weightsLayout;
@end

@interface MPSGraphDepthwiseConvolution3DOpDescriptor : MPSGraphObject
@property(copy) NSArray<NSNumber*>* strides;
@property(copy) NSArray<NSNumber*>* dilationRates;
@property(copy) NSArray<NSNumber*>* paddingValues;
@property MPSGraphPaddingStyle paddingStyle;
@property NSInteger channelDimensionIndex;
@end

@interface MPSGraph : MPSGraphObject
@property NSUInteger options;
- (void)encodeToCommandBuffer:(MPSCommandBuffer*)buffer
                        feeds:(NSDictionary*)feeds
             targetOperations:(NSArray*)operations
            resultsDictionary:(NSDictionary*)results
          executionDescriptor:(MPSGraphExecutionDescriptor*)descriptor;
@end

// A node of one value, by the way its arguments are named.
#define MPSD_GRAPH_UNARY(name) -(MPSGraphTensor*)name : (MPSGraphTensor*)x name : (NSString*)n
#define MPSD_GRAPH_BINARY(name)                                                  \
  -(MPSGraphTensor*)name##WithPrimaryTensor : (MPSGraphTensor*)x secondaryTensor \
      : (MPSGraphTensor*)y name : (NSString*)n
#define MPSD_GRAPH_REDUCTION(name) \
  -(MPSGraphTensor*)name : (MPSGraphTensor*)x axes : (NSArray<NSNumber*>*)axes name : (NSString*)n
#define MPSD_GRAPH_AXIS_REDUCTION(name) \
  -(MPSGraphTensor*)name : (MPSGraphTensor*)x axis : (NSInteger)axis name : (NSString*)n

@interface MPSGraph (Sources)
- (MPSGraphTensor*)placeholderWithShape:(MPSShape*)shape
                               dataType:(MPSDataType)type
                                   name:(NSString*)n;
- (MPSGraphTensor*)constantWithScalar:(double)value dataType:(MPSDataType)type;
- (MPSGraphTensor*)constantWithScalar:(double)value
                                shape:(MPSShape*)shape
                             dataType:(MPSDataType)type;
@end

@interface MPSGraph (Arithmetic)
MPSD_GRAPH_UNARY(identityWithTensor);
MPSD_GRAPH_UNARY(reLUWithTensor);
MPSD_GRAPH_UNARY(exponentWithTensor);
MPSD_GRAPH_UNARY(logarithmWithTensor);
MPSD_GRAPH_UNARY(absoluteWithTensor);
MPSD_GRAPH_UNARY(negativeWithTensor);
MPSD_GRAPH_UNARY(squareWithTensor);
MPSD_GRAPH_UNARY(squareRootWithTensor);
MPSD_GRAPH_UNARY(reverseSquareRootWithTensor);
MPSD_GRAPH_UNARY(reciprocalSquareRootWithTensor);
MPSD_GRAPH_UNARY(reciprocalWithTensor);
MPSD_GRAPH_UNARY(erfWithTensor);
MPSD_GRAPH_UNARY(tanhWithTensor);
MPSD_GRAPH_UNARY(sigmoidWithTensor);
MPSD_GRAPH_UNARY(floorWithTensor);
MPSD_GRAPH_UNARY(ceilWithTensor);
MPSD_GRAPH_UNARY(isNaNWithTensor);
MPSD_GRAPH_UNARY(notWithTensor);
MPSD_GRAPH_BINARY(addition);
MPSD_GRAPH_BINARY(subtraction);
MPSD_GRAPH_BINARY(multiplication);
MPSD_GRAPH_BINARY(division);
MPSD_GRAPH_BINARY(power);
MPSD_GRAPH_BINARY(maximum);
MPSD_GRAPH_BINARY(minimum);
MPSD_GRAPH_BINARY(maximumWithNaNPropagation);
MPSD_GRAPH_BINARY(minimumWithNaNPropagation);
MPSD_GRAPH_BINARY(greaterThan);
MPSD_GRAPH_BINARY(greaterThanOrEqualTo);
MPSD_GRAPH_BINARY(lessThan);
MPSD_GRAPH_BINARY(lessThanOrEqualTo);
MPSD_GRAPH_BINARY(equal);
MPSD_GRAPH_BINARY(notEqual);
MPSD_GRAPH_BINARY(logicalAND);
MPSD_GRAPH_BINARY(logicalOR);
MPSD_GRAPH_BINARY(matrixMultiplication);
- (MPSGraphTensor*)selectWithPredicateTensor:(MPSGraphTensor*)predicate
                         truePredicateTensor:(MPSGraphTensor*)x
                        falsePredicateTensor:(MPSGraphTensor*)y
                                        name:(NSString*)n;
- (MPSGraphTensor*)clampWithTensor:(MPSGraphTensor*)x
                    minValueTensor:(MPSGraphTensor*)least
                    maxValueTensor:(MPSGraphTensor*)most
                              name:(NSString*)n;
@end

@interface MPSGraph (Reductions)
MPSD_GRAPH_REDUCTION(reductionSumWithTensor);
MPSD_GRAPH_REDUCTION(reductionMaximumWithTensor);
MPSD_GRAPH_REDUCTION(reductionMinimumWithTensor);
MPSD_GRAPH_REDUCTION(reductionMaximumPropagateNaNWithTensor);
MPSD_GRAPH_REDUCTION(reductionMinimumPropagateNaNWithTensor);
MPSD_GRAPH_REDUCTION(reductionOrWithTensor);
MPSD_GRAPH_REDUCTION(reductionAndWithTensor);
MPSD_GRAPH_REDUCTION(meanOfTensor);
MPSD_GRAPH_REDUCTION(varianceOfTensor);
MPSD_GRAPH_AXIS_REDUCTION(reductionSumWithTensor);
MPSD_GRAPH_AXIS_REDUCTION(reductionMaximumWithTensor);
MPSD_GRAPH_AXIS_REDUCTION(reductionArgMaximumWithTensor);
MPSD_GRAPH_AXIS_REDUCTION(reductionOrWithTensor);
MPSD_GRAPH_AXIS_REDUCTION(reductionAndWithTensor);
MPSD_GRAPH_AXIS_REDUCTION(softMaxWithTensor);
@end

@interface MPSGraph (Shapes)
- (MPSGraphTensor*)castTensor:(MPSGraphTensor*)x toType:(MPSDataType)type name:(NSString*)n;
- (MPSGraphTensor*)reshapeTensor:(MPSGraphTensor*)x withShape:(MPSShape*)shape name:(NSString*)n;
- (MPSGraphTensor*)broadcastTensor:(MPSGraphTensor*)x toShape:(MPSShape*)shape name:(NSString*)n;
- (MPSGraphTensor*)flatten2DTensor:(MPSGraphTensor*)x axis:(NSInteger)axis name:(NSString*)n;
- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)x
                         dimension:(NSInteger)one
                     withDimension:(NSInteger)other
                              name:(NSString*)n;
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)x
                     dimension:(NSUInteger)dimension
                         start:(NSInteger)start
                        length:(NSInteger)length
                          name:(NSString*)n;
- (MPSGraphTensor*)concatTensors:(NSArray<MPSGraphTensor*>*)tensors
                       dimension:(NSInteger)dimension
                            name:(NSString*)n;
- (MPSGraphTensor*)expandDimsOfTensor:(MPSGraphTensor*)x
                                 axes:(NSArray<NSNumber*>*)axes
                                 name:(NSString*)n;
- (MPSGraphTensor*)gatherWithUpdatesTensor:(MPSGraphTensor*)x
                             indicesTensor:(MPSGraphTensor*)indices
                                      axis:(NSUInteger)axis
                           batchDimensions:(NSUInteger)batch
                                      name:(NSString*)n;
@end

@interface MPSGraph (Layers)
- (MPSGraphTensor*)normalizationWithTensor:(MPSGraphTensor*)x
                                meanTensor:(MPSGraphTensor*)mean
                            varianceTensor:(MPSGraphTensor*)variance
                               gammaTensor:(MPSGraphTensor*)gamma
                                betaTensor:(MPSGraphTensor*)beta
                                   epsilon:(float)epsilon
                                      name:(NSString*)n;
- (MPSGraphTensor*)convolution2DWithSourceTensor:(MPSGraphTensor*)x
                                   weightsTensor:(MPSGraphTensor*)weights
                                      descriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                            name:(NSString*)n;
@end
