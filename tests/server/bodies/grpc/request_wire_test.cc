#include "server/bodies/grpc/request_wire.h"

#include <gmock/gmock.h>

#include "proto/base/limits.h"

namespace mpsd {
namespace {

using inference::ModelInferRequest;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string Joined(const Payload& payload) {
  std::string bytes;
  for (const absl::string_view piece : payload.pieces) bytes.append(piece.data(), piece.size());
  EXPECT_EQ(bytes.size(), payload.bytes);
  return bytes;
}

class RequestWireTest : public testing::Test {
 protected:
  absl::Status Read() { return ReadBytes(request_.SerializeAsString()); }
  absl::Status ReadBytes(const std::string& bytes) {
    bytes_ = bytes;
    return wire_.Read(bytes_, message_bytes_, &message_);
  }

  // What is said of a request with one parameter.
  std::string ParameterError(const std::string& name, const inference::InferParameter& value) {
    request_.clear_parameters();
    (*request_.mutable_parameters())[name] = value;
    EXPECT_TRUE(Read().ok());
    return message_.parameter_error;
  }

  uint64_t message_bytes_ = 64 << 20;
  ModelInferRequest request_;
  std::string bytes_;
  RequestWire wire_;
  InferMessage message_;
};

TEST_F(RequestWireTest, ReadsEveryField) {
  request_.set_model_name("m");
  request_.set_model_version("3");
  request_.set_id("seventeen");
  auto* input = request_.add_inputs();
  input->set_name("A");
  input->set_datatype("FP32");
  input->add_shape(2);
  input->add_shape(-1);
  request_.add_outputs()->set_name("X");
  request_.add_outputs()->set_name("Y");
  request_.add_raw_input_contents("0123456789abcdef");
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(message_.model, "m");
  EXPECT_EQ(message_.version, "3");
  EXPECT_EQ(message_.id, "seventeen");
  ASSERT_THAT(message_.inputs, SizeIs(1));
  EXPECT_EQ(message_.inputs[0].name, "A");
  EXPECT_EQ(message_.inputs[0].datatype, "FP32");
  EXPECT_THAT(message_.inputs[0].dims, ElementsAre(2, -1));
  EXPECT_TRUE(message_.inputs[0].has_data);
  EXPECT_FALSE(message_.inputs[0].has_typed);
  EXPECT_EQ(Joined(message_.inputs[0].payload), "0123456789abcdef");
  EXPECT_THAT(message_.outputs, ElementsAre("X", "Y"));
  EXPECT_EQ(message_.raw_count, 1u);
}

TEST_F(RequestWireTest, RawContentsAreNotCopied) {
  request_.add_inputs()->set_name("A");
  request_.add_raw_input_contents(std::string(1000, 'x'));
  ASSERT_TRUE(Read().ok());
  ASSERT_THAT(message_.inputs[0].payload.pieces, SizeIs(1));
  const char* data = message_.inputs[0].payload.pieces[0].data();
  EXPECT_TRUE(data >= bytes_.data() && data < bytes_.data() + bytes_.size());
}

TEST_F(RequestWireTest, AnEmptyRawEntryIsData) {
  request_.add_inputs()->set_name("A");
  request_.add_raw_input_contents("");
  ASSERT_TRUE(Read().ok());
  EXPECT_TRUE(message_.inputs[0].has_data);
  EXPECT_EQ(message_.inputs[0].payload.bytes, 0u);
}

TEST_F(RequestWireTest, FewerRawEntriesThanInputs) {
  request_.add_inputs()->set_name("A");
  request_.add_inputs()->set_name("B");
  request_.add_raw_input_contents("x");
  ASSERT_TRUE(Read().ok());
  EXPECT_TRUE(message_.inputs[0].has_data);
  EXPECT_FALSE(message_.inputs[1].has_data);
}

TEST_F(RequestWireTest, MoreRawEntriesThanInputsAreCounted) {
  request_.add_inputs()->set_name("A");
  for (int i = 0; i < 1000; ++i) request_.add_raw_input_contents("x");
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(message_.raw_count, 1000u);
}

TEST_F(RequestWireTest, OneTensorTooManyIsSeenAndNoMore) {
  for (size_t i = 0; i < 10 * kMaxTensors; ++i) {
    request_.add_inputs();
    request_.add_outputs();
  }
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(message_.inputs, SizeIs(kMaxTensors + 1));
  EXPECT_THAT(message_.outputs, SizeIs(kMaxTensors + 1));
}

TEST_F(RequestWireTest, TensorsBeyondTheLimitAreNotParsed) {
  const std::string no_input = "\x2a\x01\xff";
  const std::string no_output = "\x32\x01\xff";
  EXPECT_FALSE(ReadBytes(no_input).ok());
  EXPECT_FALSE(ReadBytes(no_output).ok());
  for (size_t i = 0; i <= kMaxTensors; ++i) {
    request_.add_inputs();
    request_.add_outputs();
  }
  request_.set_id("17");
  const std::string bytes = request_.SerializeAsString();
  EXPECT_TRUE(ReadBytes(bytes + no_input + no_output).ok());
  EXPECT_THAT(message_.inputs, SizeIs(kMaxTensors + 1));
  EXPECT_EQ(message_.id, "17");
}

TEST_F(RequestWireTest, TypedContentsAreRawBytes) {
  auto* input = request_.add_inputs();
  input->set_name("A");
  input->set_datatype("INT32");
  input->mutable_contents()->add_int_contents(0x04030201);
  ASSERT_TRUE(Read().ok());
  EXPECT_TRUE(message_.inputs[0].has_typed);
  EXPECT_TRUE(message_.inputs[0].has_data);
  EXPECT_EQ(Joined(message_.inputs[0].payload), "\1\2\3\4");
}

TEST_F(RequestWireTest, TypedContentsOfSeveralInputsDoNotMove) {
  for (int i = 0; i < 20; ++i) {
    auto* input = request_.add_inputs();
    input->set_datatype("UINT8");
    for (int j = 0; j < 3; ++j) input->mutable_contents()->add_uint_contents('a' + i);
  }
  ASSERT_TRUE(Read().ok());
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Joined(message_.inputs[i].payload), std::string(3, static_cast<char>('a' + i)));
  }
}

