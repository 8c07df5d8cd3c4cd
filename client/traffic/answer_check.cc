#include "client/traffic/answer_check.h"

#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

namespace mpsd::traffic {
namespace {

constexpr uint32_t kInferResponse = 2;      // field of ModelStreamInferResponse
constexpr uint32_t kRawOutputContents = 6;  // field of ModelInferResponse
constexpr uint32_t kRawInputContents = 7;   // field of ModelInferRequest, for an echo
constexpr uint32_t kLengthDelimited = 2;
constexpr float kNear = 1e-5F;

using google::protobuf::io::CodedInputStream;

// Piece by piece as they lie there, until `take` returns false.
template <typename Take>
bool ReadPieces(CodedInputStream* stream, uint64_t size, const Take& take) {
  while (size > 0) {
    const void* data = nullptr;
    int available = 0;
    if (!stream->GetDirectBufferPointer(&data, &available)) return false;
    const size_t count = std::min<uint64_t>(size, static_cast<uint64_t>(available));
    if (!take(std::string_view(static_cast<const char*>(data), count))) return false;
    if (!stream->Skip(static_cast<int>(count))) return false;
    size -= count;
  }
  return true;
}

// Calls `read(stream, size)`, which returns success, for each field `number`.
template <typename Read>
bool WalkRawContents(CodedInputStream* stream, uint32_t number, const Read& read) {
  while (const uint32_t tag = stream->ReadTag()) {
    uint32_t size = 0;
    if ((tag & 7) != kLengthDelimited || !stream->ReadVarint32(&size)) return false;
    const bool taken =
        tag >> 3 == number ? read(stream, size) : stream->Skip(static_cast<int>(size));
    if (!taken) return false;
  }
  return stream->ConsumedEntireMessage();
}

// False for an error, which has no answer inside.
bool EnterStreamed(CodedInputStream* stream) {
  uint32_t size = 0;
  return stream->ReadTag() == (kInferResponse << 3 | kLengthDelimited) &&
         stream->ReadVarint32(&size);
}

template <typename Read>
bool WalkAnswer(grpc::ByteBuffer* answer, bool streamed, uint32_t number, const Read& read) {
  grpc::ProtoBufferReader reader(answer);
  if (!reader.status().ok()) return false;
  CodedInputStream stream(&reader);
  if (streamed && !EnterStreamed(&stream)) return false;
  return WalkRawContents(&stream, number, read);
}

// A model may add up in another order in batches of other sizes.
bool IsNear(float value, float expected) {
  return std::abs(value - expected) <= kNear * (1 + std::abs(expected));
}

// Equally many floats, each near its counterpart.
bool AreNear(const std::string& contents, const std::string& expected) {
  if (contents.size() != expected.size() || contents.size() % sizeof(float) != 0) return false;
  for (size_t at = 0; at < contents.size(); at += sizeof(float)) {
    float value = 0;
    float other = 0;
    std::memcpy(&value, contents.data() + at, sizeof(float));
    std::memcpy(&other, expected.data() + at, sizeof(float));
    if (!IsNear(value, other)) return false;
  }
  return true;
}

}  // namespace

AnswerCheck::AnswerCheck(Expectation expectation, bool streamed,
                         const std::vector<PreparedRequest>* requests)
    : expectation_(expectation),
      streamed_(streamed),
      requests_(requests),
      first_bytes_(requests->size()),
      first_(requests->size()) {}

bool AnswerCheck::Right(uint32_t request, grpc::ByteBuffer* answer) {
  switch (expectation_) {
    case Expectation::kSameSize:
      return HasSizeOfFirst(request, answer);
    case Expectation::kNearFirst:
      return IsNearFirst(request, answer);
    case Expectation::kIdentity:
      return HasPayload(request, kRawOutputContents, answer);
    case Expectation::kEcho:
      return HasPayload(request, kRawInputContents, answer);
  }
  return false;
}

bool AnswerCheck::HasSizeOfFirst(uint32_t request, grpc::ByteBuffer* answer) {
  uint64_t total = 0;
  const auto skip = [&total](CodedInputStream* stream, uint64_t size) {
    total += size;
    return stream->Skip(static_cast<int>(size));
  };
  if (!WalkAnswer(answer, streamed_, kRawOutputContents, skip) || total == 0) return false;
  uint64_t& first = first_bytes_[request];
  if (first == 0) first = total;
  return total == first;
}

bool AnswerCheck::IsNearFirst(uint32_t request, grpc::ByteBuffer* answer) {
  contents_.clear();
  const auto append = [this](std::string_view piece) {
    contents_ += piece;
    return true;
  };
  const auto read = [&append](CodedInputStream* stream, uint64_t size) {
    return ReadPieces(stream, size, append);
  };
  if (!WalkAnswer(answer, streamed_, kRawOutputContents, read) || contents_.empty()) return false;
  std::string& first = first_[request];
  if (first.empty()) first = contents_;
  return AreNear(contents_, first);
}

bool AnswerCheck::HasPayload(uint32_t request, uint32_t field, grpc::ByteBuffer* answer) const {
  std::string_view expected = (*requests_)[request].payload;
  const auto consume = [&expected](std::string_view piece) {
    if (!expected.starts_with(piece)) return false;
    expected.remove_prefix(piece.size());
    return true;
  };
  const auto compare = [&consume](CodedInputStream* stream, uint64_t size) {
    return ReadPieces(stream, size, consume);
  };
  return WalkAnswer(answer, streamed_, field, compare) && expected.empty();
}

}  // namespace mpsd::traffic
