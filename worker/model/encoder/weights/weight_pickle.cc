#include "worker/model/encoder/weights/weight_pickle.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "proto/base/shape.h"

namespace mpsd {
namespace {

constexpr size_t kMaxValues = 2'000'000;
constexpr uint64_t kMostSharing = 4;  // times the bytes of all storages
constexpr uint8_t kProtocol = 2;      // torch.save() writes this one

// The names are pickle's.
enum Instruction : uint8_t {
  kProto = 0x80,
  kStop = '.',
  kMark = '(',
  kEmptyTuple = ')',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kTupleAboveMark = 't',
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kNone = 'N',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kBinUnicode = 'X',
  kGlobal = 'c',
  kReduce = 'R',
  kBuild = 'b',
  kBinPersId = 'Q',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kBinGet = 'h',
  kLongBinGet = 'j',
};

struct Known {
  enum Kind { kDict, kTensor, kParameter, kStorage };
  absl::string_view name;
  Kind kind;
  const char* dtype = "";
  uint64_t element_bytes = 0;
};
constexpr Known kNames[] = {
    {"collections.OrderedDict", Known::kDict},
    {"torch._utils._rebuild_tensor_v2", Known::kTensor},
    {"torch._utils._rebuild_parameter", Known::kParameter},
    {"torch.FloatStorage", Known::kStorage, "F32", 4},
    {"torch.HalfStorage", Known::kStorage, "F16", 2},
    {"torch.BFloat16Storage", Known::kStorage, "BF16", 2},
    {"torch.DoubleStorage", Known::kStorage, "F64", 8},
    {"torch.LongStorage", Known::kStorage, "I64", 8},
    {"torch.IntStorage", Known::kStorage, "I32", 4},
    {"torch.ShortStorage", Known::kStorage, "I16", 2},
    {"torch.CharStorage", Known::kStorage, "I8", 1},
    {"torch.ByteStorage", Known::kStorage, "U8", 1},
    {"torch.BoolStorage", Known::kStorage, "BOOL", 1},
};

using Handle = uint32_t;  // a place among the values

struct Value {
  enum Kind : uint8_t { kNothing, kNumber, kText, kTuple, kDict, kKnown, kStorage, kTensor };
  Kind kind = kNothing;
  uint8_t known = 0;            // place in kNames; a storage has its type's
  uint32_t first = 0;           // a tuple's first item; a tensor's index
  uint32_t count = 0;           // a tuple's items
  int64_t number = 0;           // a number; a storage's count of numbers
  absl::string_view text = {};  // a text; a storage's bytes
};

absl::Status BadPickle(absl::string_view what) { return absl::InvalidArgumentError(what); }
absl::Status Malformed() { return BadPickle("is malformed"); }

bool AreSideBySide(absl::Span<const int64_t> shape, absl::Span<const int64_t> strides) {
  int64_t expected = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] == 1) continue;
    if (strides[dim] != expected) return false;
    expected *= shape[dim];
  }
  return true;
}

// Distance from a tensor's first number to its last. Nothing if two numbers could lie in one place,
// or if it is `limit` or more. REQUIRES: no size is 0.
std::optional<uint64_t> ReachOf(absl::Span<const int64_t> shape, absl::Span<const int64_t> strides,
                                uint64_t limit) {
  std::vector<std::pair<uint64_t, uint64_t>> steps;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] > 1) steps.emplace_back(strides[dim], shape[dim] - 1);
  }
  std::sort(steps.begin(), steps.end());
  uint64_t reach = 0;
  for (const auto& [stride, times] : steps) {
    if (stride <= reach || reach >= limit || times > (limit - reach) / stride) return std::nullopt;
    reach += stride * times;
  }
  if (reach >= limit) return std::nullopt;
  return reach;
}

// Runs one pickle. Tuples and dicts have handles, so a value that is used again costs nothing, and
// nesting has no limit. Thread-compatible.
class PickleMachine {
 public:
  PickleMachine(absl::string_view pickle, const ZipEntries& storages)
      : rest_(pickle), storages_(storages) {
    for (const auto& [key, bytes] : storages) stored_bytes_ += bytes.size();
  }

  absl::StatusOr<StoredTensors> Run() {
    while (!has_stopped_) {
      absl::string_view instruction;
      if (!Take(1, &instruction)) return BadPickle("is cut short");
      absl::Status status = Step(static_cast<uint8_t>(instruction[0]));
      if (!status.ok()) return status;
    }
    if (!rest_.empty() || stack_.size() != 1 || !marks_.empty()) return Malformed();
    return Named(stack_[0]);
  }

 private:
  struct Entry {
    Handle dict;
    Handle key;
    Handle value;
  };

