#include "proto/base/reshape.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"

namespace mpsd {
namespace {

// The products before the first open dim, between each two, and behind the last.
std::vector<uint64_t> Products(absl::Span<const int64_t> dims) {
  std::vector<uint64_t> products = {1};
  for (const int64_t dim : dims) {
    if (dim == -1) {
      products.push_back(1);
    } else {
      products.back() *= static_cast<uint64_t>(dim);
    }
  }
  return products;
}

}  // namespace

std::string ReshapeFault(absl::Span<const int64_t> from, absl::Span<const int64_t> to) {
  if (Products(from) == Products(to)) return "";
  return absl::StrCat(ShapeText(from), " cannot become ", ShapeText(to));
}

Dims Reshaped(absl::Span<const int64_t> from, absl::Span<const int64_t> to,
              absl::Span<const int64_t> dims) {
  MPSD_CHECK(from.size() == dims.size());
  Dims reshaped(to.begin(), to.end());
  size_t next = 0;
  for (int64_t& dim : reshaped) {
    if (dim != -1) continue;
    while (from[next] != -1) ++next;
    dim = dims[next++];
  }
  return reshaped;
}

}  // namespace mpsd
