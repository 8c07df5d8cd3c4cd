#include "server/wire/reply_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <deque>
#include <optional>

#include "proto/base/limits.h"
#include "proto/inference.pb.h"
#include "server/request/retry_info.h"
#include "tests/fakes/fake_clock.h"
#include "tests/server/wire/slices.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// Counts what is held, and may be kept `pins` times.
class FakeMemory final : public AnswerMemory {
 public:
  explicit FakeMemory(int pins = INT_MAX) : pins_(pins) {}

  void Ref() override { ++references; }
  void Unref() override { --references; }
  bool TryPin() override { return pins_-- > 0; }

  int references = 0;

 private:
  int pins_;
};

class ReplyWireTest : public testing::Test {
 protected:
  void Add(const std::string& name, DataType datatype, Dims dims, absl::string_view bytes) {
    answer_.outputs.push_back({names_.emplace_back(name), datatype, std::move(dims), bytes});
  }

  grpc::ByteBuffer Write() {
    return *WriteReply({"m", "1", "17"}, answer_, peer_, &metrics_, &scratch_);
  }

  static inference::ModelInferResponse Parse(const grpc::ByteBuffer& buffer) {
    inference::ModelInferResponse response;
    EXPECT_TRUE(response.ParseFromString(AllBytes(buffer)));
    EXPECT_EQ(response.SerializeAsString().size(), buffer.Length()) << "nothing but its fields";
    return response;
  }

  std::deque<std::string> names_;
  Answer answer_;
  ModelMetrics metrics_;
  std::string scratch_;
  FakeClock clock_;
  ReplyPeer peer_{std::make_shared<PinLedger>(1ULL << 30, 1ULL << 30), &clock_, "ipv4:1"};
};

TEST_F(ReplyWireTest, IsReadByProtobuf) {
  const std::string name = "X";
  const std::string bytes = "01234567";
  Add(name, DataType::kFp32, {2, 1}, bytes);
  Add("Y", DataType::kBf16, {}, "ab");
  const inference::ModelInferResponse response = Parse(Write());
  EXPECT_EQ(response.model_name(), "m");
  EXPECT_EQ(response.model_version(), "1");
  EXPECT_EQ(response.id(), "17");
  ASSERT_EQ(response.outputs_size(), 2);
  EXPECT_EQ(response.outputs(0).name(), "X");
  EXPECT_EQ(response.outputs(0).datatype(), "FP32");
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(2, 1));
  EXPECT_EQ(response.outputs(1).datatype(), "BF16");
  EXPECT_EQ(response.outputs(1).shape_size(), 0);
  EXPECT_THAT(response.raw_output_contents(), ElementsAre("01234567", "ab"));
}

TEST_F(ReplyWireTest, AnEmptyOutputHasItsEntry) {
  Add("X", DataType::kFp32, {2, 0}, "");
  Add("Y", DataType::kUint8, {1}, "y");
  const inference::ModelInferResponse response = Parse(Write());
  EXPECT_THAT(response.raw_output_contents(), ElementsAre("", "y"));
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(2, 0));
}

TEST_F(ReplyWireTest, LargeDimsAndLongNames) {
  const std::string name(300, 'n');
  Add(name, DataType::kInt64, {127, 128, 16384, int64_t{1} << 40}, "x");
  const inference::ModelInferResponse response = Parse(Write());
  EXPECT_EQ(response.outputs(0).name(), name);
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(127, 128, 16384, int64_t{1} << 40));
}

TEST_F(ReplyWireTest, EmptyFieldsAreLeftOut) {
  const grpc::ByteBuffer buffer = *WriteReply({"", "", ""}, answer_, peer_, &metrics_, &scratch_);
  EXPECT_EQ(buffer.Length(), 0u);
}

TEST_F(ReplyWireTest, ASmallOutputIsCopied) {
  FakeMemory memory;
  answer_.memory = &memory;
  const std::string bytes(kCopiedReplyBytes, 'x');
  Add("X", DataType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes);
  const grpc::ByteBuffer buffer = Write();
  EXPECT_EQ(memory.references, 0);
  EXPECT_EQ(Parse(buffer).raw_output_contents(0), bytes);
}

