#include "server/bodies/json/infer_body.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kMessageBytes = 1 << 20;

class InferBodyTest : public testing::Test {
 protected:
  absl::Status Read(const std::string& json, const std::string& binary = "") {
    message_.model = "m";
    return body_.Read(json + binary, json.size(), kMessageBytes, &message_);
  }

  // A request with one input.
  absl::Status ReadInput(const std::string& datatype, const std::string& shape,
                         const std::string& data) {
    return Read(absl::StrCat(R"({"inputs":[{"name":"x","datatype":")", datatype, R"(","shape":)",
                             shape, R"(,"data":)", data, "}]}"));
  }

  void ExpectRefused(const absl::Status& status, const std::string& text) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }

  std::string Bytes(size_t input = 0) const {
    std::string bytes;
    for (const absl::string_view piece : message_.inputs[input].payload.pieces) {
      bytes.append(piece.data(), piece.size());
    }
    return bytes;
  }

  template <typename Element>
  std::vector<Element> Elements(size_t input = 0) const {
    const std::string bytes = Bytes(input);
    std::vector<Element> elements(bytes.size() / sizeof(Element));
    if (!bytes.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }

  InferBody body_;
  InferMessage message_;
};

// The two are what tritonclient.http 2.73 sent, byte by byte.
TEST_F(InferBodyTest, ReadsWhatTritonsClientSendsAsJson) {
  ASSERT_TRUE(
      Read(R"({"id":"7","inputs":[{"name":"A","shape":[1,3],"datatype":"FP32","data":)"
           R"([0.10000000149011612,2.0,-30000001024.0]},{"name":"B","shape":[2],"datatype":)"
           R"("BYTES","data":["h\u00E9","x"]},{"name":"C","shape":[2],"datatype":"BOOL","data":)"
           R"([true,false]}],"outputs":[{"name":"O","parameters":{"classification":2,)"
           R"("binary_data":false}},{"name":"P","parameters":{"binary_data":true}},{"name":"Q",)"
           R"("parameters":{"binary_data":false,"shared_memory_region":"s",)"
           R"("shared_memory_byte_size":16,"shared_memory_offset":4}}],"parameters":)"
           R"({"sequence_id":9,"sequence_start":true,"sequence_end":false,"priority":2,)"
           R"("timeout":1500,"k":1.5,"s":"x"}})")
          .ok());
  EXPECT_EQ(message_.id, "7");
  ASSERT_THAT(message_.inputs, SizeIs(3));
  EXPECT_EQ(message_.inputs[0].name, "A");
  EXPECT_EQ(message_.inputs[0].datatype, "FP32");
  EXPECT_THAT(message_.inputs[0].dims, ElementsAre(1, 3));
  EXPECT_TRUE(message_.inputs[0].has_data);
  EXPECT_THAT(Elements<float>(0), ElementsAre(0.1F, 2, -3e10F));
  EXPECT_EQ(Bytes(1), std::string("\3\0\0\0h\xc3\xa9\1\0\0\0x", 12));
  EXPECT_EQ(Bytes(2), std::string("\1\0", 2));
  EXPECT_THAT(message_.outputs, ElementsAre("O", "P", "Q"));
  EXPECT_FALSE(body_.WantsBinary("O"));
  EXPECT_TRUE(body_.WantsBinary("P"));
  EXPECT_THAT(body_.forms().classes, SizeIs(1));
  EXPECT_THAT(body_.forms().regions, SizeIs(1));
  EXPECT_EQ(message_.timeout_us, 1500);
  EXPECT_EQ(message_.parameter_error, "");
}

