#include "tests/metal/objc/shaders.h"

#include <chrono>
#include <thread>

#include "tests/metal/objc/metal.h"
#include "tests/metal/rules/live_objects.h"

using mpsd::standin::FindStridedCopy;
using mpsd::standin::LiveObjects;

namespace {

constexpr NSUInteger kMostThreads = 1024;  // of a group, as an Apple gpu has
constexpr NSUInteger kWidth = 32;
constexpr std::chrono::milliseconds kCompileTime{1};

}  // namespace

@interface StandinFunction : NSObject <MTLFunction> {
 @public
  mpsd::standin::StridedCopyKernel _kernel;
}
@end

@implementation StandinFunction
@dynamic name;
@end

// libtorch says so where a library has no such function.
@implementation StandinLibrary
@dynamic functionNames;
- (id<MTLFunction>)newFunctionWithName:(NSString*)name {
  const auto kernel = FindStridedCopy(_source, [name UTF8String]);
  if (!kernel.has_value()) return nil;
  StandinFunction* const function = [StandinFunction new];
  function->_kernel = *kernel;
  return function;
}
- (id<MTLDevice>)device {
  return StandinDeviceOfProcess();
}
@end

@implementation StandinPipeline
- (NSUInteger)maxTotalThreadsPerThreadgroup {
  return kMostThreads;
}
- (NSUInteger)threadExecutionWidth {
  return kWidth;
}
- (NSUInteger)staticThreadgroupMemoryLength {
  return 0;
}
- (void)dealloc {
  --LiveObjects::All().pipelines;
  [super dealloc];
}
@end

id<MTLComputePipelineState> PipelineOf(id<MTLFunction> function) {
  // A real one is compiled here.
  std::this_thread::sleep_for(kCompileTime);
  StandinPipeline* const pipeline = [StandinPipeline new];
  pipeline->_kernel = ((StandinFunction*)function)->_kernel;
  ++LiveObjects::All().pipelines;
  return pipeline;
}
