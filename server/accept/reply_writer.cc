#include "server/accept/reply_writer.h"

#include "server/request/served_model.h"

namespace mpsd {
namespace {

constexpr size_t kKeptScratchBytes = 64 << 10;

}  // namespace

absl::StatusOr<grpc::ByteBuffer> ReplyWriter::Write(const InferExchange& exchange,
                                                    const grpc::ServerContextBase& rpc,
                                                    const Answer& answer, bool is_last) {
  const Request& request = exchange.request();
  ReplyHead head = exchange.HeadOf(is_last);
  ReplyPeer peer;
  if (MayBeLarge(head, answer)) peer = PeerOf(rpc);
  absl::StatusOr<grpc::ByteBuffer> written =
      format_(head, answer, peer, request.metrics, &scratch_);
  if (!written.ok() && answer.outputs.empty()) {
    head.id = "";
    written = format_(head, answer, peer, request.metrics, &scratch_);
  }
  // The call stays open until its client has read the answer, however long that takes.
  if (is_last) Trim();
  return written;
}

void ReplyWriter::Trim() {
  if (scratch_.capacity() > kKeptScratchBytes) std::string().swap(scratch_);
}

}  // namespace mpsd
