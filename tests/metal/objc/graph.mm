// MPSGraph: a graph is encoded as one command, which the gpu's thread computes on the cpu.
#include "tests/metal/objc/graph.h"

#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tests/metal/rules/live_objects.h"
#include "tests/metal/rules/planted_race.h"

using mpsd::standin::Command;
using mpsd::standin::GpuRange;
using mpsd::standin::GraphNode;
using mpsd::standin::LiveObjects;
using mpsd::standin::Node;
using mpsd::standin::OneThread;
using mpsd::standin::PlantedRace;
using mpsd::standin::Values;

namespace {

struct TypePair {
  at::ScalarType scalar;
  MPSDataType data;
};

constexpr TypePair kTypes[] = {
    {at::kFloat, MPSDataTypeFloat32},   {at::kHalf, MPSDataTypeFloat16},
    {at::kBFloat16, MPSDataTypeBFloat16}, {at::kInt, MPSDataTypeInt32},
    {at::kLong, MPSDataTypeInt64},      {at::kShort, MPSDataTypeInt16},
    {at::kChar, MPSDataTypeInt8},       {at::kByte, MPSDataTypeUInt8},
    {at::kBool, MPSDataTypeBool},       {at::kUInt32, MPSDataTypeUInt32}};

// One graph in so many is committed in the middle of a stream's work, where the stream allows it.
constexpr uint64_t kCommitsOneIn = 5;

// A fault of the framework, planted where MPSD_STANDIN_LAYER_NORM_RACE is set: all graphs that
// normalize share state.
PlantedRace& Normalization() {
  static auto* const state = new PlantedRace("MPSD_STANDIN_LAYER_NORM_RACE", "normalization");
  return *state;
}

at::Tensor TensorOver(const ArrayView& view) {
  return at::from_blob(view.range.data(), view.sizes, view.strides,
                       at::TensorOptions().dtype(ToScalarType(view.type)));
}

// The part of the array's memory between its first and its last element. A buffer may hold more than
// one array, and the others are not this command's.
GpuRange ExtentOf(const ArrayView& view) {
  int64_t last = 0;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    if (view.sizes[i] == 0) return GpuRange{view.range.memory, view.range.offset, 0};
    last += (view.sizes[i] - 1) * view.strides[i];
  }
  GpuRange extent = view.range;
  extent.bytes = static_cast<size_t>(last + 1) * BytesOf(view.type);
  return extent;
}

// One value that a run is fed, or that it leaves.
struct Bound {
  Node node;
  ArrayView view;
};

std::vector<Bound> BoundOf(NSDictionary* dictionary);

void RunGraph(const std::vector<Bound>& feeds, const std::vector<Bound>& results) {
  const c10::InferenceMode inference;
  Values values;
  for (const Bound& feed : feeds) values[feed.node.get()] = TensorOver(feed.view);
  for (const Bound& result : results) {
    at::Tensor target = TensorOver(result.view);
    const at::Tensor value = result.node->Value(values);
    // The framework spreads one value over the whole array.
    target.copy_(value.numel() == 1 ? value.reshape({}) : value.reshape(target.sizes()));
  }
}

}  // namespace

at::ScalarType ToScalarType(MPSDataType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.data == type) return pair.scalar;
  }
  throw std::runtime_error("the stand-in of Metal has no such data type");
}

MPSDataType ToDataType(at::ScalarType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.scalar == type) return pair.data;
  }
  throw std::runtime_error("the stand-in of Metal has no such data type");
}

@implementation MPSGraphObject
@end
@implementation MPSGraphOperation
@end
@implementation MPSGraphType
@end
@implementation MPSGraphShapedType
@end
@implementation MPSGraphDevice
@end
@implementation MPSGraphExecutable
@end
@implementation MPSGraphCompilationDescriptor
@end
@implementation MPSGraphConvolution2DOpDescriptor
@end
@implementation MPSGraphDepthwiseConvolution3DOpDescriptor
@end

@interface MPSGraphExecutionDescriptor () {
  BOOL _commits;
}
@property(readwrite, atomic) BOOL enableCommitAndContinue;
@end
@implementation MPSGraphExecutionDescriptor
- (BOOL)enableCommitAndContinue {
  return _commits;
}
- (void)setEnableCommitAndContinue:(BOOL)commits {
  _commits = commits;
}
@end

