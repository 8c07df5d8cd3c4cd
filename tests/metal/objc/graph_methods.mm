// The methods by which libtorch builds its graphs, each by an operator of libtorch on the cpu.
#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "tests/metal/objc/graph.h"

using mpsd::standin::GraphNode;
using Tensors = std::vector<at::Tensor>;

#define UNARY(method, expression)                                        \
  -(MPSGraphTensor*)method : (MPSGraphTensor*)input name : (NSString*)n { \
    return [self compute:[](const Tensors& in) {                         \
      const at::Tensor& x = in[0];                                       \
      return at::Tensor(expression);                                     \
    } of:{input}];                                                       \
  }

#define BINARY(method, expression)                                                           \
  -(MPSGraphTensor*)method##WithPrimaryTensor : (MPSGraphTensor*)left secondaryTensor         \
      : (MPSGraphTensor*)right name : (NSString*)n {                                          \
    return [self compute:[](const Tensors& in) {                                              \
      const at::Tensor& x = in[0];                                                            \
      const at::Tensor& y = in[1];                                                            \
      return at::Tensor(expression);                                                          \
    } of:{left, right}];                                                                      \
  }

#define REDUCTION(method, expression)                                             \
  -(MPSGraphTensor*)method : (MPSGraphTensor*)input axes : (NSArray<NSNumber*>*)list \
      name : (NSString*)n {                                                       \
    const std::vector<int64_t> axes = ToSizes(list);                              \
    return [self compute:[axes](const Tensors& in) {                              \
      const at::Tensor& x = in[0];                                                \
      return at::Tensor(expression);                                              \
    } of:{input}];                                                                \
  }

#define AXIS_REDUCTION(method, expression)                                                  \
  -(MPSGraphTensor*)method : (MPSGraphTensor*)input axis : (NSInteger)axis name : (NSString*)n { \
    return [self compute:[axis](const Tensors& in) {                                        \
      const at::Tensor& x = in[0];                                                          \
      return at::Tensor(expression);                                                        \
    } of:{input}];                                                                          \
  }

namespace {

// Dims are named from either end.
int64_t FromFront(const at::Tensor& x, int64_t axis) { return axis < 0 ? axis + x.dim() : axis; }

}  // namespace

@implementation MPSGraph (Sources)
- (MPSGraphTensor*)placeholderWithShape:(MPSShape*)shape
                               dataType:(MPSDataType)type
                                   name:(NSString*)n {
  std::optional<std::vector<int64_t>> sizes;
  if (shape != nil) sizes = ToSizes(shape);
  const bool is_ranked =
      sizes.has_value() &&
      std::none_of(sizes->begin(), sizes->end(), [](int64_t size) { return size < 0; });
  if (!is_ranked) sizes.reset();
  return [self tensorOf:std::make_shared<GraphNode>(sizes, ToScalarType(type))];
}
- (MPSGraphTensor*)constantWithScalar:(double)value dataType:(MPSDataType)type {
  return [self constantWithScalar:value shape:nil dataType:type];
}
- (MPSGraphTensor*)constantWithScalar:(double)value
                                shape:(MPSShape*)shape
                             dataType:(MPSDataType)type {
  const auto options = at::TensorOptions().dtype(ToScalarType(type));
  return [self tensorOf:std::make_shared<GraphNode>(at::full(ToSizes(shape), value, options))];
}
- (MPSGraphTensor*)constantWithData:(NSData*)data
                              shape:(MPSShape*)shape
                           dataType:(MPSDataType)type {
  const auto options = at::TensorOptions().dtype(ToScalarType(type));
  const at::Tensor values =
      at::from_blob(const_cast<void*>([data bytes]), ToSizes(shape), options).clone();
  return [self tensorOf:std::make_shared<GraphNode>(values)];
}
- (MPSGraphTensor*)coordinateAlongAxis:(int)axis
                       withShapeTensor:(MPSGraphTensor*)shape
                                  name:(NSString*)n {
  return [self compute:[axis](const Tensors& in) {
    const at::Tensor sizes = in[0].to(at::kLong);
    const std::vector<int64_t> wanted(sizes.data_ptr<int64_t>(),
                                      sizes.data_ptr<int64_t>() + sizes.numel());
    std::vector<int64_t> ones(wanted.size(), 1);
    ones[axis] = wanted[axis];
    return at::arange(wanted[axis], at::TensorOptions().dtype(at::kInt)).view(ones).expand(wanted);
  } of:{shape}];
}
@end