TEST_F(InferBodyTest, ReadsWhatTritonsClientSendsByDefault) {
  const std::string json =
      R"({"inputs":[{"name":"D","shape":[1,2],"datatype":"INT32","parameters":)"
      R"({"binary_data_size":8}},{"name":"E","shape":[2],"datatype":"BYTES","parameters":)"
      R"({"binary_data_size":10}},{"name":"F","shape":[1],"datatype":"FP32","parameters":)"
      R"({"shared_memory_region":"r","shared_memory_byte_size":4}}],"parameters":)"
      R"({"binary_data_output":true}})";
  EXPECT_EQ(json.size(), 329u);
  ASSERT_TRUE(Read(json, std::string("\1\0\0\0\2\0\0\0\2\0\0\0hi\0\0\0\0", 18)).ok());
  EXPECT_THAT(Elements<int32_t>(0), ElementsAre(1, 2));
  EXPECT_EQ(Bytes(1), std::string("\2\0\0\0hi\0\0\0\0", 10));
  EXPECT_EQ(message_.region_inputs, 1u);
  EXPECT_TRUE(body_.WantsBinary("anything"));
  EXPECT_THAT(message_.outputs, IsEmpty());
}

TEST_F(InferBodyTest, ReadsEachDatatype) {
  ASSERT_TRUE(ReadInput("BOOL", "[2]", "[true,false]").ok());
  EXPECT_EQ(Bytes(), std::string("\x01\x00", 2));
  ASSERT_TRUE(ReadInput("INT8", "[2]", "[-128,127]").ok());
  EXPECT_THAT(Elements<int8_t>(), ElementsAre(-128, 127));
  ASSERT_TRUE(ReadInput("INT16", "[2]", "[-32768,32767]").ok());
  EXPECT_THAT(Elements<int16_t>(), ElementsAre(-32768, 32767));
  ASSERT_TRUE(ReadInput("INT64", "[2]", "[-9223372036854775808,9223372036854775807]").ok());
  EXPECT_THAT(Elements<int64_t>(), ElementsAre(INT64_MIN, INT64_MAX));
  ASSERT_TRUE(ReadInput("UINT8", "[2]", "[0,255]").ok());
  EXPECT_THAT(Elements<uint8_t>(), ElementsAre(0, 255));
  ASSERT_TRUE(ReadInput("UINT16", "[1]", "[65535]").ok());
  EXPECT_THAT(Elements<uint16_t>(), ElementsAre(65535));
  ASSERT_TRUE(ReadInput("UINT32", "[1]", "[4294967295]").ok());
  EXPECT_THAT(Elements<uint32_t>(), ElementsAre(4294967295U));
  ASSERT_TRUE(ReadInput("UINT64", "[1]", "[18446744073709551615]").ok());
  EXPECT_THAT(Elements<uint64_t>(), ElementsAre(UINT64_MAX));
  ASSERT_TRUE(ReadInput("FP32", "[3]", "[1,-2.5,3.4028235e+38]").ok());
  EXPECT_THAT(Elements<float>(), ElementsAre(1, -2.5F, std::numeric_limits<float>::max()));
  ASSERT_TRUE(ReadInput("FP64", "[2]", "[1e308,5e-324]").ok());
  EXPECT_THAT(Elements<double>(), ElementsAre(1e308, 5e-324));
  ASSERT_TRUE(ReadInput("BYTES", "[2]", R"(["\u00e9\n",""])").ok());
  EXPECT_EQ(Bytes(), std::string("\x03\0\0\0\xc3\xa9\n\0\0\0\0", 11));
}

TEST_F(InferBodyTest, NestedOrFlatIsTheSame) {
  ASSERT_TRUE(ReadInput("INT32", "[2,2]", "[[1,2],[3,4]]").ok());
  EXPECT_THAT(Elements<int32_t>(), ElementsAre(1, 2, 3, 4));
  ASSERT_TRUE(ReadInput("INT32", "[2,2]", "[1,2,3,4]").ok());
  EXPECT_THAT(Elements<int32_t>(), ElementsAre(1, 2, 3, 4));
  ASSERT_TRUE(ReadInput("INT32", "[2,0]", "[[],[]]").ok());
  EXPECT_EQ(message_.inputs[0].payload.bytes, 0u);
  EXPECT_TRUE(message_.inputs[0].has_data);
}

