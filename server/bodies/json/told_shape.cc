#include "server/bodies/json/told_shape.h"

#include <utility>

namespace mpsd {

bool ToldShape(const TensorSpec& spec, bool batches, uint64_t count, InferBody::Shape* shape) {
  if (batches) shape->push_back(-1);
  shape->insert(shape->end(), spec.told_dims().begin(), spec.told_dims().end());
  for (const int64_t dim : *shape) {
    if (dim == -1) continue;
    if (dim < 1 || count % static_cast<uint64_t>(dim) != 0) return false;
    count /= static_cast<uint64_t>(dim);
  }
  for (auto dim = shape->rbegin(); dim != shape->rend(); ++dim) {
    if (*dim == -1) *dim = static_cast<int64_t>(std::exchange(count, 1));
  }
  return count == 1;
}

}  // namespace mpsd