  absl::Status Step(uint8_t instruction) {
    switch (instruction) {
      case kProto:
        return ReadNumber<uint8_t>() == kProtocol ? absl::OkStatus()
                                                  : BadPickle("is of another protocol than 2");
      case kStop:
        has_stopped_ = true;
        return absl::OkStatus();
      case kMark:
        marks_.push_back(stack_.size());
        return marks_.size() > kMaxValues ? BadPickle("has too many marks") : absl::OkStatus();
      case kEmptyTuple:
        return PushTuple(0);
      case kTuple1:
      case kTuple2:
      case kTuple3:
        return PushTuple(instruction - kTuple1 + 1);
      case kTupleAboveMark:
        return marks_.empty() ? Malformed() : PushTuple(TakeMark());
      case kEmptyDict:
        return Push({.kind = Value::kDict});
      case kSetItem:
        return SetItems(2);
      case kSetItems:
        return marks_.empty() ? Malformed() : SetItems(TakeMark());
      case kNone:
      case kNewTrue:
      case kNewFalse:
        return Push({});
      case kBinInt:
        return PushNumber(ReadNumber<int32_t>());
      case kBinInt1:
        return PushNumber(ReadNumber<uint8_t>());
      case kBinInt2:
        return PushNumber(ReadNumber<uint16_t>());
      case kLong1:
        return PushLong();
      case kBinUnicode:
        return PushText();
      case kGlobal:
        return PushKnown();
      case kReduce:
        return Reduce();
      case kBuild:  // the state is torch's note of a module's version
        return Top(2) != nullptr && Top(2)->kind == Value::kDict ? Pop(1) : Malformed();
      case kBinPersId:
        return PushStorage();
      case kBinPut:
        return Put(ReadNumber<uint8_t>());
      case kLongBinPut:
        return Put(ReadNumber<uint32_t>());
      case kBinGet:
        return Get(ReadNumber<uint8_t>());
      case kLongBinGet:
        return Get(ReadNumber<uint32_t>());
      default:
        return BadPickle(absl::StrCat("has the instruction 0x",
                                      absl::Hex(instruction, absl::kZeroPad2),
                                      ", which no list of tensors needs"));
    }
  }

  bool Take(size_t count, absl::string_view* bytes) {
    if (count > rest_.size()) return false;
    *bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return true;
  }

  // Nothing if the pickle ends.
  template <typename Number>
  std::optional<Number> ReadNumber() {
    absl::string_view bytes;
    if (!Take(sizeof(Number), &bytes)) return std::nullopt;
    Number number;
    std::memcpy(&number, bytes.data(), sizeof(number));
    return number;
  }

  absl::Status Push(const Value& value) {
    if (values_.size() >= kMaxValues) return BadPickle("has too many values");
    stack_.push_back(static_cast<Handle>(values_.size()));
    values_.push_back(value);
    return absl::OkStatus();
  }

  // Values above the last mark.
  size_t Above() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  // Counted from the stack's top; null below the last mark.
  const Value* Top(size_t number) const {
    return number <= Above() ? &values_[stack_[stack_.size() - number]] : nullptr;
  }

  // REQUIRES: the stack has as many values above the last mark.
  absl::Status Pop(size_t count) {
    stack_.resize(stack_.size() - count);
    return absl::OkStatus();
  }

  // Returns the number of values above it. REQUIRES: there is a mark.
  size_t TakeMark() {
    const size_t above = Above();
    marks_.pop_back();
    return above;
  }

  absl::Status PushNumber(std::optional<int64_t> number) {
    if (!number.has_value()) return BadPickle("is cut short");
    return Push({.kind = Value::kNumber, .number = *number});
  }

  absl::Status PushLong() {
    const std::optional<uint8_t> count = ReadNumber<uint8_t>();
    absl::string_view bytes;
    if (!count.has_value() || !Take(*count, &bytes)) return BadPickle("is cut short");
    if (*count > sizeof(int64_t)) return BadPickle("has a number of more than 64 bits");
    const bool is_negative = !bytes.empty() && static_cast<int8_t>(bytes.back()) < 0;
    int64_t number = is_negative ? -1 : 0;
    std::memcpy(&number, bytes.data(), bytes.size());
    return PushNumber(number);
  }

  absl::Status PushText() {
    const std::optional<uint32_t> count = ReadNumber<uint32_t>();
    Value value = {.kind = Value::kText};
    if (!count.has_value() || !Take(*count, &value.text)) return BadPickle("is cut short");
    return Push(value);
  }