TEST_F(ReplyWireTest, ALargeOutputIsPinnedUntilTheTransportLetsGo) {
  FakeMemory memory;
  answer_.memory = &memory;
  const std::string bytes(kCopiedReplyBytes + 1, 'x');
  Add("X", DataType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes);
  Add("Y", DataType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes);
  Add("Z", DataType::kUint8, {1}, "z");
  std::optional<grpc::ByteBuffer> buffer = Write();
  EXPECT_EQ(memory.references, 2);
  EXPECT_EQ(peer_.ledger->Of(peer_.address)->pinned_bytes(), 2 * bytes.size());
  EXPECT_THAT(Parse(*buffer).raw_output_contents(), ElementsAre(bytes, bytes, "z"));
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(buffer->Dump(&slices).ok());
  const auto in_place = [&bytes](const grpc::Slice& slice) {
    return reinterpret_cast<const char*>(slice.begin()) == bytes.data();
  };
  EXPECT_TRUE(std::any_of(slices.begin(), slices.end(), in_place)) << "a slice over the memory";
  slices.clear();
  buffer.reset();
  EXPECT_EQ(memory.references, 0);
  EXPECT_EQ(peer_.ledger->Of(peer_.address)->pinned_bytes(), 0u);
}

TEST_F(ReplyWireTest, BeyondThePinLimitALargeOutputIsCopiedAndCounted) {
  FakeMemory memory(/*pins=*/1);
  answer_.memory = &memory;
  const std::string bytes(kCopiedReplyBytes + 1, 'x');
  Add("X", DataType::kUint8, {1}, bytes);
  Add("Y", DataType::kUint8, {1}, bytes);
  const grpc::ByteBuffer buffer = Write();
  EXPECT_EQ(memory.references, 1);
  EXPECT_EQ(metrics_.copied_replies, 1u);
  EXPECT_THAT(Parse(buffer).raw_output_contents(), ElementsAre(bytes, bytes));
}

TEST_F(ReplyWireTest, WithoutMemoryEverythingIsCopied) {
  std::string bytes(kCopiedReplyBytes + 1, 'x');
  Add("X", DataType::kUint8, {1}, bytes);
  const grpc::ByteBuffer buffer = Write();
  std::fill(bytes.begin(), bytes.end(), '?');
  EXPECT_EQ(Parse(buffer).raw_output_contents(0), std::string(bytes.size(), 'x'));
}

TEST_F(ReplyWireTest, TheScratchIsUsedAgain) {
  Add("X", DataType::kUint8, {1}, "x");
  const std::string first = AllBytes(Write());
  EXPECT_EQ(AllBytes(Write()), first);
}

TEST_F(ReplyWireTest, RandomAnswersAreReadByProtobuf) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    FakeMemory memory(/*pins=*/1);
    answer_ = {};
    answer_.memory = &memory;
    std::deque<std::string> bytes;
    for (uint32_t i = random() % 5; i > 0; --i) {
      bytes.emplace_back(random() % 30'000, static_cast<char>('a' + random() % 26));
      Add("X", static_cast<DataType>(random() % kDataTypeCount),
          {static_cast<int64_t>(random()), static_cast<int64_t>(random() % 3)}, bytes.back());
    }
    {
      const inference::ModelInferResponse response = Parse(Write());
      ASSERT_EQ(response.raw_output_contents_size(), static_cast<int>(bytes.size()));
      for (size_t i = 0; i < bytes.size(); ++i) {
        const int index = static_cast<int>(i);
        ASSERT_EQ(response.raw_output_contents(index), bytes[i]);
        ASSERT_EQ(response.outputs(index).datatype(), DataTypeName(answer_.outputs[i].datatype));
        ASSERT_THAT(response.outputs(index).shape(),
                    ElementsAre(answer_.outputs[i].dims[0], answer_.outputs[i].dims[1]));
      }
    }
    ASSERT_EQ(memory.references, 0);
    ASSERT_EQ(peer_.ledger->Of(peer_.address)->pinned_bytes(), 0u);
  }
}

TEST_F(ReplyWireTest, BeyondTheConnectionsLimitAnswersAreCopied) {
  FakeMemory memory;
  answer_.memory = &memory;
  peer_.ledger = std::make_shared<PinLedger>(3 * kCopiedReplyBytes, 1ULL << 30);
  const std::string bytes(2 * kCopiedReplyBytes, 'x');
  Add("X", DataType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes);
  {
    const grpc::ByteBuffer first = Write();
    EXPECT_EQ(memory.references, 1);
    const grpc::ByteBuffer second = Write();
    EXPECT_EQ(memory.references, 1);
    EXPECT_EQ(metrics_.copied_replies, 1u);
    const PinLedger::Account* own = peer_.ledger->Of(peer_.address);
    EXPECT_EQ(own->pinned_bytes(), bytes.size());
    for (int i = 2; peer_.ledger->Of(peer_.address) == own; ++i) {
      peer_.address = "ipv4:" + std::to_string(i);
    }
    const grpc::ByteBuffer other = Write();
    EXPECT_EQ(memory.references, 2) << "another connection has a limit of its own";
    EXPECT_EQ(AllBytes(first), AllBytes(second));
  }
  EXPECT_EQ(memory.references, 0);
  EXPECT_EQ(peer_.ledger->Of("ipv4:1")->pinned_bytes(), 0u);
}

