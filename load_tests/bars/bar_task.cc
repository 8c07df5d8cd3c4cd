#include "load_tests/bars/bar_task.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace mpsd::load {
namespace {

// Different rows, lengths and widths: where graphs are kept by shape, each has a graph of its own.
const std::vector<Dims>& ShapesOf(BarOperator kind) {
  static const auto* images =
      new std::vector<Dims>{{2, 8, 64}, {1, 8, 256}, {4, 8, 144}, {1, 16, 400}};
  static const auto* rows =
      new std::vector<Dims>{{2, 16, 64}, {1, 4, 64}, {4, 8, 128}, {1, 33, 96}};
  return kind == BarOperator::kConv ? *images : *rows;
}

}  // namespace

std::vector<BarOperator> AllBarOperators() {
  std::vector<BarOperator> all;
  for (const std::string_view name : kNamesOf<BarOperator>) {
    all.push_back(*FromName<BarOperator>(name));
  }
  return all;
}

std::vector<BarTask> OneShapeEach(const std::vector<BarOperator>& kinds) {
  std::vector<BarTask> tasks;
  for (const BarOperator kind : kinds) tasks.push_back({kind, ShapesOf(kind).front()});
  return tasks;
}

std::vector<BarTask> ManyShapesEach(const std::vector<BarOperator>& kinds) {
  std::vector<BarTask> tasks;
  for (const BarOperator kind : kinds) {
    for (const Dims& dims : ShapesOf(kind)) tasks.push_back({kind, dims});
  }
  return tasks;
}

BarTask LargeTask(BarOperator kind) { return {kind, {1, 64, 2048}, /*depth=*/8}; }

std::string Describe(const BarTask& task) {
  return absl::StrCat(NameOf(task.kind), " ", absl::StrJoin(task.dims, "x"));
}

}  // namespace mpsd::load