TEST_F(InferBodyTest, ManyElementsAreReadInChunks) {
  std::string data = "[0";
  for (int i = 1; i < 1000; ++i) absl::StrAppend(&data, ",", i);
  ASSERT_TRUE(ReadInput("INT32", "[1000]", data + "]").ok());
  const std::vector<int32_t> elements = Elements<int32_t>();
  ASSERT_THAT(elements, SizeIs(1000));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(elements[static_cast<size_t>(i)], i);
}

TEST_F(InferBodyTest, DataMayComeBeforeItsDatatypeAndShape) {
  ASSERT_TRUE(Read(R"({"inputs":[{"data":[ "a\"]" , "b" ],"shape":[2],"datatype":"BYTES",)"
                   R"("name":"x"},{"data":[1],"name":"y","datatype":"INT8","shape":[1]}]})")
                  .ok());
  EXPECT_EQ(Bytes(0), std::string("\x03\0\0\0a\"]\x01\0\0\0b", 12));
  EXPECT_EQ(Bytes(1), "\x01");
}

TEST_F(InferBodyTest, ANumberBeyondItsTypeIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"INT8", "[128]"},
      {"INT8", "[-129]"},
      {"UINT8", "[256]"},
      {"UINT8", "[-1]"},
      {"UINT64", "[-1]"},
      {"INT32", "[1.0]"},
      {"INT32", "[1e2]"},
      {"INT32", "[2147483648]"},
      {"FP32", "[3.5e38]"},
      {"FP64", "[1e400]"},
      {"INT64", "[9223372036854775808]"},
      {"FP32", "[null]"},
      {"FP32", "[\"1\"]"},
      {"UINT64", "[18446744073709551616]"},
      {"BOOL", "[1]"},
      {"BYTES", "[1]"},
      {"INT32", "[true]"},
      {"FP32", "[01]"},
  };
  for (const auto& [datatype, data] : cases) {
    SCOPED_TRACE(absl::StrCat(datatype, " ", data));
    ExpectRefused(ReadInput(datatype, "[1]", data),
                  absl::StrCat("Unable to parse 'data': element 0 of input 'x' is no ", datatype));
  }
}

TEST_F(InferBodyTest, WhatJsonDoesNotCallANumberIsRefused) {
  for (const char* data : {"[NaN]", "[Infinity]", "[-Infinity]", "[+1]", "[.5]", "[1.]", "[0x1]",
                           "[1_0]", "[-]", "[1e]", "[{}]"}) {
    SCOPED_TRACE(data);
    ExpectRefused(ReadInput("FP32", "[1]", data), "");
  }
}

TEST_F(InferBodyTest, ACountOtherThanTheShapesIsRefused) {
  ExpectRefused(ReadInput("INT32", "[1,2]", "[1]"),
                "Failed to parse 'data' field: shape does not match true shape");
  ExpectRefused(ReadInput("INT32", "[1,2]", "[1,2,3]"),
                "Unable to parse 'data': Shape does not match true shape of 'data' field");
  ExpectRefused(ReadInput("BYTES", "[1]", R"(["a","b"])"), "Shape does not match true shape");
}

// The validator knows the model, and refuses these by the protocol's texts.
TEST_F(InferBodyTest, AShapeThatNoTensorHasIsLeftToTheValidator) {
  ASSERT_TRUE(ReadInput("INT32", "[-1,2]", "[1,2]").ok());
  EXPECT_THAT(message_.inputs[0].dims, ElementsAre(-1, 2));
  ASSERT_TRUE(ReadInput("INT32", "[4611686018427387904,4611686018427387904]", "[1]").ok());
  ASSERT_TRUE(ReadInput("FLOAT", "[1]", "[1]").ok());
  EXPECT_EQ(message_.inputs[0].datatype, "FLOAT");
  ExpectRefused(ReadInput("FLOAT", "[1]", "[1 2]"), "failed to parse the request JSON buffer");
}

