// Libraries of shaders, their functions and pipelines. Two kernels run (graph/strided_copy.h).
#pragma once

#import <Metal/Metal.h>

#include <string>

#include "tests/metal/graph/strided_copy.h"

@interface StandinLibrary : NSObject <MTLLibrary> {
 @public
  std::string _source;
}
@end

@interface StandinPipeline : NSObject <MTLComputePipelineState> {
 @public
  mpsd::standin::StridedCopyKernel _kernel;
}
@end

// The pipeline of a function that a StandinLibrary has made.
id<MTLComputePipelineState> PipelineOf(id<MTLFunction> function);
