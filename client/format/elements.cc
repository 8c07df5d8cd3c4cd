#include "client/format/elements.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace mpsd::cli {
namespace {

constexpr uint64_t kRandomIntegers = 100;

uint16_t ToBFloat(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}

// k/1024 for the low ten bits k of `random`, which needs no rounding. Halving finds the exponent.
uint16_t RandomHalf(uint64_t random) {
  uint32_t fraction = random & 0x3FF;
  if (fraction == 0) return 0;
  uint32_t exponent = 15;
  while ((fraction & 0x400) == 0) {
    fraction <<= 1;
    --exponent;
  }
  return static_cast<uint16_t>((exponent << 10) | (fraction & 0x3FF));
}

double Unit(uint64_t random) { return static_cast<double>(random >> 11) * 0x1p-53; }

void AppendRandom(DataType datatype, uint64_t random, std::string* bytes) {
  switch (datatype) {
    case DataType::kFp64:
      return client::AppendNumber(Unit(random), bytes);
    case DataType::kFp32:
      return client::AppendNumber(static_cast<float>(random >> 40) * 0x1p-24F, bytes);
    case DataType::kFp16:
      return client::AppendNumber(RandomHalf(random), bytes);
    case DataType::kBf16:
      return client::AppendNumber(ToBFloat(static_cast<float>(random >> 40) * 0x1p-24F), bytes);
    default:
      break;
  }
  // Little endian: the low byte comes first, at any width.
  bytes->push_back(static_cast<char>(random % (datatype == DataType::kBool ? 2 : kRandomIntegers)));
  bytes->append(ElementBytes(datatype) - 1, '\0');
}

template <class T>
std::vector<double> NumbersOf(const std::string& bytes, double (*convert)(T)) {
  std::vector<double> numbers(bytes.size() / sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    numbers[i] = convert(value);
  }
  return numbers;
}

template <class T>
double Widen(T value) {
  return static_cast<double>(value);
}

}  // namespace

double HalfToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

double BFloatToDouble(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

uint16_t DoubleToHalf(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7E00;
  const double size = std::fabs(value);
  if (size >= 65520) return sign | 0x7C00;
  if (size < 0x1p-14) return sign | static_cast<uint16_t>(std::nearbyint(size * 0x1p24));
  int exponent = 0;
  const double fraction = std::frexp(size, &exponent) * 2 - 1;
  // A fraction that rounds up to 1 carries into the exponent.
  return sign + static_cast<uint16_t>((exponent + 14) << 10) +
         static_cast<uint16_t>(std::nearbyint(fraction * 1024));
}

uint16_t FloatToBFloat(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  if (std::isnan(value)) return 0x7FC0;
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

std::vector<double> Numbers(const client::InferOutput& output) {
  switch (output.datatype) {
    case DataType::kBool:
    case DataType::kUint8:
      return NumbersOf<uint8_t>(output.bytes, Widen);
    case DataType::kUint16:
      return NumbersOf<uint16_t>(output.bytes, Widen);
    case DataType::kUint32:
      return NumbersOf<uint32_t>(output.bytes, Widen);
    case DataType::kUint64:
      return NumbersOf<uint64_t>(output.bytes, Widen);
    case DataType::kInt8:
      return NumbersOf<int8_t>(output.bytes, Widen);
    case DataType::kInt16:
      return NumbersOf<int16_t>(output.bytes, Widen);
    case DataType::kInt32:
      return NumbersOf<int32_t>(output.bytes, Widen);
    case DataType::kInt64:
      return NumbersOf<int64_t>(output.bytes, Widen);
    case DataType::kFp16:
      return NumbersOf<uint16_t>(output.bytes, HalfToDouble);
    case DataType::kBf16:
      return NumbersOf<uint16_t>(output.bytes, BFloatToDouble);
    case DataType::kFp32:
      return NumbersOf<float>(output.bytes, Widen);
    case DataType::kFp64:
      return NumbersOf<double>(output.bytes, Widen);
    case DataType::kBytes:
    case DataType::kInvalid:
      break;
  }
  return {};
}

absl::StatusOr<NpyArray> RandomArray(DataType datatype, const Dims& shape,
                                     std::mt19937_64* random) {
  const auto bytes = TensorBytes(datatype, shape);
  if (!bytes.has_value() || *bytes > kMaxNpyBytes) {
    return absl::InvalidArgumentError(absl::StrCat("no random tensor of ", DataTypeName(datatype),
                                                   ShapeText(shape), " can be made"));
  }
  NpyArray array{datatype, shape, ""};
  array.bytes.reserve(*bytes);
  while (array.bytes.size() < *bytes) AppendRandom(datatype, (*random)(), &array.bytes);
  return array;
}

}  // namespace mpsd::cli