TEST_F(InferBodyTest, HalfNumbersHaveNoFormInJson) {
  ExpectRefused(ReadInput("FP16", "[1]", "[1]"),
                "receiving FP16 data via JSON is not supported. Please use the binary data format "
                "for input x");
  ExpectRefused(ReadInput("BF16", "[1]", "[1]"), "receiving BF16 data via JSON");
}

TEST_F(InferBodyTest, ATextThatIsNoJsonIsRefused) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[]",
                           "1",
                           "{}x",
                           "{} {}",
                           R"({"inputs":[]}})",
                           R"({"inputs":[1]})",
                           R"({"inputs":[],})",
                           R"({"inputs":[]"id":"1"})",
                           R"({"inputs":[],"a":tru})",
                           R"({"inputs":[],"a":[1,,2]})",
                           R"({"inputs":[],"a":"\ud800"})",
                           R"({"inputs":[],"a":"\q"})",
                           "{\"inputs\":[],\"a\":\"\xff\"}",
                           "{\"inputs\":[],\"\xc3\":1}",
                           "{\"inputs\":[],\"a\":\"\n\"}",
                           R"({"inputs":[],"a":1e999})",
                           R"({'inputs':[]})"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(Read(text).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(InferBodyTest, ATextThatIsNoObjectIsCalledSo) {
  for (const char* text : {"hello", "[]", "5", "null"}) {
    SCOPED_TRACE(text);
    ExpectRefused(Read(text), "it is no JSON object");
  }
}

TEST_F(InferBodyTest, AFieldThatComesTwiceIsRefused) {
  ExpectRefused(Read(R"({"inputs":[],"id":"a","id":"b"})"), "the JSON field 'id' comes twice");
  ExpectRefused(Read(R"({"inputs":[],"other":1,"\u006fther":2})"), "'other' comes twice");
  ExpectRefused(Read(R"({"inputs":[],"parameters":{"a":1,"a":2}})"), "'a' comes twice");
  std::string many = R"({"inputs":[],"o":{"k0":0)";
  for (int i = 1; i < 40; ++i) absl::StrAppend(&many, ",\"k", i, "\":0");
  EXPECT_TRUE(Read(many + "}}").ok());
  ExpectRefused(Read(many + R"(,"k39":0}})"), "'k39' comes twice");
}

TEST_F(InferBodyTest, DepthIsBounded) {
  const auto nested = [](size_t depth) {
    return absl::StrCat(std::string(depth, '['), "1", std::string(depth, ']'));
  };
  EXPECT_TRUE(ReadInput("INT8", "[1]", nested(16)).ok());
  ExpectRefused(ReadInput("INT8", "[1]", nested(17)), "JSON nesting depth exceeds maximum");
  ExpectRefused(ReadInput("INT8", "[1]", nested(100000)), "JSON nesting depth exceeds maximum");
  ExpectRefused(Read(absl::StrCat(R"({"inputs":[],"o":)", nested(100000), "}")),
                "JSON nesting depth exceeds maximum");
}

TEST_F(InferBodyTest, MissingFieldsAreNamed) {
  ExpectRefused(Read("{}"), "Unable to parse 'inputs'");
  ExpectRefused(Read(R"({"inputs":[{"shape":[],"datatype":"FP32","data":[1]}]})"),
                "Unable to parse 'name': attempt to access non-existing object member 'name'");
  ExpectRefused(Read(R"({"inputs":[{"name":"x","datatype":"FP32","data":[1]}]})"), "'shape'");
  ExpectRefused(Read(R"({"inputs":[{"name":"x","shape":[1],"data":[1]}]})"), "'datatype'");
  ExpectRefused(Read(R"({"inputs":[],"outputs":[{}]})"), "Unable to parse 'name'");
  ExpectRefused(Read(R"({"inputs":[],"id":7})"),
                "Unable to parse 'id': attempt to access JSON non-string as string");
}

TEST_F(InferBodyTest, AnInputLiesInOnePlace) {
  ExpectRefused(Read(R"({"inputs":[{"name":"x","shape":[1],"datatype":"FP32"}]})"),
                "Input must set only one of the following fields: 'data', 'binary_data_size' in "
                "'parameters', 'shared_memory_region' in 'parameters'. But no field is set");
  ExpectRefused(Read(R"({"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[1],)"
                     R"("parameters":{"binary_data_size":4}}]})",
                     "1234"),
                "But set 'data' 'binary_data_size'");
}