@implementation MPSGraph (Arithmetic)
UNARY(identityWithTensor, x)
UNARY(reLUWithTensor, at::relu(x))
UNARY(exponentWithTensor, at::exp(x))
UNARY(logarithmWithTensor, at::log(x))
UNARY(absoluteWithTensor, at::abs(x))
UNARY(negativeWithTensor, at::neg(x))
UNARY(squareWithTensor, at::square(x))
UNARY(squareRootWithTensor, at::sqrt(x))
UNARY(reverseSquareRootWithTensor, at::rsqrt(x))
UNARY(reciprocalSquareRootWithTensor, at::rsqrt(x))
UNARY(reciprocalWithTensor, at::reciprocal(x))
UNARY(erfWithTensor, at::erf(x))
UNARY(tanhWithTensor, at::tanh(x))
UNARY(sigmoidWithTensor, at::sigmoid(x))
UNARY(floorWithTensor, at::floor(x))
UNARY(ceilWithTensor, at::ceil(x))
UNARY(isNaNWithTensor, at::isnan(x))
UNARY(notWithTensor, at::logical_not(x))
BINARY(addition, at::add(x, y))
BINARY(subtraction, at::sub(x, y))
BINARY(multiplication, at::mul(x, y))
BINARY(division, at::div(x, y))
BINARY(power, at::pow(x, y))
BINARY(maximum, at::fmax(x, y))
BINARY(minimum, at::fmin(x, y))
BINARY(maximumWithNaNPropagation, at::maximum(x, y))
BINARY(minimumWithNaNPropagation, at::minimum(x, y))
BINARY(greaterThan, at::gt(x, y))
BINARY(greaterThanOrEqualTo, at::ge(x, y))
BINARY(lessThan, at::lt(x, y))
BINARY(lessThanOrEqualTo, at::le(x, y))
BINARY(equal, at::eq(x, y))
BINARY(notEqual, at::ne(x, y))
BINARY(logicalAND, at::logical_and(x, y))
BINARY(logicalOR, at::logical_or(x, y))
BINARY(matrixMultiplication, at::matmul(x, y))
- (MPSGraphTensor*)selectWithPredicateTensor:(MPSGraphTensor*)predicate
                         truePredicateTensor:(MPSGraphTensor*)x
                        falsePredicateTensor:(MPSGraphTensor*)y
                                        name:(NSString*)n {
  return [self compute:[](const Tensors& in) {
    return at::where(in[0].to(at::kBool), in[1], in[2]);
  } of:{predicate, x, y}];
}
- (MPSGraphTensor*)clampWithTensor:(MPSGraphTensor*)x
                    minValueTensor:(MPSGraphTensor*)least
                    maxValueTensor:(MPSGraphTensor*)most
                              name:(NSString*)n {
  return [self compute:[](const Tensors& in) {
    return at::minimum(at::maximum(in[0], in[1]), in[2]);
  } of:{x, least, most}];
}
@end

// The framework keeps the dims that it reduces.
@implementation MPSGraph (Reductions)
REDUCTION(reductionSumWithTensor, at::sum(x, axes, true).to(x.scalar_type()))
REDUCTION(reductionMaximumWithTensor, at::amax(x, axes, true))
REDUCTION(reductionMinimumWithTensor, at::amin(x, axes, true))
REDUCTION(reductionMaximumPropagateNaNWithTensor, at::amax(x, axes, true))
REDUCTION(reductionMinimumPropagateNaNWithTensor, at::amin(x, axes, true))
REDUCTION(reductionOrWithTensor, at::amax(x.to(at::kBool), axes, true))
REDUCTION(reductionAndWithTensor, at::amin(x.to(at::kBool), axes, true))
REDUCTION(meanOfTensor, at::mean(x, axes, true))
REDUCTION(varianceOfTensor, at::var(x, axes, false, true))
AXIS_REDUCTION(reductionSumWithTensor, at::sum(x, axis, true).to(x.scalar_type()))
AXIS_REDUCTION(reductionMaximumWithTensor, at::amax(x, axis, true))
AXIS_REDUCTION(reductionArgMaximumWithTensor, at::argmax(x, axis, true))
AXIS_REDUCTION(reductionOrWithTensor, at::amax(x.to(at::kBool), axis, true))
AXIS_REDUCTION(reductionAndWithTensor, at::amin(x.to(at::kBool), axis, true))
AXIS_REDUCTION(softMaxWithTensor, at::softmax(x, axis))
// libtorch takes this method as the sign of macOS 13.
AXIS_REDUCTION(cumulativeSumWithTensor, at::cumsum(x, axis))
@end

