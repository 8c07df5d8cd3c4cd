// RequestWire against protobuf itself, over random messages and random damage to them.
#include <gtest/gtest.h>

#include <random>

#include "proto/base/limits.h"
#include "server/bodies/grpc/request_wire.h"

namespace mpsd {
namespace {

using inference::ModelInferRequest;

class RandomRequests : public testing::TestWithParam<uint32_t> {
 protected:
  RandomRequests() : random_(GetParam()) {}

  std::string Text(size_t longest) {
    std::string text(random_() % (longest + 1), '\0');
    for (char& c : text) c = static_cast<char>('a' + random_() % 26);
    return text;
  }

  std::string Bytes(size_t longest) {
    std::string bytes(random_() % (longest + 1), '\0');
    for (char& c : bytes) c = static_cast<char>(random_());
    return bytes;
  }

  void FillInput(ModelInferRequest::InferInputTensor* input) {
    input->set_name(Text(20));
    input->set_datatype(random_() % 2 == 0 ? "INT32" : "BYTES");
    for (uint32_t i = random_() % 4; i > 0; --i) input->add_shape(static_cast<int64_t>(random_()));
    if (random_() % 3 != 0) return;
    if (random_() % 2 == 0)
      input->mutable_contents()->add_int_contents(static_cast<int>(random_()));
    if (random_() % 2 == 0) input->mutable_contents()->add_bytes_contents(Bytes(9));
  }

  ModelInferRequest RandomRequest() {
    ModelInferRequest request;
    request.set_model_name(Text(10));
    if (random_() % 2 == 0) request.set_model_version(Text(3));
    if (random_() % 2 == 0) request.set_id(Text(200));
    for (uint32_t i = random_() % 4; i > 0; --i) FillInput(request.add_inputs());
    for (uint32_t i = random_() % 4; i > 0; --i) request.add_outputs()->set_name(Text(9));
    for (uint32_t i = random_() % 5; i > 0; --i) request.add_raw_input_contents(Bytes(400));
    if (random_() % 2 == 0) {
      (*request.mutable_parameters())["timeout"].set_int64_param(random_());
    }
    return request;
  }

  // The message says what protobuf's reading of the same bytes says.
  static void ExpectSame(const InferMessage& message, const ModelInferRequest& parsed) {
    ASSERT_EQ(message.model, parsed.model_name());
    ASSERT_EQ(message.version, parsed.model_version());
    ASSERT_EQ(message.id, parsed.id());
    ASSERT_EQ(message.raw_count, static_cast<uint32_t>(parsed.raw_input_contents_size()));
    const auto inputs =
        std::min<size_t>(static_cast<size_t>(parsed.inputs_size()), kMaxTensors + 1);
    ASSERT_EQ(message.inputs.size(), inputs);
    for (size_t i = 0; i < inputs; ++i) ExpectSameInput(message, parsed, i);
    ASSERT_EQ(message.outputs.size(), static_cast<size_t>(parsed.outputs_size()));
    for (size_t i = 0; i < message.outputs.size(); ++i) {
      ASSERT_EQ(message.outputs[i], parsed.outputs(static_cast<int>(i)).name());
    }
    const auto timeout = parsed.parameters().find("timeout");
    ASSERT_EQ(message.timeout_us,
              timeout == parsed.parameters().end() ? 0 : timeout->second.int64_param());
  }

  static void ExpectSameInput(const InferMessage& message, const ModelInferRequest& parsed,
                              size_t index) {
    const InputMessage& input = message.inputs[index];
    const auto& source = parsed.inputs(static_cast<int>(index));
    ASSERT_EQ(input.name, source.name());
    ASSERT_EQ(input.datatype, source.datatype());
    ASSERT_EQ(input.dims,
              absl::MakeConstSpan(source.shape().data(), static_cast<size_t>(source.shape_size())));
    if (index >= static_cast<size_t>(parsed.raw_input_contents_size())) return;
    std::string bytes;
    for (const absl::string_view piece : input.payload.pieces) {
      bytes.append(piece.data(), piece.size());
    }
    ASSERT_TRUE(input.has_data);
    ASSERT_EQ(bytes, parsed.raw_input_contents(static_cast<int>(index)));
    ASSERT_EQ(input.payload.bytes, bytes.size());
  }

  void Damage(std::string* bytes) {
    for (uint32_t i = random_() % 3 + 1; i > 0 && !bytes->empty(); --i) {
      const size_t at = random_() % bytes->size();
      switch (random_() % 4) {
        case 0:
          (*bytes)[at] = static_cast<char>(random_());
          break;
        case 1:
          bytes->resize(at);
          break;
        case 2:
          bytes->erase(at, 1);
          break;
        default:
          bytes->insert(at, 1, static_cast<char>(random_()));
      }
    }
  }

  std::mt19937 random_;
  RequestWire wire_;
  InferMessage message_;
};

TEST_P(RandomRequests, AreReadAsProtobufReadsThem) {
  for (int round = 0; round < 300; ++round) {
    const ModelInferRequest request = RandomRequest();
    const std::string bytes = request.SerializeAsString();
    ASSERT_TRUE(wire_.Read(bytes, 64 << 20, &message_).ok());
    ExpectSame(message_, request);
    if (HasFatalFailure()) return;
  }
}

TEST_P(RandomRequests, WhenDamagedHaveTheVerdictOfProtobuf) {
  int parsed_count = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = RandomRequest().SerializeAsString();
    Damage(&bytes);
    ModelInferRequest parsed;
    const bool whole = parsed.ParseFromString(bytes);
    const absl::Status status = wire_.Read(bytes, 64 << 20, &message_);
    if (!whole) continue;
    ASSERT_TRUE(status.ok()) << round;
    ExpectSame(message_, parsed);
    if (HasFatalFailure()) return;
    ++parsed_count;
  }
  EXPECT_GT(parsed_count, 100) << "damage that nothing survives shows nothing";
}

TEST_P(RandomRequests, ThatAreNoiseDoNoHarm) {
  for (int round = 0; round < 3000; ++round) {
    const std::string bytes = Bytes(60);
    const absl::Status status = wire_.Read(bytes, 64 << 20, &message_);
    ASSERT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRequests, testing::Range(1u, 5u));

}  // namespace
}  // namespace mpsd