TEST_F(InferBodyTest, BinaryTensorsFillWhatFollowsTheJson) {
  const std::string json = R"({"inputs":[{"name":"x","shape":[1],"datatype":"FP32",)"
                           R"("parameters":{"binary_data_size":4}}]})";
  EXPECT_TRUE(Read(json, "1234").ok());
  ExpectRefused(Read(json, "123"),
                "unexpected size for input 'x', expecting 1 additional bytes for model 'm'");
  ExpectRefused(Read(json, "12345"), "unexpected additional input data for model 'm'");
  ExpectRefused(Read(R"({"inputs":[]})", "1"), "unexpected additional input data");
  ExpectRefused(Read(R"({"inputs":[{"name":"x","shape":[1],"datatype":"FP32",)"
                     R"("parameters":{"binary_data_size":-4}}]})",
                     "1234"),
                "Unable to parse 'binary_data_size'");
  EXPECT_TRUE(Read(R"({"inputs":[{"name":"x","shape":[0],"datatype":"FP32",)"
                   R"("parameters":{"binary_data_size":0}}]})")
                  .ok());
  EXPECT_TRUE(message_.inputs[0].has_data);
}

TEST_F(InferBodyTest, ALargeBinaryTensorIsNotCopied) {
  const std::string json = R"({"inputs":[{"name":"x","shape":[64],"datatype":"INT8",)"
                           R"("parameters":{"binary_data_size":64}}]})";
  std::string body = json + std::string(64, 'x');
  const char* const place = body.data() + json.size();
  message_.model = "m";
  ASSERT_TRUE(body_.Read(std::move(body), json.size(), kMessageBytes, &message_).ok());
  EXPECT_EQ(message_.inputs[0].payload.pieces[0].data(), place);
}

TEST_F(InferBodyTest, TensorsMayLieInTheClientsMemory) {
  ASSERT_TRUE(
      Read(R"({"inputs":[{"name":"a","shape":[1],"datatype":"INT8","data":[1]},)"
           R"({"name":"b","shape":[1],"datatype":"INT8","parameters":{)"
           R"("shared_memory_region":"r","shared_memory_byte_size":16,"shared_memory_offset":8}}],)"
           R"("outputs":[{"name":"y","parameters":{"shared_memory_region":"s",)"
           R"("shared_memory_byte_size":4}}]})")
          .ok());
  EXPECT_EQ(message_.region_inputs, 1u);
  EXPECT_TRUE(message_.inputs[0].has_data);
  EXPECT_FALSE(message_.inputs[1].has_data);
  const TensorForms forms = body_.forms();
  ASSERT_THAT(forms.regions, SizeIs(2));
  EXPECT_FALSE(forms.regions[0].is_output);
  EXPECT_EQ(forms.regions[0].tensor, 1u);
  EXPECT_EQ(forms.regions[0].region, "r");
  EXPECT_EQ(forms.regions[0].offset, 8u);
  EXPECT_EQ(forms.regions[0].bytes, 16u);
  EXPECT_TRUE(forms.regions[1].is_output);
  EXPECT_EQ(forms.regions[1].region, "s");
}

