// AnswerCheck: checks whether the bytes of an answer are right for the request.
//
// Parsing an answer would cost the client more than the call, on cores that it shares with the
// server. So the check walks the message's fields by hand, and reads contents only to compare them:
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

// How to check the answers of a run; the same for all its requests.
enum class Expectation {
  kSameSize,   // raw contents, as many bytes as the first answer to the same request
  kNearFirst,  // raw contents of FP32, near those of the first answer to the same request
  kIdentity,   // raw contents equal to the request's, byte for byte
  kEcho,       // the request itself, as mpsd-echo answers; compares its raw contents
};

// Owned by a pump's AnswerTally. Lives on one thread. The requests outlive it.
class AnswerCheck {
 public:
  // `streamed`: answers are wrapped in the message of a stream.
  AnswerCheck(Expectation expectation, bool streamed, const std::vector<PreparedRequest>* requests);

  // Whether `answer` is right for the request of that index. False also for a message that cannot
  // be walked, for one without contents, and on a stream for an error in band. `answer` can still
  // be read afterwards.
  bool Right(uint32_t request, grpc::ByteBuffer* answer);

 private:
  bool HasSizeOfFirst(uint32_t request, grpc::ByteBuffer* answer);
  bool IsNearFirst(uint32_t request, grpc::ByteBuffer* answer);
  // `field`: the number of the answer's field with the contents.
  bool HasPayload(uint32_t request, uint32_t field, grpc::ByteBuffer* answer) const;

  const Expectation expectation_;
  const bool streamed_;
  const std::vector<PreparedRequest>* const requests_;
  std::vector<uint64_t> first_bytes_;  // by request: bytes of its first answer; 0: none yet
  std::vector<std::string> first_;     // by request, for kNearFirst: contents of its first answer
  std::string contents_;               // for kNearFirst: this answer's contents; keeps its memory
};

}  // namespace mpsd::traffic
