// The rewrite of linear layers must not change answers: bit for bit when both versions are one
// addmm or one matmul, otherwise within rounding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/worker/model/torchscript/script_rig.h"
#include "worker/model/elements.h"

namespace mpsd {
namespace {

struct Case {
  std::string name;
  Dims x;
  int64_t out;
  DataType datatype;
  bool bias;
  bool bitwise;
};

class LinearRewrite : public ScriptRig, public testing::WithParamInterface<Case> {
 protected:
  // The layer's answers with the rewrite on or off; its weights are inputs.
  std::string Answer(const Case& test, const std::string& rewrite) {
    const int64_t in = test.x.back();
    ModelSpec spec;
    spec.inputs = {{"x", test.datatype, test.x}, {"w", test.datatype, {test.out, in}}};
    if (test.bias) spec.inputs.push_back({"b", test.datatype, {test.out}});
    const std::string source =
        test.bias ? "def forward(self, x: Tensor, w: Tensor, b: Tensor) -> Tensor:\n"
                    "    return torch.linear(x, w, b)\n"
                  : "def forward(self, x: Tensor, w: Tensor) -> Tensor:\n"
                    "    return torch.linear(x, w)\n";
    const auto model = LoadSource(source, spec, {{"linear_rewrite", rewrite}});
    EXPECT_TRUE(model.ok()) << model.status();
    if (!model.ok()) return "";
    std::vector<std::string> memory;
    std::vector<InputTensor> inputs;
    memory.reserve(spec.inputs.size());
    for (const TensorSpec& tensor : spec.inputs) {
      memory.push_back(Elements(tensor));
      inputs.push_back({memory.back().data(), memory.back().size(), tensor.datatype, tensor.dims});
    }
    CollectingSink sink;
    const absl::Status status = Run(model->get(), inputs, 1, &sink);
    EXPECT_TRUE(status.ok()) << status;
    return status.ok() ? sink.outputs()[0].bytes : "";
  }

  // Numbers from 1 to 2, with every bit of the fraction in use.
  static std::string Elements(const TensorSpec& tensor) {
    const size_t size = ElementBytes(tensor.datatype);
    std::string bytes(*TensorBytes(tensor.datatype, tensor.dims), '\0');
    uint64_t state = 88172645463325252ULL;
    for (size_t at = 0; at < bytes.size(); at += size) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      uint64_t bits = 0x3FF0000000000000ULL | (state >> 12);
      if (tensor.datatype == DataType::kFp32) bits = 0x3F800000U | (state >> 41);
      if (tensor.datatype == DataType::kFp16) bits = 0x3C00U | (state >> 54);
      if (tensor.datatype == DataType::kBf16) bits = 0x3F80U | (state >> 57);
      std::memcpy(bytes.data() + at, &bits, size);
    }
    return bytes;
  }

  static double Tolerance(DataType datatype) {
    if (datatype == DataType::kFp64) return 1e-13;
    if (datatype == DataType::kFp32) return 1e-5;
    return datatype == DataType::kFp16 ? 2e-3 : 2e-2;
  }
};

TEST_P(LinearRewrite, GivesWhatLinearGives) {
  const Case& test = GetParam();
  const std::string plain = Answer(test, "off");
  const std::string rewritten = Answer(test, "on");
  ASSERT_FALSE(plain.empty());
  ASSERT_EQ(plain.size(), rewritten.size());
  if (test.bitwise && TestDevice() == "cpu") {
    EXPECT_EQ(plain, rewritten);
    return;
  }
  const size_t size = ElementBytes(test.datatype);
  for (size_t at = 0; at < plain.size(); at += size) {
    const double want = ReadElement(test.datatype, plain.data() + at);
    const double have = ReadElement(test.datatype, rewritten.data() + at);
    ASSERT_LE(std::fabs(want - have), Tolerance(test.datatype) * std::fabs(want)) << at / size;
  }
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  const std::pair<const char*, Dims> shapes[] = {{"Vector", {24}},        {"Row", {1, 24}},
                                                 {"Matrix", {7, 24}},     {"Wide", {33, 130}},
                                                 {"Batches", {3, 5, 24}}, {"Four", {2, 3, 4, 8}}};
  for (const auto& [shape, dims] : shapes) {
    for (const DataType datatype :
         {DataType::kFp32, DataType::kFp64, DataType::kFp16, DataType::kBf16}) {
      for (const bool bias : {false, true}) {
        // For a matrix both versions are one addmm; without a bias both are one matmul.
        const bool exact = !bias || dims.size() == 2;
        cases.push_back(
            {std::string(shape) + std::string(DataTypeName(datatype)) + (bias ? "Bias" : "NoBias"),
             dims, 17, datatype, bias, exact});
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, LinearRewrite, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<Case>& test) { return test.param.name; });

}  // namespace
}  // namespace mpsd
