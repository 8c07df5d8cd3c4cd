#include "client/traffic/answer_check.h"

#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <cstring>

namespace mpsd::traffic {
namespace {

constexpr uint32_t kInferResponse = 2;      // of ModelStreamInferResponse
constexpr uint32_t kRawOutputContents = 6;  // of ModelInferResponse
constexpr uint32_t kRawInputContents = 7;   // of ModelInferRequest, which an echo sends back
constexpr uint32_t kLengthDelimited = 2;

using google::protobuf::io::CodedInputStream;

// Reads `size` bytes and compares them with the beginning of `expected`, which it removes.
bool ReadSame(CodedInputStream* stream, uint64_t size, std::string_view* expected) {
  if (size > expected->size()) return false;
  while (size > 0) {
    const void* data = nullptr;
    int available = 0;
    if (!stream->GetDirectBufferPointer(&data, &available)) return false;
    const size_t count = std::min<uint64_t>(size, static_cast<uint64_t>(available));
    if (std::memcmp(data, expected->data(), count) != 0) return false;
    if (!stream->Skip(static_cast<int>(count))) return false;
    expected->remove_prefix(count);
    size -= count;
  }
  return true;
}

// Sums the raw contents in the fields `number`, and compares them with `expected` if that is given.
bool WalkRawContents(CodedInputStream* stream, uint32_t number, std::string_view* expected,
                     uint64_t* total) {
  while (const uint32_t tag = stream->ReadTag()) {
    uint32_t size = 0;
    if ((tag & 7) != kLengthDelimited || !stream->ReadVarint32(&size)) return false;
    if (tag >> 3 != number || expected == nullptr) {
      if (!stream->Skip(static_cast<int>(size))) return false;
    } else if (!ReadSame(stream, size, expected)) {
      return false;
    }
    if (tag >> 3 == number) *total += size;
  }
  return stream->ConsumedEntireMessage();
}

// Enters the answer inside the message of a stream. False for an error, which has no answer inside.
bool EnterStreamed(CodedInputStream* stream) {
  uint32_t size = 0;
  return stream->ReadTag() == (kInferResponse << 3 | kLengthDelimited) &&
         stream->ReadVarint32(&size);
}

bool WalkAnswer(grpc::ByteBuffer* answer, bool streamed, uint32_t number,
                std::string_view* expected, uint64_t* total) {
  grpc::ProtoBufferReader reader(answer);
  if (!reader.status().ok()) return false;
  CodedInputStream stream(&reader);
  if (streamed && !EnterStreamed(&stream)) return false;
  return WalkRawContents(&stream, number, expected, total);
}

}  // namespace

AnswerCheck::AnswerCheck(Expectation expectation, bool streamed,
                         const std::vector<PreparedRequest>* requests)
    : expectation_(expectation),
      streamed_(streamed),
      requests_(requests),
      first_bytes_(requests->size()) {}

bool AnswerCheck::Right(uint32_t request, grpc::ByteBuffer* answer) {
  uint64_t total = 0;
  if (expectation_ == Expectation::kSameSize) {
    if (!WalkAnswer(answer, streamed_, kRawOutputContents, nullptr, &total)) return false;
    if (total == 0) return false;
    uint64_t& first = first_bytes_[request];
    if (first == 0) first = total;
    return total == first;
  }
  const uint32_t number =
      expectation_ == Expectation::kEcho ? kRawInputContents : kRawOutputContents;
  std::string_view expected = (*requests_)[request].payload;
  return WalkAnswer(answer, streamed_, number, &expected, &total) && expected.empty();
}

}  // namespace mpsd::traffic