TEST_F(RequestWireTest, AWrongTypedFieldIsSaid) {
  request_.set_model_name("m");
  auto* input = request_.add_inputs();
  input->set_name("x");
  input->set_datatype("FP32");
  input->mutable_contents()->add_int_contents(1);
  ASSERT_TRUE(Read().ok());
  EXPECT_TRUE(message_.inputs[0].has_typed);
  EXPECT_EQ(message_.inputs[0].typed_error,
            "unexpected explicit tensor data for input tensor 'x' for model 'm' of type 'INT32', "
            "expected datatype 'FP32'");
}

TEST_F(RequestWireTest, TypedContentsWithoutAnElementAreNone) {
  auto* input = request_.add_inputs();
  input->set_datatype("FP32");
  input->mutable_contents();
  ASSERT_TRUE(Read().ok());
  EXPECT_FALSE(message_.inputs[0].has_typed);
  EXPECT_FALSE(message_.inputs[0].has_data);
}

TEST_F(RequestWireTest, RawAndTypedAreBothSeen) {
  auto* input = request_.add_inputs();
  input->set_datatype("UINT8");
  input->mutable_contents()->add_uint_contents(1);
  request_.add_raw_input_contents("r");
  ASSERT_TRUE(Read().ok());
  EXPECT_TRUE(message_.inputs[0].has_typed);
  EXPECT_EQ(message_.raw_count, 1u);
}

TEST_F(RequestWireTest, TypedContentsWithoutAnElementAreSeenBesideRaw) {
  request_.add_inputs()->mutable_contents();
  request_.add_raw_input_contents("r");
  ASSERT_TRUE(Read().ok());
  EXPECT_TRUE(message_.inputs[0].has_typed);
}

// ---- size ----

TEST_F(RequestWireTest, TypedContentsMayTakeWhatAMessageMay) {
  auto* input = request_.add_inputs();
  input->set_datatype("FP32");
  for (uint32_t i = 0; i < 2U << 20; ++i) input->mutable_contents()->add_fp32_contents(1);
  message_bytes_ = 8 << 20;
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(message_.inputs[0].payload.bytes, 8U << 20);
  message_bytes_ = (8 << 20) - 1;
  EXPECT_EQ(Read(), absl::ResourceExhaustedError(
                        "the typed contents take 8388608 bytes of memory, more than 8388607; "
                        "raw_input_contents take no more than they are"));
}

