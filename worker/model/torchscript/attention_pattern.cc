#include "worker/model/torchscript/attention_pattern.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "worker/model/torchscript/graph_nodes.h"

namespace mpsd {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;

constexpr size_t kMaxValues = 64;

bool IsOneOf(const Node* node, std::initializer_list<const char*> names) {
  const std::string name = node->kind().toQualString();
  for (const char* const known : names) {
    if (name == known) return true;
  }
  return false;
}

bool IsProduct(const Node* node) {
  return IsOneOf(node, {"aten::matmul", "aten::bmm", "aten::baddbmm", "aten::mm", "aten::einsum"});
}

bool IsSoftmax(const Node* node) {
  return IsOneOf(node, {"aten::softmax", "aten::_softmax", "aten::_safe_softmax"});
}

// An operator with weights belongs to another part of the model.
bool EndsWay(const Node* node) {
  const std::string name = node->kind().toQualString();
  return absl::StrContains(name, "linear") || absl::StrContains(name, "addmm") ||
         absl::StrContains(name, "conv") || absl::StrContains(name, "embedding") ||
         absl::StrContains(name, "norm") || IsSoftmax(node);
}

// Many parts of a model share sizes and the like.
bool CarriesTensors(const Value* value) {
  const c10::TypePtr& type = value->type();
  return type->isSubtypeOf(*c10::TensorType::get()) ||
         type->isSubtypeOf(*c10::ListType::ofTensors()) ||
         type->isSubtypeOf(*c10::OptionalType::ofTensor());
}

// One step back.
void Before(const Value* value, std::vector<const Value*>* found) {
  const Node* const node = value->node();
  if (node->kind() == torch::jit::prim::Param) {
    const Node* const owner = node->owningBlock()->owningNode();
    if (owner == nullptr) return;
    for (const Value* input : owner->inputs()) found->push_back(input);
    return;
  }
  for (const Value* input : node->inputs()) found->push_back(input);
  for (const Block* inner : node->blocks()) {
    for (const Value* output : inner->outputs()) found->push_back(output);
  }
}

// One step on.
void Behind(const Node* user, std::vector<const Value*>* found) {
  const Node* const node =
      user->kind() == torch::jit::prim::Return ? user->owningBlock()->owningNode() : user;
  if (node == nullptr) return;
  for (const Value* output : node->outputs()) found->push_back(output);
  for (const Block* inner : node->blocks()) {
    for (const Value* input : inner->inputs()) found->push_back(input);
  }
}

// Follows values breadth first; `step` returns true at the goal.
template <typename Step>
bool Follow(const Value* start, const Step& step) {
  std::vector<const Value*> line = {start};
  absl::flat_hash_set<const Value*> seen = {start};
  for (size_t at = 0; at < line.size() && at < kMaxValues; ++at) {
    std::vector<const Value*> next;
    if (step(line[at], &next)) return true;
    for (const Value* value : next) {
      if (CarriesTensors(value) && seen.insert(value).second) line.push_back(value);
    }
  }
  return false;
}

// Null without one.
const Node* ProductBefore(const Value* value) {
  const Node* product = nullptr;
  Follow(value, [&product](const Value* at, std::vector<const Value*>* next) {
    if (IsProduct(at->node())) product = at->node();
    if (product == nullptr && !EndsWay(at->node())) Before(at, next);
    return product != nullptr;
  });
  return product;
}

bool ProductFollows(const Value* value) {
  return Follow(value, [](const Value* at, std::vector<const Value*>* next) {
    for (const Use& use : at->uses()) {
      if (IsProduct(use.user)) return true;
      if (!EndsWay(use.user)) Behind(use.user, next);
    }
    return false;
  });
}

}  // namespace

uint32_t CountWrittenOutAttention(Block* block) {
  absl::flat_hash_set<const Node*> products;  // each counts once, however many branches follow
  VisitNodes(block, [&products](const Node* node) {
    if (!IsSoftmax(node) || !ProductFollows(node->output())) return;
    const Node* const product = ProductBefore(node->inputs().at(0));
    if (product != nullptr) products.insert(product);
  });
  return static_cast<uint32_t>(products.size());
}

}  // namespace mpsd
