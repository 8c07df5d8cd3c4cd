#include "server/request/graph/member_fit.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/shape.h"
#include "proto/link/json_object.h"

namespace mpsd {
namespace {

std::string PathOf(size_t step, const char* side) {
  return JsonPath(JsonPath("steps", step), side);
}

const TensorSpec* Find(const std::vector<TensorSpec>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const TensorSpec& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

// A tensor, by one side.
struct TensorType {
  DataType datatype = DataType::kInvalid;
  std::optional<Dims> dims;  // with the batch dim; nothing: unknown whether there is one
};

TensorType TypeOf(const TensorSpec& tensor, const ModelSpec& spec, bool is_complete) {
  TensorType type;
  type.datatype = tensor.datatype;
  if (!is_complete && !spec.batches()) return type;
  type.dims = tensor.told_dims();
  if (spec.batches()) type.dims->insert(type.dims->begin(), -1);
  return type;
}

bool DimsFit(const Dims& a, const Dims& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](int64_t x, int64_t y) { return x == y || x == -1 || y == -1; });
}

// Follows the tensor's name; empty if the two fit.
std::string Mismatch(const TensorType& made, const TensorType& read) {
  if (made.datatype != read.datatype) {
    return absl::StrCat("is made as ", DataTypeName(made.datatype), " and read as ",
                        DataTypeName(read.datatype));
  }
  if (!made.dims.has_value() || !read.dims.has_value() || DimsFit(*made.dims, *read.dims))
    return "";
  return absl::StrCat("is made as ", ShapeText(*made.dims), " and read as ", ShapeText(*read.dims));
}

// One comparison. Thread-compatible.
class Fitting {
 public:
  Fitting(const StepGraph& graph, const ModelSpec& whole, absl::Span<const Member> members)
      : graph_(graph), whole_(whole), members_(members), made_(graph.tensors().size()) {
    MPSD_CHECK(members.size() == graph.steps().size());
  }

  std::vector<StepFault> Run() {
    for (size_t i = 0; i < whole_.inputs.size(); ++i) {
      made_[i] = TypeOf(whole_.inputs[i], whole_, /*is_complete=*/true);
    }
    for (size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].spec == nullptr) continue;
      CheckMember(i);
      TakeOutputs(i);
    }
    for (size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].spec != nullptr) CheckInputs(i);
    }
    for (size_t i = 0; i < whole_.outputs.size(); ++i) {
      const TensorType read = TypeOf(whole_.outputs[i], whole_, /*is_complete=*/true);
      Compare(graph_.OutputTensor(i), read, JsonPath("outputs", i));
    }
    return std::move(faults_);
  }

 private:
  const std::string& ModelOf(size_t step) const { return graph_.steps()[step].model; }

  void CheckMember(size_t step) {
    const Member& member = members_[step];
    const std::string path = JsonPath(JsonPath("steps", step), "model");
    if (member.spec->decoupled) {
      faults_.push_back({path, absl::StrCat("'", ModelOf(step), "' is decoupled")});
    }
    const uint32_t most = std::max(member.spec->max_batch_size, member.most_rows);
    const bool is_known = member.is_complete || member.spec->max_batch_size > 0;
    if (!whole_.batches() || !is_known || most >= whole_.max_batch_size) return;
    faults_.push_back(
        {path, absl::StrCat("'", ModelOf(step), "' takes requests of ", most,
                            " rows, and max_batch_size here is ", whole_.max_batch_size)});
  }

  void TakeOutputs(size_t step) {
    const Member& member = members_[step];
    for (const StepGraph::Link& link : graph_.steps()[step].outputs) {
      const TensorSpec* output = Find(member.spec->outputs, link.name);
      if (output != nullptr) {
        made_[link.tensor] = TypeOf(*output, *member.spec, member.is_complete);
      } else if (member.is_complete || !member.spec->outputs.empty()) {
        faults_.push_back({JsonPath(PathOf(step, "outputs"), link.name),
                           absl::StrCat("model '", ModelOf(step), "' has no such output")});
      }
    }
  }

  void CheckInputs(size_t step) {
    const Member& member = members_[step];
    const std::vector<TensorSpec>& inputs = member.spec->inputs;
    if (!member.is_complete && inputs.empty()) return;
    const std::vector<StepGraph::Link>& links = graph_.steps()[step].inputs;
    for (const StepGraph::Link& link : links) {
      const std::string path = JsonPath(PathOf(step, "inputs"), link.name);
      const TensorSpec* input = Find(inputs, link.name);
      if (input == nullptr) {
        faults_.push_back({path, absl::StrCat("model '", ModelOf(step), "' has no such input")});
      } else {
        Compare(link.tensor, TypeOf(*input, *member.spec, member.is_complete), path);
      }
    }
    for (const TensorSpec& input : inputs) {
      const bool is_given = std::any_of(links.begin(), links.end(),
                                        [&](const auto& link) { return link.name == input.name; });
      if (is_given || input.optional) continue;
      faults_.push_back({PathOf(step, "inputs"), absl::StrCat("has nothing for input '", input.name,
                                                              "' of model '", ModelOf(step), "'")});
    }
  }

  void Compare(uint32_t tensor, const TensorType& read, const std::string& path) {
    if (!made_[tensor].has_value()) return;
    const std::string mismatch = Mismatch(*made_[tensor], read);
    if (mismatch.empty()) return;
    faults_.push_back({path, absl::StrCat("'", graph_.tensors()[tensor].name, "' ", mismatch)});
  }

  const StepGraph& graph_;
  const ModelSpec& whole_;
  const absl::Span<const Member> members_;
  std::vector<std::optional<TensorType>> made_;  // per tensor; nothing: unknown
  std::vector<StepFault> faults_;
};

}  // namespace

std::vector<StepFault> MemberFaults(const StepGraph& graph, const ModelSpec& whole,
                                    absl::Span<const Member> members) {
  return Fitting(graph, whole, members).Run();
}

}  // namespace mpsd
