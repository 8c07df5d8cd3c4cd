#include "client/format/npy.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/tensor.h"
#include "proto/base/limits.h"

namespace mpsd::cli {
namespace {

constexpr absl::string_view kMagic = "\x93NUMPY";
constexpr size_t kHeaderAlignment = 64;
constexpr uint64_t kMaxHeaderBytes = 64 << 10;
constexpr uint64_t kMaxElementBytes = 1 << 20;  // in an 'S' array

struct Kind {
  absl::string_view descr;  // without '<' and '|'
  DataType datatype;
};
constexpr Kind kKinds[] = {
    {"b1", DataType::kBool},   {"u1", DataType::kUint8},  {"u2", DataType::kUint16},
    {"u4", DataType::kUint32}, {"u8", DataType::kUint64}, {"i1", DataType::kInt8},
    {"i2", DataType::kInt16},  {"i4", DataType::kInt32},  {"i8", DataType::kInt64},
    {"f2", DataType::kFp16},   {"f4", DataType::kFp32},   {"f8", DataType::kFp64},
};

struct Header {
  DataType datatype = DataType::kInvalid;
  uint64_t element_bytes = 0;
  Dims shape;
};

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("not a readable .npy file: ", what));
}

// The text after "'key':" in the dictionary.
absl::StatusOr<absl::string_view> FindValue(absl::string_view header, absl::string_view key) {
  const std::string quoted = absl::StrCat("'", key, "'");
  const size_t at = header.find(quoted);
  if (at == absl::string_view::npos) return Malformed(absl::StrCat("no ", quoted));
  absl::string_view rest = absl::StripLeadingAsciiWhitespace(header.substr(at + quoted.size()));
  if (!absl::ConsumePrefix(&rest, ":")) return Malformed(absl::StrCat("no value of ", quoted));
  return absl::StripLeadingAsciiWhitespace(rest);
}

absl::Status ParseDescr(absl::string_view value, Header* header) {
  const size_t end = value.find('\'', 1);
  if (!absl::StartsWith(value, "'") || end == absl::string_view::npos) {
    return Malformed("arrays with named fields are not supported");
  }
  const absl::string_view descr = value.substr(1, end - 1);
  absl::string_view code = descr;
  if (!absl::ConsumePrefix(&code, "<")) absl::ConsumePrefix(&code, "|");
  for (const Kind& kind : kKinds) {
    if (code != kind.descr) continue;
    header->datatype = kind.datatype;
    header->element_bytes = ElementBytes(kind.datatype);
    return absl::OkStatus();
  }
  if (absl::ConsumePrefix(&code, "S") && absl::SimpleAtoi(code, &header->element_bytes) &&
      header->element_bytes > 0 && header->element_bytes <= kMaxElementBytes) {
    header->datatype = DataType::kBytes;
    return absl::OkStatus();
  }
  return Malformed(absl::StrCat("dtype '", descr, "' is not supported"));
}

absl::Status ParseNpyShape(absl::string_view value, Header* header) {
  const size_t end = value.find(')');
  if (!absl::StartsWith(value, "(") || end == absl::string_view::npos) return Malformed("no shape");
  const absl::string_view inside = absl::StripAsciiWhitespace(value.substr(1, end - 1));
  if (inside.empty()) return absl::OkStatus();
  for (absl::string_view item : absl::StrSplit(absl::StripSuffix(inside, ","), ',')) {
    int64_t dim = 0;
    if (!absl::SimpleAtoi(item, &dim) || dim < 0) return Malformed("a dim is not a number");
    if (header->shape.size() > kMaxRank) return Malformed("too many dims");
    header->shape.push_back(dim);
  }
  return absl::OkStatus();
}

absl::StatusOr<Header> ParseHeader(absl::string_view text) {
  Header header;
  const auto shape = FindValue(text, "shape");
  if (!shape.ok()) return shape.status();
  absl::Status status = ParseNpyShape(*shape, &header);
  if (!status.ok()) return status;
  const auto descr = FindValue(text, "descr");
  if (!descr.ok()) return descr.status();
  status = ParseDescr(*descr, &header);
  if (!status.ok()) return status;
  const auto fortran_order = FindValue(text, "fortran_order");
  if (!fortran_order.ok()) return fortran_order.status();
  if (!absl::StartsWith(*fortran_order, "False") && header.shape.size() > 1) {
    return Malformed("Fortran order; save it with numpy.ascontiguousarray");
  }
  return header;
}