  absl::Status PushTuple(size_t count) {
    if (count > Above()) return Malformed();
    if (items_.size() + count > kMaxValues) return BadPickle("has too many values");
    const Value tuple = {.kind = Value::kTuple,
                         .first = static_cast<uint32_t>(items_.size()),
                         .count = static_cast<uint32_t>(count)};
    items_.insert(items_.end(), stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    Pop(count).IgnoreError();
    return Push(tuple);
  }

  // `count` is keys and values together.
  absl::Status SetItems(size_t count) {
    const Value* dict = Top(count + 1);
    if (count % 2 != 0 || dict == nullptr || dict->kind != Value::kDict) return Malformed();
    if (entries_.size() + count > kMaxValues) return BadPickle("has too many values");
    const size_t first = stack_.size() - count;
    for (size_t at = first; at < stack_.size(); at += 2) {
      entries_.push_back({stack_[first - 1], stack_[at], stack_[at + 1]});
    }
    return Pop(count);
  }

  absl::Status PushKnown() {
    const size_t module_end = rest_.find('\n');
    const size_t name_end =
        module_end == absl::string_view::npos ? module_end : rest_.find('\n', module_end + 1);
    if (name_end == absl::string_view::npos) return BadPickle("is cut short");
    const std::string name = absl::StrCat(rest_.substr(0, module_end), ".",
                                          rest_.substr(module_end + 1, name_end - module_end - 1));
    rest_.remove_prefix(name_end + 1);
    for (size_t i = 0; i < std::size(kNames); ++i) {
      if (kNames[i].name == name) {
        return Push({.kind = Value::kKnown, .known = static_cast<uint8_t>(i)});
      }
    }
    return BadPickle(
        absl::StrCat("names '", absl::CHexEscape(name.substr(0, 128)),
                     "', which is no tensor's; mpsd runs no code of a file of weights"));
  }

  const Value& Item(const Value& tuple, size_t number) const {
    return values_[items_[tuple.first + number]];
  }

  absl::Status Put(std::optional<uint32_t> place) {
    if (!place.has_value()) return BadPickle("is cut short");
    if (Above() == 0 || *place > memo_.size()) return Malformed();
    if (*place == memo_.size()) memo_.emplace_back();
    memo_[*place] = stack_.back();
    return memo_.size() > kMaxValues ? BadPickle("has too many values") : absl::OkStatus();
  }

  absl::Status Get(std::optional<uint32_t> place) {
    if (!place.has_value()) return BadPickle("is cut short");
    if (*place >= memo_.size()) return Malformed();
    if (stack_.size() >= kMaxValues) return BadPickle("has too many values");
    stack_.push_back(memo_[*place]);
    return absl::OkStatus();
  }

  // ("storage", type, key, device, count), with the bytes under the key.
  absl::Status PushStorage() {
    const Value* tuple = Top(1);
    if (tuple == nullptr || tuple->kind != Value::kTuple || tuple->count != 5 ||
        Item(*tuple, 0).kind != Value::kText || Item(*tuple, 0).text != "storage" ||
        Item(*tuple, 1).kind != Value::kKnown ||
        kNames[Item(*tuple, 1).known].kind != Known::kStorage ||
        Item(*tuple, 2).kind != Value::kText || Item(*tuple, 4).kind != Value::kNumber) {
      return BadPickle("names a storage in an unknown way");
    }
    const std::string key(Item(*tuple, 2).text);
    const auto found = storages_.find(key);
    if (found == storages_.end())
      return BadPickle(absl::StrCat("names a storage that is not there"));
    const Value storage = {.kind = Value::kStorage,
                           .known = Item(*tuple, 1).known,
                           .number = Item(*tuple, 4).number,
                           .text = found->second};
    const uint64_t element_bytes = kNames[storage.known].element_bytes;
    if (storage.number < 0 || storage.text.size() % element_bytes != 0 ||
        static_cast<uint64_t>(storage.number) != storage.text.size() / element_bytes) {
      return BadPickle(absl::StrCat("says that the storage '", absl::CHexEscape(key.substr(0, 64)),
                                    "' has another number of bytes than it has"));
    }
    Pop(1).IgnoreError();
    return Push(storage);
  }

  absl::Status Reduce() {
    const Value* function = Top(2);
    if (function == nullptr || function->kind != Value::kKnown || Top(1)->kind != Value::kTuple) {
      return Malformed();
    }
    const Value arguments = *Top(1);
    const Known::Kind kind = kNames[function->known].kind;
    if (kind == Known::kParameter) {
      if (arguments.count != 3 || Item(arguments, 0).kind != Value::kTensor) return Malformed();
      Pop(2).IgnoreError();
      stack_.push_back(items_[arguments.first]);
      return absl::OkStatus();
    }
    if (kind == Known::kStorage || (kind == Known::kDict && arguments.count != 0)) {
      return Malformed();
    }
    Value made = {.kind = Value::kDict};
    if (kind == Known::kTensor) {
      made = {.kind = Value::kTensor, .first = static_cast<uint32_t>(tensors_.size())};
      absl::Status status = AddTensor(arguments);
      if (!status.ok()) return status;
    }
    Pop(2).IgnoreError();
    return Push(made);
  }

  // Nothing unless it is a tuple of numbers from 0.
  std::optional<std::vector<int64_t>> NumbersOf(const Value& tuple) const {
    if (tuple.kind != Value::kTuple || tuple.count > kMaxTensorDims) return std::nullopt;
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < tuple.count; ++i) {
      const Value& item = Item(tuple, i);
      if (item.kind != Value::kNumber || item.number < 0) return std::nullopt;
      numbers.push_back(item.number);
    }
    return numbers;
  }