TEST_F(RequestWireTest, ManyShortStringsAreContentsAndNothingElse) {
  auto* input = request_.add_inputs();
  input->set_datatype("BYTES");
  for (int i = 0; i < 100'000; ++i) input->mutable_contents()->add_bytes_contents("short");
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(message_.inputs[0].payload.bytes, 900'000U);
}

TEST_F(RequestWireTest, FewBytesThatWouldTakeMuchMemoryAreNotParsed) {
  auto* input = request_.add_inputs();
  input->set_datatype("INT64");
  for (int i = 0; i < 1 << 20; ++i) input->mutable_contents()->add_int64_contents(0);
  message_bytes_ = 4 << 20;
  EXPECT_EQ(Read().code(), absl::StatusCode::kResourceExhausted);
  message_bytes_ = 8 << 20;
  EXPECT_TRUE(Read().ok());
}

TEST_F(RequestWireTest, WhatIsNoTensorIsBounded) {
  const absl::Status refusal = absl::ResourceExhaustedError(
      "a request holds at most 128 KiB besides the contents of its tensors");
  const std::string much(kMaxRequestFieldBytes, 'x');
  request_.add_raw_input_contents(much);
  for (int i = 0; i < 1 << 16; ++i) request_.add_inputs()->mutable_contents()->add_fp32_contents(1);
  ASSERT_TRUE(Read().ok()) << "no contents are counted, and no inputs that are too many";
  request_.clear_inputs();
  request_.set_id(much);
  EXPECT_EQ(Read(), refusal);
  request_.set_id(much.substr(100));
  EXPECT_TRUE(Read().ok());
  (*request_.mutable_parameters())["p"].set_string_param(std::string(100, 'x'));
  EXPECT_EQ(Read(), refusal);
  EXPECT_EQ(ReadBytes("\xc2\x3e\x80\x80\x08" + much), refusal) << "a field that nobody knows";
}

TEST_F(RequestWireTest, WhatStandsBesideContentsIsBoundedToTheByte) {
  constexpr size_t kContentBytes = 4003;  // a key, a length and a thousand elements
  auto* contents = request_.add_inputs()->mutable_contents();
  for (int i = 0; i < 1000; ++i) contents->add_fp32_contents(1);
  std::string id(kMaxRequestFieldBytes - 1000, 'x');
  request_.set_id(id);
  id.resize(id.size() + kMaxRequestFieldBytes + kContentBytes - request_.ByteSizeLong());
  request_.set_id(id);
  EXPECT_TRUE(Read().ok());
  request_.set_id(id + "x");
  EXPECT_EQ(Read().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(RequestWireTest, ALargeRequestLeavesNothingToTheNextOne) {
  auto* input = request_.add_inputs();
  input->set_datatype("UINT8");
  for (int i = 0; i < 10000; ++i) input->mutable_contents()->add_uint_contents(1);
  request_.set_id("large");
  ASSERT_TRUE(Read().ok());
  wire_.DropBuffers();
  EXPECT_EQ(message_.id, "large");
  wire_.DropFields();
  request_ = ModelInferRequest();
  request_.add_inputs();
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(message_.id, "");
  EXPECT_FALSE(message_.inputs[0].has_typed);
}

// ---- groups: protobuf's third version writes none, and passes over those of others ----

TEST_F(RequestWireTest, GroupsThatNobodyKnowsArePassedOver) {
  request_.set_id("17");
  const std::string bytes = request_.SerializeAsString();
  EXPECT_TRUE(ReadBytes("\xc3\x3e\xc4\x3e" + bytes).ok());
  EXPECT_EQ(message_.id, "17");
  EXPECT_TRUE(ReadBytes("\xc3\x3e\x0b\x0c\xc4\x3e" + bytes).ok()) << "one in another";
  const std::string raw = "\x3a\x01x";
  EXPECT_TRUE(ReadBytes("\xc3\x3e" + raw + "\xc4\x3e" + bytes).ok());
  EXPECT_EQ(message_.raw_count, 0U) << "what a group holds is the group's";
}

TEST_F(RequestWireTest, GroupsThatDoNotEndOrBeginAreMalformed) {
  for (const std::string bytes :
       {"\xc3\x3e", "\xc4\x3e", "\xc3\x3e\x0c", "\x0b\xc3\x3e\x0c\xc4\x3e", "\xc4\x3e\xc3\x3e"}) {
    EXPECT_EQ(ReadBytes(bytes).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_FALSE(ModelInferRequest().ParseFromString(bytes));
  }
  const std::string raw = "\x3a\x80\x80\x40" + std::string(1 << 20, 'x');
  EXPECT_EQ(ReadBytes("\xc4\x3e" + raw).code(), absl::StatusCode::kInvalidArgument)
      << "what follows is in no group, and not copied";
}

// Raw contents are taken out before protobuf's parser sees the bytes.
TEST_F(RequestWireTest, KeysAndLengthsHaveFiveBytesAtMost) {
  const std::string no_more = std::string("\x80\x80\x80\x80\x00", 5);
  EXPECT_TRUE(ReadBytes("\x3a" + no_more).ok());
  EXPECT_EQ(message_.raw_count, 1u);
  EXPECT_FALSE(ReadBytes("\x3a\x80" + no_more).ok());
  const std::string key = std::string("\xba\x80\x80\x80\x00", 5);
  EXPECT_TRUE(ReadBytes(key + "\x01x").ok());
  EXPECT_FALSE(ReadBytes(std::string("\xba\x80\x80\x80\x80\x00", 6) + "\x01x").ok());
}

// ---- parameters ----

TEST_F(RequestWireTest, TimeoutIsAnInt64) {
  inference::InferParameter value;
  value.set_int64_param(5);
  EXPECT_EQ(ParameterError("timeout", value), "");
  EXPECT_EQ(message_.timeout_us, 5);
  value.set_uint64_param(5);
  EXPECT_EQ(ParameterError("timeout", value),
            "invalid value type for 'timeout' parameter, expected int64_param.");
  value.set_string_param("5");
  EXPECT_NE(ParameterError("timeout", value), "");
}

TEST_F(RequestWireTest, PriorityIsAnInt64OrUint64) {
  inference::InferParameter value;
  value.set_int64_param(2);
  EXPECT_EQ(ParameterError("priority", value), "");
  EXPECT_EQ(message_.priority, 2u);
  value.set_uint64_param(UINT64_MAX);
  EXPECT_EQ(ParameterError("priority", value), "");
  EXPECT_EQ(message_.priority, UINT64_MAX);
  value.set_string_param("1");
  EXPECT_EQ(ParameterError("priority", value),
            "invalid value type for 'priority' parameter, expected int64_param or uint64_param.");
}

TEST_F(RequestWireTest, PriorityIsNotNegative) {
  inference::InferParameter value;
  value.set_int64_param(0);
  EXPECT_EQ(ParameterError("priority", value), "");
  value.set_int64_param(-1);
  EXPECT_EQ(ParameterError("priority", value),
            "invalid value for 'priority', expected value >= 0.");
}

TEST_F(RequestWireTest, ThePromptOfTextsIsAString) {
  inference::InferParameter value;
  value.set_string_param("query");
  EXPECT_EQ(ParameterError("prompt_name", value), "");
  EXPECT_EQ(message_.texts.prompt_name, "query");
  EXPECT_EQ(ParameterError("other", value), "");
  value.set_int64_param(1);
  EXPECT_EQ(ParameterError("prompt_name", value),
            "invalid value type for 'prompt_name' parameter, expected string_param.");
  EXPECT_FALSE(message_.texts.prompt_name.has_value()) << "of the request before";
}

TEST_F(RequestWireTest, ClassificationIsAboveZero) {
  auto& classification = (*request_.add_outputs()->mutable_parameters())["classification"];
  for (const int64_t count : {0, -1}) {
    classification.set_int64_param(count);
    ASSERT_TRUE(Read().ok());
    EXPECT_EQ(message_.parameter_error,
              "invalid value for 'classification' parameter, expected >= 0");
  }
  classification.set_int64_param(1);
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(message_.parameter_error, "");
  EXPECT_THAT(wire_.forms().classes, SizeIs(1));
}

TEST_F(RequestWireTest, KeysOfTritonsOwnAreReserved) {
  inference::InferParameter value;
  value.set_bool_param(true);
  EXPECT_EQ(ParameterError("triton_x", value),
            "parameter keys starting with 'triton_' are reserved for Triton usage. Only the "
            "following keys starting with 'triton_' are allowed: "
            "triton_enable_empty_final_response");
  EXPECT_EQ(ParameterError("triton_enable_empty_final_response", value), "");
  EXPECT_EQ(ParameterError("anything", value), "");
}

TEST_F(RequestWireTest, NothingOfTheRequestBeforeIsLeft) {
  request_.set_model_name("m");
  request_.set_id("1");
  request_.add_inputs()->set_datatype("FP32");
  request_.add_outputs()->set_name("X");
  request_.add_raw_input_contents("x");
  (*request_.mutable_parameters())["timeout"].set_int64_param(5);
  (*request_.mutable_parameters())["priority"].set_int64_param(5);
  (*request_.mutable_parameters())["triton_x"].set_int64_param(5);
  ASSERT_TRUE(Read().ok());
  ASSERT_TRUE(ReadBytes("").ok());
  EXPECT_EQ(message_.model, "");
  EXPECT_EQ(message_.id, "");
  EXPECT_THAT(message_.inputs, IsEmpty());
  EXPECT_THAT(message_.outputs, IsEmpty());
  EXPECT_EQ(message_.raw_count, 0u);
  EXPECT_EQ(message_.timeout_us, 0);
  EXPECT_EQ(message_.priority, 0u);
  EXPECT_EQ(message_.parameter_error, "");
}

// ---- malformed ----

TEST_F(RequestWireTest, WhatIsNoMessageIsRefused) {
  const std::string cut_key = "\x80";
  const std::string cut_length = "\x3a";
  const std::string cut_raw =
      "\x3a\x05"
      "abc";
  const std::string huge_raw =
      "\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
      "abc";
  const std::string endless_varint = std::string(11, '\xff');
  const std::string field_zero = std::string("\0\0", 2);
  const std::string bad_text = "\x0a\x01\xff";
  for (const std::string& bytes :
       {cut_key, cut_length, cut_raw, huge_raw, endless_varint, field_zero, bad_text}) {
    EXPECT_EQ(ReadBytes(bytes).code(), absl::StatusCode::kInvalidArgument)
        << testing::PrintToString(bytes);
  }
}

TEST_F(RequestWireTest, UnknownFieldsArePassedOver) {
  request_.set_model_name("m");
  const std::string unknown =
      "\x98\x06\x05\xa1\x06"
      "12345678"
      "\xad\x06"
      "1234"
      "\xb2\x06\x02"
      "ab";
  ASSERT_TRUE(ReadBytes(unknown + request_.SerializeAsString()).ok());
  EXPECT_EQ(message_.model, "m");
}

void SetRegion(const std::string& name, int64_t offset, int64_t bytes,
               google::protobuf::Map<std::string, inference::InferParameter>* parameters) {
  (*parameters)["shared_memory_region"].set_string_param(name);
  (*parameters)["shared_memory_offset"].set_int64_param(offset);
  (*parameters)["shared_memory_byte_size"].set_int64_param(bytes);
}

TEST_F(RequestWireTest, TellsWhichTensorsLieInRegions) {
  for (const char* name : {"A", "B", "C"}) request_.add_inputs()->set_name(name);
  SetRegion("r", 8, 16, request_.mutable_inputs(1)->mutable_parameters());
  request_.add_outputs()->set_name("X");
  request_.add_outputs()->set_name("Y");
  SetRegion("s", 0, 4, request_.mutable_outputs(1)->mutable_parameters());
  request_.add_raw_input_contents("for A");
  request_.add_raw_input_contents("for C");
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(message_.parameter_error, "");
  EXPECT_EQ(message_.region_inputs, 1u);
  EXPECT_EQ(Joined(message_.inputs[0].payload), "for A");
  EXPECT_FALSE(message_.inputs[1].has_data);
  EXPECT_EQ(Joined(message_.inputs[2].payload), "for C");
  ASSERT_THAT(wire_.forms().regions, SizeIs(2));
  EXPECT_FALSE(wire_.forms().regions[0].is_output);
  EXPECT_EQ(wire_.forms().regions[0].tensor, 1u);
  EXPECT_EQ(wire_.forms().regions[0].region, "r");
  EXPECT_EQ(wire_.forms().regions[0].offset, 8u);
  EXPECT_EQ(wire_.forms().regions[0].bytes, 16u);
  EXPECT_TRUE(wire_.forms().regions[1].is_output);
  EXPECT_EQ(wire_.forms().regions[1].region, "s");
  request_.Clear();
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(wire_.forms().regions, IsEmpty());
  EXPECT_EQ(message_.region_inputs, 0u);
}

TEST_F(RequestWireTest, ClassesDoNotGoIntoRegions) {
  request_.add_outputs()->set_name("X");
  auto* parameters = request_.mutable_outputs(0)->mutable_parameters();
  SetRegion("s", 0, 4, parameters);
  (*parameters)["classification"].set_int64_param(3);
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(message_.parameter_error, "output 'X' cannot be both classes and in shared memory");
}

// ReadBeginning() of each beginning of one message.
class BeginningTest : public RequestWireTest {
 protected:
  BeginningTest() {
    request_.set_model_name("m");
    request_.set_id("seventeen");
    Add("A", "INT32", "abcd");
    Add("B", "FP32", "0123456789abcdef");
  }

  void Add(const std::string& name, const std::string& datatype, const std::string& raw) {
    auto* input = request_.add_inputs();
    input->set_name(name);
    input->set_datatype(datatype);
    input->add_shape(4);
    request_.add_raw_input_contents(raw);
  }

  bool ReadsBeginning(size_t bytes) {
    bytes_ = request_.SerializeAsString();
    return wire_.ReadBeginning(absl::string_view(bytes_).substr(0, bytes), bytes_.size(),
                               message_bytes_, &message_);
  }

  // Whether no beginning can be read.
  bool NeedsAll() {
    const size_t whole = request_.SerializeAsString().size();
    for (size_t bytes = 0; bytes <= whole; ++bytes) {
      if (ReadsBeginning(bytes)) return false;
    }
    return true;
  }
};

TEST_F(BeginningTest, ABeginningIsReadOnceTheLastTensorHasBegun) {
  const size_t whole = request_.SerializeAsString().size();
  for (size_t bytes = 0; bytes <= whole; ++bytes) {
    const bool has_all_but_the_end = bytes >= whole - 16 && bytes < whole;
    ASSERT_EQ(ReadsBeginning(bytes), has_all_but_the_end) << bytes;
    if (!has_all_but_the_end) continue;
    EXPECT_EQ(message_.model, "m");
    EXPECT_EQ(message_.id, "seventeen");
    ASSERT_THAT(message_.inputs, SizeIs(2));
    EXPECT_EQ(Joined(message_.inputs[0].payload), "abcd");
    EXPECT_EQ(message_.inputs[0].payload.arriving_bytes, 0U);
    const Payload& last = message_.inputs[1].payload;
    EXPECT_EQ(last.bytes, 16U);
    EXPECT_EQ(last.arriving_bytes, whole - bytes);
    EXPECT_EQ(last.pieces.empty() ? "" : last.pieces[0],
              std::string("0123456789abcdef").substr(0, 16 - last.arriving_bytes));
  }
  ASSERT_TRUE(ReadBytes(request_.SerializeAsString()).ok());
  EXPECT_EQ(message_.inputs[1].payload.arriving_bytes, 0U);
}

TEST_F(BeginningTest, SomeMessagesMustBeWhole) {
  const ModelInferRequest good = request_;
  request_.mutable_inputs(1)->set_datatype("BYTES");
  EXPECT_TRUE(NeedsAll());
  request_ = good;
  request_.add_raw_input_contents("more than inputs");
  EXPECT_TRUE(NeedsAll());
  request_ = good;
  Add("C", "FP32", "");
  request_.mutable_raw_input_contents()->RemoveLast();
  EXPECT_TRUE(NeedsAll()) << "fewer than inputs";
  request_ = good;
  auto* const parameters = request_.mutable_inputs(0)->mutable_parameters();
  (*parameters)["shared_memory_region"].set_string_param("r");
  (*parameters)["shared_memory_byte_size"].set_int64_param(4);
  EXPECT_TRUE(NeedsAll());
}

// The bytes behind the tensor may say anything.
TEST_F(BeginningTest, NothingMayFollowTheLastTensor) {
  const std::string bytes = request_.SerializeAsString();
  const auto reads = [&](uint64_t whole_bytes) {
    return wire_.ReadBeginning(absl::string_view(bytes).substr(0, bytes.size() - 8), whole_bytes,
                               message_bytes_, &message_);
  };
  EXPECT_TRUE(reads(bytes.size()));
  EXPECT_FALSE(reads(bytes.size() + 1));
  EXPECT_FALSE(reads(bytes.size() - 1));
}

}  // namespace
}  // namespace mpsd