// Removes magic, version and header.
absl::StatusOr<absl::string_view> ConsumeHeader(absl::string_view* file) {
  if (!absl::ConsumePrefix(file, kMagic) || file->size() < 2) return Malformed("no magic number");
  const int version = static_cast<unsigned char>((*file)[0]);
  if (version != 1 && version != 2) return Malformed(absl::StrCat("version ", version));
  file->remove_prefix(2);
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (file->size() < length_bytes) return Malformed("it is cut");
  uint64_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<uint64_t>(static_cast<unsigned char>((*file)[i])) << (8 * i);
  }
  file->remove_prefix(length_bytes);
  if (length > kMaxHeaderBytes || length > file->size()) return Malformed("it is cut");
  const absl::string_view header = file->substr(0, length);
  file->remove_prefix(length);
  return header;
}

// Drops the zeros at each element's end.
std::string PackFixed(absl::string_view data, uint64_t element_bytes, uint64_t element_count) {
  std::vector<std::string> elements;
  for (uint64_t i = 0; i < element_count; ++i) {
    const absl::string_view element = data.substr(i * element_bytes, element_bytes);
    elements.emplace_back(element.substr(0, element.find_last_not_of('\0') + 1));
  }
  return client::PackBytes(elements);
}

std::string HeaderText(absl::string_view descr, const Dims& shape) {
  std::string text = absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
                                  absl::StrJoin(shape, ", "), shape.size() == 1 ? ",), }" : "), }");
  const size_t before = kMagic.size() + 4;
  while ((before + text.size() + 1) % kHeaderAlignment != 0) text.push_back(' ');
  return text + "\n";
}

std::string WithHeader(absl::string_view descr, const Dims& shape, absl::string_view data) {
  const std::string header = HeaderText(descr, shape);
  const char prefix[] = {1, 0, static_cast<char>(header.size() & 0xFF),
                         static_cast<char>(header.size() >> 8)};
  return absl::StrCat(kMagic, absl::string_view(prefix, sizeof(prefix)), header, data);
}

absl::StatusOr<std::string> FormatBytesArray(const NpyArray& array) {
  const auto elements = client::UnpackBytes(array.bytes);
  if (!elements.ok()) return elements.status();
  if (ElementCount(array.shape) != elements->size()) {
    return absl::InvalidArgumentError("the shape does not fit the elements");
  }
  size_t longest = 1;
  for (const std::string& element : *elements) longest = std::max(longest, element.size());
  if (longest * elements->size() > kMaxNpyBytes) {
    return absl::InvalidArgumentError("the elements differ too much in length for a .npy file");
  }
  std::string data;
  for (std::string element : *elements) {
    element.resize(longest, '\0');
    data += element;
  }
  return WithHeader(absl::StrCat("|S", longest), array.shape, data);
}

}  // namespace

bool IsNpy(absl::string_view file) { return absl::StartsWith(file, kMagic); }

absl::StatusOr<NpyArray> ParseNpy(absl::string_view file) {
  const auto text = ConsumeHeader(&file);
  if (!text.ok()) return text.status();
  const auto header = ParseHeader(*text);
  if (!header.ok()) return header.status();
  const auto count = ElementCount(header->shape);
  if (!count.has_value() || *count > kMaxNpyBytes ||
      *count * header->element_bytes != file.size()) {
    return Malformed(absl::StrCat(file.size(), " bytes of data do not make up ",
                                  ShapeText(header->shape), " of ", header->element_bytes));
  }
  NpyArray array{header->datatype, header->shape, ""};
  array.bytes = array.datatype == DataType::kBytes ? PackFixed(file, header->element_bytes, *count)
                                                   : std::string(file);
  return array;
}

absl::StatusOr<std::string> FormatNpy(const NpyArray& array) {
  if (array.datatype == DataType::kBytes) return FormatBytesArray(array);
  if (TensorBytes(array.datatype, array.shape) != array.bytes.size()) {
    return absl::InvalidArgumentError("the shape does not fit the bytes");
  }
  for (const Kind& kind : kKinds) {
    if (kind.datatype != array.datatype) continue;
    const char order = ElementBytes(kind.datatype) == 1 ? '|' : '<';
    return WithHeader(absl::StrCat(std::string(1, order), kind.descr), array.shape, array.bytes);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("numpy has no datatype for ", DataTypeName(array.datatype)));
}

}  // namespace mpsd::cli