@implementation MPSGraphTensor
- (MPSShape*)shape {
  const auto sizes = _node->sizes();
  return sizes.has_value() ? ToShape(*sizes) : nil;
}
- (MPSDataType)dataType {
  return ToDataType(_node->type());
}
@end

@interface MPSGraphTensorData () {
 @public
  MPSNDArray* _array;
}
@end

@implementation MPSGraphTensorData
- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer
                            shape:(MPSShape*)shape
                         dataType:(MPSDataType)type {
  @autoreleasepool {
    MPSNDArrayDescriptor* const descriptor = [MPSNDArrayDescriptor descriptorWithDataType:type
                                                                                    shape:shape];
    _array = [[MPSNDArray alloc] initWithBuffer:buffer offset:0 descriptor:descriptor];
  }
  return self;
}
- (instancetype)initWithMPSNDArray:(MPSNDArray*)array {
  _array = [array retain];
  return self;
}
- (MPSNDArray*)mpsndarray {
  return _array;
}
- (MPSShape*)shape {
  return ToShape(_array->_view.sizes);
}
- (MPSDataType)dataType {
  return _array->_view.type;
}
- (void)dealloc {
  [_array release];
  [super dealloc];
}
@end

namespace {

std::vector<Bound> BoundOf(NSDictionary* dictionary) {
  std::vector<Bound> bound;
  for (MPSGraphTensor* tensor in dictionary) {
    MPSGraphTensorData* const data = [dictionary objectForKey:tensor];
    bound.push_back(Bound{tensor->_node, data->_array->_view});
  }
  return bound;
}

}  // namespace

@interface MPSGraph () {
  std::unique_ptr<OneThread> _turn;
  std::vector<MPSGraphTensor*> _tensors;
  bool _normalizes;
}
@end

@implementation MPSGraph
- (instancetype)init {
  _turn = std::make_unique<OneThread>("MPSGraph");
  ++LiveObjects::All().graphs;
  return self;
}
- (MPSGraphTensor*)tensorOf:(Node)node {
  const OneThread::Turn turn(*_turn);
  MPSGraphTensor* const tensor = [MPSGraphTensor new];
  tensor->_node = std::move(node);
  _tensors.push_back(tensor);
  return tensor;
}
- (void)normalizes {
  _normalizes = true;
}
- (MPSGraphTensor*)compute:(GraphNode::Compute)compute
                        of:(std::vector<MPSGraphTensor*>)inputs {
  std::vector<Node> nodes;
  for (MPSGraphTensor* input : inputs) nodes.push_back(input->_node);
  return [self tensorOf:std::make_shared<GraphNode>(std::move(nodes), std::move(compute))];
}
- (void)encodeToCommandBuffer:(MPSCommandBuffer*)buffer
                        feeds:(NSDictionary*)feeds
             targetOperations:(NSArray*)operations
            resultsDictionary:(NSDictionary*)results
          executionDescriptor:(MPSGraphExecutionDescriptor*)descriptor {
  static std::atomic<uint64_t> runs{0};
  const OneThread::Turn turn(*_turn);
  std::optional<PlantedRace::Use> use;
  if (_normalizes) use.emplace(Normalization());
  Command command;
  const std::vector<Bound> fed = BoundOf(feeds);
  const std::vector<Bound> left = BoundOf(results);
  for (const Bound& feed : fed) command.reads.push_back(ExtentOf(feed.view));
  for (const Bound& result : left) command.writes.push_back(ExtentOf(result.view));
  command.run = [fed, left] { RunGraph(fed, left); };
  StandinCommandBuffer* const target = (StandinCommandBuffer*)[buffer rootCommandBuffer];
  // The framework makes an encoder and ends it, as libtorch does for its copies.
  id<MTLComputeCommandEncoder> const encoder = [buffer computeCommandEncoder];
  target->_commands->Add("encodeToCommandBuffer", std::move(command));
  [encoder endEncoding];
  if (descriptor.enableCommitAndContinue && runs++ % kCommitsOneIn == 0) {
    [buffer commitAndContinue];
  }
}
- (void)dealloc {
  for (MPSGraphTensor* tensor : _tensors) [tensor release];
  --LiveObjects::All().graphs;
  [super dealloc];
}
@end
