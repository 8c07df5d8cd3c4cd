// The objects of a graph, and how its methods make nodes.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <vector>

#include "tests/metal/graph/graph_node.h"
#include "tests/metal/objc/mps.h"

@interface MPSGraphTensor () {
 @public
  mpsd::standin::Node _node;
}
@end

@interface MPSGraph (Nodes)
// A node of the graph, which keeps it for life.
- (MPSGraphTensor*)tensorOf:(mpsd::standin::Node)node;
- (MPSGraphTensor*)compute:(mpsd::standin::GraphNode::Compute)compute
                        of:(std::vector<MPSGraphTensor*>)inputs;
// Says that the graph has a node that normalizes.
- (void)normalizes;
@end

at::ScalarType ToScalarType(MPSDataType type);
MPSDataType ToDataType(at::ScalarType type);