TEST_F(InferBodyTest, AnOutputSaysHowItComes) {
  ASSERT_TRUE(Read(R"({"inputs":[],"parameters":{"binary_data_output":true},"outputs":[)"
                   R"({"name":"a","parameters":{"binary_data":true}},)"
                   R"({"name":"b","parameters":{"classification":3}},)"
                   R"({"name":"c","parameters":{"binary_data":false}}]})")
                  .ok());
  EXPECT_TRUE(body_.WantsBinary("a"));
  EXPECT_FALSE(body_.WantsBinary("b"));
  EXPECT_FALSE(body_.WantsBinary("c"));
  ASSERT_THAT(body_.forms().classes, SizeIs(1));
  EXPECT_EQ(body_.forms().classes[0].output, "b");
  EXPECT_EQ(body_.forms().classes[0].count, 3);
  ExpectRefused(Read(R"({"inputs":[],"outputs":[{"name":"a","parameters":{"binary_data":true,)"
                     R"("shared_memory_region":"s","shared_memory_byte_size":4}}]})"),
                "Output can't set both 'shared_memory_region' and 'binary_data'");
  ASSERT_TRUE(
      Read(R"({"inputs":[],"outputs":[{"name":"a","parameters":{"classification":0}}]})").ok());
  EXPECT_THAT(message_.parameter_error, HasSubstr("'classification'"));
}

TEST_F(InferBodyTest, ParametersMeanWhatTheyMeanOverGrpc) {
  ASSERT_TRUE(Read(R"({"inputs":[],"parameters":{"timeout":1500,"sequence_id":7,)"
                   R"("sequence_start":true,"sequence_end":false,"priority":2,)"
                   R"("triton_enable_empty_final_response":true,"mine":1.5,"more":"x"}})")
                  .ok());
  EXPECT_EQ(message_.timeout_us, 1500);
  EXPECT_TRUE(message_.wants_final_flag);
  EXPECT_EQ(message_.parameter_error, "");
  EXPECT_EQ(message_.sequence.number, 7u);
  EXPECT_TRUE(message_.sequence.starts);
  EXPECT_FALSE(message_.sequence.ends);
  ASSERT_TRUE(Read(R"({"inputs":[],"parameters":{"sequence_id":"a","sequence_end":true}})").ok());
  EXPECT_EQ(message_.sequence.name, "a");
  EXPECT_EQ(message_.sequence.number, 0u);
  EXPECT_FALSE(message_.sequence.starts);
  EXPECT_TRUE(message_.sequence.ends);
  ASSERT_TRUE(Read(R"({"inputs":[],"parameters":{"priority":"high"}})").ok());
  EXPECT_FALSE(message_.sequence.has_id());
  EXPECT_THAT(message_.parameter_error,
              HasSubstr("invalid value type for 'priority' parameter, expected"));
  EXPECT_EQ(message_.timeout_us, 0);
  ASSERT_TRUE(Read(R"({"inputs":[],"parameters":{"triton_x":1}})").ok());
  EXPECT_THAT(message_.parameter_error, HasSubstr("reserved for Triton usage"));
  ExpectRefused(Read(R"({"inputs":[],"parameters":{"a":null}})"),
                "parameter 'a' has invalid type. It should be either 'int', 'bool', or 'string'.");
  ExpectRefused(Read(R"({"inputs":[],"parameters":{"binary_data_output":1}})"),
                "Unable to parse 'binary_data_output': attempt to access JSON non-boolean");
}