TEST_F(ReplyWireTest, BeyondTheLimitOfCopiesAnAnswerIsRefused) {
  FakeMemory memory(/*pins=*/1);
  answer_.memory = &memory;
  peer_.ledger = std::make_shared<PinLedger>(1ULL << 30, 3 * kCopiedReplyBytes);
  const std::string bytes(2 * kCopiedReplyBytes, 'x');
  Add("X", DataType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes);
  {
    const grpc::ByteBuffer pinned = Write();
    EXPECT_EQ(peer_.ledger->copies()->taken_bytes(), 0u);
    const grpc::ByteBuffer copied = Write();
    EXPECT_EQ(peer_.ledger->copies()->taken_bytes(), bytes.size());
    EXPECT_EQ(AllBytes(copied), AllBytes(pinned));
    const absl::StatusOr<grpc::ByteBuffer> refused =
        WriteReply({"m", "1", "17"}, answer_, peer_, &metrics_, &scratch_);
    EXPECT_EQ(refused.status(), Busy("too many answers have not been read by their clients"));
    EXPECT_EQ(peer_.ledger->copies()->taken_bytes(), bytes.size());
  }
  EXPECT_EQ(peer_.ledger->copies()->taken_bytes(), 0u) << "they were read";
  EXPECT_EQ(memory.references, 0);
}

TEST_F(ReplyWireTest, ManySmallOutputsCountTogether) {
  const std::string bytes(kCopiedReplyBytes / 4, 'x');
  for (const char* name : {"A", "B", "C", "D"}) {
    Add(name, DataType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes);
  }
  EXPECT_TRUE(MayBeLarge({"m", "1", "17"}, answer_));
  {
    const grpc::ByteBuffer written = Write();
    EXPECT_EQ(peer_.ledger->copies()->taken_bytes(), written.Length());
    EXPECT_THAT(Parse(written).raw_output_contents(), ElementsAre(bytes, bytes, bytes, bytes));
  }
  EXPECT_EQ(peer_.ledger->copies()->taken_bytes(), 0u) << "they were read";
  peer_.ledger = std::make_shared<PinLedger>(1ULL << 30, kCopiedReplyBytes);
  EXPECT_EQ(WriteReply({"m", "1", "17"}, answer_, peer_, &metrics_, &scratch_).status(),
            Busy("too many answers have not been read by their clients"));
}

TEST_F(ReplyWireTest, AFewSmallOutputsCountForNothing) {
  Add("A", DataType::kUint8, {3}, "abc");
  EXPECT_FALSE(MayBeLarge({"m", "1", "17"}, answer_));
  peer_ = {};
  EXPECT_THAT(Parse(Write()).raw_output_contents(), ElementsAre("abc"));
}

TEST_F(ReplyWireTest, ALongIdCountsToo) {
  const std::string id(2 * kCopiedReplyBytes, 'i');
  EXPECT_TRUE(MayBeLarge({"m", "1", id}, answer_));
  peer_.ledger = std::make_shared<PinLedger>(1ULL << 30, 5 * kCopiedReplyBytes);
  const grpc::ByteBuffer kept = WriteStreamError("no such thing", id, peer_);
  EXPECT_EQ(peer_.ledger->copies()->taken_bytes(), kept.Length());
  inference::ModelStreamInferResponse response;
  ASSERT_TRUE(response.ParseFromString(AllBytes(WriteStreamError("no such thing", id, peer_))));
  EXPECT_EQ(response.error_message(), "no such thing") << "there is no room for a second id";
  EXPECT_EQ(response.infer_response().id(), "");
}

TEST_F(ReplyWireTest, WhereTheWorkersLimitRefusesTheConnectionKeepsNothing) {
  FakeMemory memory(/*pins=*/0);
  answer_.memory = &memory;
  const std::string bytes(2 * kCopiedReplyBytes, 'x');
  Add("X", DataType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes);
  Write();
  EXPECT_EQ(peer_.ledger->Of(peer_.address)->pinned_bytes(), 0u);
  EXPECT_EQ(metrics_.copied_replies, 1u);
}