@implementation MPSGraph (Shapes)
- (MPSGraphTensor*)castTensor:(MPSGraphTensor*)x toType:(MPSDataType)type name:(NSString*)n {
  const at::ScalarType scalar = ToScalarType(type);
  return [self compute:[scalar](const Tensors& in) { return in[0].to(scalar); } of:{x}];
}
- (MPSGraphTensor*)reshapeTensor:(MPSGraphTensor*)x withShape:(MPSShape*)shape name:(NSString*)n {
  const std::vector<int64_t> sizes = ToSizes(shape);
  return [self compute:[sizes](const Tensors& in) { return in[0].reshape(sizes); } of:{x}];
}
- (MPSGraphTensor*)broadcastTensor:(MPSGraphTensor*)x toShape:(MPSShape*)shape name:(NSString*)n {
  const std::vector<int64_t> sizes = ToSizes(shape);
  return [self compute:[sizes](const Tensors& in) { return in[0].expand(sizes); } of:{x}];
}
- (MPSGraphTensor*)flatten2DTensor:(MPSGraphTensor*)x axis:(NSInteger)axis name:(NSString*)n {
  return [self compute:[axis](const Tensors& in) {
    const auto columns = in[0].sizes().slice(static_cast<size_t>(FromFront(in[0], axis)));
    return in[0].reshape({-1, c10::multiply_integers(columns)});
  } of:{x}];
}
- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)x
                         dimension:(NSInteger)one
                     withDimension:(NSInteger)other
                              name:(NSString*)n {
  return [self compute:[=](const Tensors& in) { return in[0].transpose(one, other); } of:{x}];
}
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)x
                     dimension:(NSUInteger)dimension
                         start:(NSInteger)start
                        length:(NSInteger)length
                          name:(NSString*)n {
  const auto dim = static_cast<int64_t>(dimension);
  return [self compute:[=](const Tensors& in) { return in[0].narrow(dim, start, length); } of:{x}];
}
- (MPSGraphTensor*)concatTensors:(NSArray<MPSGraphTensor*>*)tensors
                       dimension:(NSInteger)dimension
                            name:(NSString*)n {
  std::vector<MPSGraphTensor*> inputs;
  for (MPSGraphTensor* tensor in tensors) inputs.push_back(tensor);
  return [self compute:[=](const Tensors& in) { return at::cat(in, dimension); }
                    of:std::move(inputs)];
}
- (MPSGraphTensor*)expandDimsOfTensor:(MPSGraphTensor*)x
                                 axes:(NSArray<NSNumber*>*)list
                                 name:(NSString*)n {
  const std::vector<int64_t> axes = ToSizes(list);
  return [self compute:[axes](const Tensors& in) {
    at::Tensor expanded = in[0];
    for (const int64_t axis : axes) expanded = expanded.unsqueeze(axis);
    return expanded;
  } of:{x}];
}
- (MPSGraphTensor*)gatherWithUpdatesTensor:(MPSGraphTensor*)x
                             indicesTensor:(MPSGraphTensor*)indices
                                      axis:(NSUInteger)axis
                           batchDimensions:(NSUInteger)batch
                                      name:(NSString*)n {
  const auto dim = static_cast<int64_t>(axis);
  return [self compute:[dim](const Tensors& in) {
    return in[0].index_select(dim, in[1].reshape({-1}).to(at::kLong));
  } of:{x, indices}];
}
@end

@implementation MPSGraph (Layers)
- (MPSGraphTensor*)normalizationWithTensor:(MPSGraphTensor*)x
                                meanTensor:(MPSGraphTensor*)mean
                            varianceTensor:(MPSGraphTensor*)variance
                               gammaTensor:(MPSGraphTensor*)gamma
                                betaTensor:(MPSGraphTensor*)beta
                                   epsilon:(float)epsilon
                                      name:(NSString*)n {
  [self normalizes];
  std::vector<MPSGraphTensor*> inputs = {x, mean, variance};
  const bool has_gamma = gamma != nil;
  const bool has_beta = beta != nil;
  if (has_gamma) inputs.push_back(gamma);
  if (has_beta) inputs.push_back(beta);
  return [self compute:[=](const Tensors& in) {
    at::Tensor normal = (in[0] - in[1]) * at::rsqrt(in[2] + epsilon);
    if (has_gamma) normal = normal * in[3];
    return has_beta ? normal + in.back() : normal;
  } of:std::move(inputs)];
}
- (MPSGraphTensor*)convolution2DWithSourceTensor:(MPSGraphTensor*)x
                                   weightsTensor:(MPSGraphTensor*)weights
                                      descriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                            name:(NSString*)n {
  const auto number = [](NSUInteger value) { return static_cast<int64_t>(value); };
  const std::vector<int64_t> stride = {number(descriptor.strideInY), number(descriptor.strideInX)};
  const std::vector<int64_t> dilation = {number(descriptor.dilationRateInY),
                                         number(descriptor.dilationRateInX)};
  const std::vector<int64_t> padding = {number(descriptor.paddingTop),
                                        number(descriptor.paddingLeft)};
  const int64_t groups = number(descriptor.groups);
  return [self compute:[=](const Tensors& in) {
    return at::conv2d(in[0], in[1], {}, stride, padding, dilation, groups);
  } of:{x, weights}];
}
@end