TEST_F(InferBodyTest, MemoryIsBounded) {
  std::string data = "[1";
  for (int i = 0; i < 200000; ++i) data += ",1";
  EXPECT_EQ(ReadInput("INT64", "[200001]", data + "]").code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(ReadInput("INT32", "[200001]", data + "]").ok());
  EXPECT_EQ(Read(absl::StrCat(R"({"inputs":[],"id":")", std::string(kMaxRequestFieldBytes + 1, 'x'),
                              "\"}"))
                .code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(InferBodyTest, TensorsAreCounted) {
  std::string outputs = R"({"name":"o"})";
  for (size_t i = 1; i < kMaxTensors; ++i) absl::StrAppend(&outputs, R"(,{"name":"o"})");
  EXPECT_TRUE(Read(absl::StrCat(R"({"inputs":[],"outputs":[)", outputs, "]}")).ok());
  ExpectRefused(Read(absl::StrCat(R"({"inputs":[],"outputs":[)", outputs, R"(,{"name":"o"}]})")),
                "a request has at most 64 tensors for model 'm'");
}

TEST_F(InferBodyTest, NamesOutliveThePayloads) {
  ASSERT_TRUE(ReadInput("INT32", "[1]", "[1]").ok());
  body_.DropPayloads();
  EXPECT_EQ(message_.inputs[0].name, "x");
  EXPECT_THAT(message_.inputs[0].dims, ElementsAre(1));
  body_.DropFields();
  ASSERT_TRUE(ReadInput("INT32", "[1]", "[1]").ok()) << "it is used again";
}

TEST(JsonBytes, IsTheHeadersNumberOrTheWholeBody) {
  EXPECT_EQ(JsonBytes("", 10).value(), 10u);
  EXPECT_EQ(JsonBytes("4", 10).value(), 4u);
  EXPECT_EQ(JsonBytes("10", 10).value(), 10u);
  for (const char* header : {"11", "-1", "x", " 4", "4 ", "+4", "0x4", "99999999999999999999"}) {
    EXPECT_EQ(JsonBytes(header, 10).status().code(), absl::StatusCode::kInvalidArgument) << header;
  }
}

// ReadBeginning() of each beginning of one body: two tensors of 8 and 16 bytes behind its JSON.
class BodyBeginningTest : public InferBodyTest {
 protected:
  bool ReadBeginning(const std::string& last_datatype, size_t bytes) {
    json_ = absl::StrCat(R"({"inputs":[{"name":"A","shape":[2],"datatype":"FP32","parameters":)",
                         R"({"binary_data_size":8}},{"name":"B","shape":[4],"datatype":")",
                         last_datatype, R"(","parameters":{"binary_data_size":16}}]})");
    whole_ = json_ + "aaaaaaaabbbbbbbbbbbbbbbb";
    message_.model = "m";
    return json_.size() <= bytes && body_.ReadBeginning(whole_.substr(0, bytes), json_.size(),
                                                        whole_.size(), kMessageBytes, &message_);
  }

  std::string json_;
  std::string whole_;
};

TEST_F(BodyBeginningTest, LacksNoMoreThanTheEndOfTheLastTensor) {
  ReadBeginning("FP32", 0);
  for (size_t bytes = json_.size(); bytes < whole_.size(); ++bytes) {
    const bool has_first = bytes >= json_.size() + 8;
    ASSERT_EQ(ReadBeginning("FP32", bytes), has_first) << bytes;
    if (!has_first) continue;
    EXPECT_EQ(Bytes(0), "aaaaaaaa");
    EXPECT_EQ(Bytes(1), whole_.substr(json_.size() + 8, bytes - json_.size() - 8));
    EXPECT_EQ(message_.inputs[1].payload.bytes, 16u);
    EXPECT_EQ(message_.inputs[1].payload.arriving_bytes, whole_.size() - bytes);
  }
}

TEST_F(BodyBeginningTest, ElementsOfBytesAreReadWhole) {
  ReadBeginning("BYTES", 0);
  EXPECT_FALSE(ReadBeginning("BYTES", whole_.size() - 1));
  EXPECT_TRUE(ReadBeginning("FP32", whole_.size() - 1));
}

TEST_F(BodyBeginningTest, ABodyOfAnotherLengthIsReadWhole) {
  ReadBeginning("FP32", 0);
  for (const size_t whole : {whole_.size() - 1, whole_.size() + 1}) {
    EXPECT_FALSE(body_.ReadBeginning(whole_.substr(0, whole_.size() - 4), json_.size(), whole,
                                     kMessageBytes, &message_));
  }
}

}  // namespace
}  // namespace mpsd