// gRPC may hold a slice longer than the server that made it lives.
TEST_F(ReplyWireTest, TheLedgerOutlivesTheLastSlice) {
  FakeMemory memory;
  answer_.memory = &memory;
  const std::string bytes(2 * kCopiedReplyBytes, 'x');
  Add("X", DataType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes);
  std::optional<grpc::ByteBuffer> buffer = Write();
  const std::weak_ptr<PinLedger> ledger = peer_.ledger;
  peer_.ledger.reset();
  EXPECT_FALSE(ledger.expired());
  buffer.reset();
  EXPECT_TRUE(ledger.expired());
}

TEST_F(ReplyWireTest, AStreamsAnswerIsTheSameInAnEnvelope) {
  const std::string bytes(kCopiedReplyBytes + 1, 'y');
  Add("OUT", DataType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes);
  Add("MORE", DataType::kUint8, {2}, "ab");
  FakeMemory memory;
  answer_.memory = &memory;
  {
    const grpc::ByteBuffer buffer =
        *WriteStreamReply({"m", "1", "17"}, answer_, peer_, &metrics_, &scratch_);
    EXPECT_EQ(peer_.ledger->Of(peer_.address)->pinned_bytes(), bytes.size());
    inference::ModelStreamInferResponse response;
    ASSERT_TRUE(response.ParseFromString(AllBytes(buffer)));
    EXPECT_EQ(response.error_message(), "");
    EXPECT_EQ(response.infer_response().SerializeAsString(), Parse(Write()).SerializeAsString());
    EXPECT_EQ(response.SerializeAsString().size(), buffer.Length());
    std::string copied;
    AppendStreamReply({"m", "1", "17"}, answer_, &copied);
    EXPECT_EQ(copied, AllBytes(buffer));
  }
  EXPECT_EQ(memory.references, 0);
}

TEST_F(ReplyWireTest, AStreamsErrorNamesItsRequest) {
  for (const char* id : {"", "17"}) {
    inference::ModelStreamInferResponse response;
    ASSERT_TRUE(response.ParseFromString(AllBytes(WriteStreamError("no such thing", id, {}))));
    EXPECT_EQ(response.error_message(), "no such thing");
    EXPECT_TRUE(response.has_infer_response());
    EXPECT_EQ(response.infer_response().id(), id);
  }
}

TEST_F(ReplyWireTest, TheFinalFlagIsAParameter) {
  Add("OUT", DataType::kUint8, {2}, "ab");
  for (const bool is_final : {true, false}) {
    const ReplyHead head{"m", "1", "17", /*final_flag=*/true, is_final};
    const inference::ModelInferResponse response =
        Parse(*WriteReply(head, answer_, peer_, &metrics_, &scratch_));
    ASSERT_EQ(response.parameters().count("triton_final_response"), 1u);
    EXPECT_EQ(response.parameters().at("triton_final_response").bool_param(), is_final);
    EXPECT_EQ(response.parameters().at("triton_final_response").parameter_choice_case(),
              inference::InferParameter::kBoolParam);
    EXPECT_THAT(response.raw_output_contents(), ElementsAre("ab"));
  }
}

TEST_F(ReplyWireTest, TextsThatWereCutAreAParameter) {
  Add("OUT", DataType::kUint8, {2}, "ab");
  ReplyHead head{"m", "1", "17"};
  EXPECT_EQ(Parse(*WriteReply(head, answer_, peer_, &metrics_, &scratch_)).parameters_size(), 0);
  head.truncated_texts = 300;
  const inference::ModelInferResponse response =
      Parse(*WriteReply(head, answer_, peer_, &metrics_, &scratch_));
  EXPECT_EQ(response.parameters().at("truncated_texts").int64_param(), 300);
  EXPECT_THAT(response.raw_output_contents(), ElementsAre("ab"));
}

TEST_F(ReplyWireTest, AnOutputInTheClientsMemorySaysWhere) {
  Add("X", DataType::kFp32, {2, 1}, "");
  answer_.outputs[0].region = {"region", 4096, 8};
  Add("Y", DataType::kUint8, {1}, "y");
  const inference::ModelInferResponse response = Parse(Write());
  const auto& parameters = response.outputs(0).parameters();
  EXPECT_EQ(parameters.at("shared_memory_region").string_param(), "region");
  EXPECT_EQ(parameters.at("shared_memory_offset").int64_param(), 4096);
  EXPECT_EQ(parameters.at("shared_memory_byte_size").int64_param(), 8);
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(2, 1));
  EXPECT_EQ(response.outputs(1).parameters_size(), 0);
  EXPECT_THAT(response.raw_output_contents(), ElementsAre("", "y"));
}

}  // namespace
}  // namespace mpsd
