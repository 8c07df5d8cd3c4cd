// AnswerCheck: checks whether the bytes of an answer are right for the request.
//
// Parsing would cost the client more than the call, on cores that it shares with the server. So the
// check walks the message's fields by hand:
//
//   ModelInferResponse         model_name │ … │ raw_output_contents │ raw_output_contents │
//   kSameSize                  skips        …   adds up lengths
//   kNearFirst                 skips        …   copies, and compares number for number
//   kIdentity, kEcho           skips        …   compares byte for byte with the payload
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/traffic/request_set.h"

namespace mpsd::traffic {

// All requests of a run have the same.
enum class Expectation {
  kSameSize,   // as many bytes as the request's first answer
  kNearFirst,  // FP32, near the request's first answer
  kIdentity,   // equal to the request's, byte for byte
  kEcho,       // the request itself, as mpsd-echo answers
};

// Owned by an AnswerTally. Lives on one thread. The requests outlive it.
class AnswerCheck {
 public:
  // If `streamed`, answers are wrapped in a stream's message.
  AnswerCheck(Expectation expectation, bool streamed, const std::vector<PreparedRequest>* requests);

  // The `request` is an index. False also for a message that cannot be walked or has no contents,
  // and for an error in band. `answer` can still be read afterwards.
  bool Right(uint32_t request, grpc::ByteBuffer* answer);

 private:
  bool HasSizeOfFirst(uint32_t request, grpc::ByteBuffer* answer);
  bool IsNearFirst(uint32_t request, grpc::ByteBuffer* answer);
  // The field number `field` has the contents.
  bool HasPayload(uint32_t request, uint32_t field, grpc::ByteBuffer* answer) const;

  const Expectation expectation_;
  const bool streamed_;
  const std::vector<PreparedRequest>* const requests_;
  std::vector<uint64_t> first_bytes_;  // by request; 0: none yet
  std::vector<std::string> first_;     // by request, for kNearFirst: contents
  std::string contents_;               // for kNearFirst: this answer's; keeps its memory
};

}  // namespace mpsd::traffic