  // (storage, offset, shape, strides, needs a gradient, hooks). A seventh argument would negate or
  // conjugate.
  absl::Status AddTensor(const Value& arguments) {
    if (tensors_.size() >= kMaxTensorsOfAFile) return BadPickle("has too many tensors");
    if (arguments.count != 6 || Item(arguments, 0).kind != Value::kStorage ||
        Item(arguments, 1).kind != Value::kNumber || Item(arguments, 1).number < 0) {
      return BadPickle("describes a tensor in an unknown way");
    }
    std::optional<std::vector<int64_t>> shape = NumbersOf(Item(arguments, 2));
    std::optional<std::vector<int64_t>> strides = NumbersOf(Item(arguments, 3));
    if (!shape.has_value() || !strides.has_value() || shape->size() != strides->size()) {
      return BadPickle("has a tensor without a shape and strides of at most 8 numbers from 0");
    }
    const Value& storage = Item(arguments, 0);
    const Known& type = kNames[storage.known];
    const auto offset = static_cast<uint64_t>(Item(arguments, 1).number);
    const auto stored = static_cast<uint64_t>(storage.number);
    const std::optional<uint64_t> count = ElementCount(*shape);
    if (!count.has_value() || offset > stored) return BadPickle("has a tensor outside its storage");
    StoredTensor tensor = {type.dtype, *std::move(shape), {}};
    if (*count > 0) {
      const std::optional<uint64_t> reach = ReachOf(tensor.shape, *strides, stored - offset);
      if (!reach.has_value()) {
        return BadPickle("has a tensor outside its storage, or with two numbers in one place");
      }
      tensor.bytes =
          storage.text.substr(offset * type.element_bytes, (*reach + 1) * type.element_bytes);
      if (!AreSideBySide(tensor.shape, *strides)) tensor.strides = *std::move(strides);
    }
    tensors_.push_back(std::move(tensor));
    return absl::OkStatus();
  }

  absl::StatusOr<StoredTensors> Named(Handle dict) const {
    if (values_[dict].kind != Value::kDict) return BadPickle("has no dict of tensors");
    StoredTensors named;
    uint64_t bytes = 0;
    for (const Entry& entry : entries_) {
      if (entry.dict != dict) continue;
      const Value& key = values_[entry.key];
      const Value& value = values_[entry.value];
      if (key.kind != Value::kText) return BadPickle("has a tensor whose name is no text");
      const std::string name(key.text);
      const std::string shown = absl::Utf8SafeCEscape(name.substr(0, 128));
      if (value.kind != Value::kTensor)
        return BadPickle(absl::StrCat("has no tensor for '", shown, "'"));
      const StoredTensor& tensor = tensors_[value.first];
      if (!named.emplace(name, tensor).second) {
        return BadPickle(absl::StrCat("has the tensor '", shown, "' twice"));
      }
      bytes += tensor.bytes.size();
      if (bytes > kMostSharing * stored_bytes_) {
        return BadPickle("has tensors of more than four times the bytes of their storages");
      }
    }
    return named;
  }

  absl::string_view rest_;
  const ZipEntries& storages_;
  uint64_t stored_bytes_ = 0;
  bool has_stopped_ = false;
  std::vector<Value> values_;
  std::vector<Handle> stack_;
  std::vector<size_t> marks_;  // how high the stack was
  std::vector<Handle> memo_;
  std::vector<Handle> items_;   // from each tuple
  std::vector<Entry> entries_;  // from each dict
  std::vector<StoredTensor> tensors_;
};

}  // namespace

absl::StatusOr<StoredTensors> ParseWeightPickle(absl::string_view pickle,
                                                const ZipEntries& storages) {
  return PickleMachine(pickle, storages).Run();
}

}  // namespace mpsd
