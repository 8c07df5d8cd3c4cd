#include "server/wire/reply_wire.h"

#include <grpc/slice.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "proto/base/limits.h"
#include "proto/encoding/protobuf_writer.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

// Writes one of parameters:4 {key:1 value:2}. `value` is the serialized value.
void PutParameter(absl::string_view key, absl::string_view value, std::string* out) {
  std::string entry;
  PutText(1, key, &entry);
  PutText(2, value, &entry);
  PutText(4, entry, out);
}

void PutNumberParameter(absl::string_view key, uint64_t number, std::string* out) {
  std::string value;
  PutNumber(2, number, &value);
  PutParameter(key, value, out);
}

// The parameters that tell where an output lies in the client's memory.
std::string RegionParameters(const AnswerRegion& region) {
  std::string parameters;
  if (region.name.empty()) return parameters;
  std::string name;
  PutText(3, region.name, &name);
  PutParameter("shared_memory_region", name, &parameters);
  PutNumberParameter("shared_memory_byte_size", region.bytes, &parameters);
  if (region.offset > 0) PutNumberParameter("shared_memory_offset", region.offset, &parameters);
  return parameters;
}

// Writes outputs:5 {name:1 datatype:2 shape:3 parameters:4}
void PutOutput(const AnswerOutput& output, std::string* out) {
  const absl::string_view datatype = DataTypeName(output.datatype);
  size_t shape_bytes = 0;
  for (const int64_t dim : output.dims) shape_bytes += VarintBytes(static_cast<uint64_t>(dim));
  const std::string parameters = RegionParameters(output.region);
  size_t bytes = TextBytes(output.name) + TextBytes(datatype) + parameters.size();
  if (!output.dims.empty()) bytes += 1 + VarintBytes(shape_bytes) + shape_bytes;
  PutKey(5, out);
  PutVarint(bytes, out);
  PutText(1, output.name, out);
  PutText(2, datatype, out);
  if (!output.dims.empty()) {
    PutKey(3, out);
    PutVarint(shape_bytes, out);
    for (const int64_t dim : output.dims) PutVarint(static_cast<uint64_t>(dim), out);
  }
  out->append(parameters);
}

// Owned by one slice of a pinned answer: a reference on the memory, which may hold other requests'
// answers too, and the slice's bytes in the connection's account.
struct PinnedSlice {
  AnswerMemory* memory;
  uint64_t bytes;
  std::shared_ptr<PinLedger> ledger;
  PinLedger::Account* account;
  const Clock* clock;
};

void ReleaseSlice(void* user_data) {
  const auto* pinned = static_cast<PinnedSlice*>(user_data);
  pinned->account->Unpin(pinned->bytes, pinned->clock->NowNs());
  pinned->memory->Unref();
  delete pinned;
}

bool IsLarge(const AnswerOutput& output) { return output.bytes.size() > kCopiedReplyBytes; }

// A slice of a large output's own memory; nothing if its bytes must be copied.
std::optional<grpc::Slice> Pinned(const AnswerOutput& output, const Answer& answer,
                                  const ReplyPeer& peer, ModelMetrics* metrics) {
  if (answer.memory == nullptr) return std::nullopt;
  const uint64_t bytes = output.bytes.size();
  PinLedger::Account* account = peer.ledger->Of(peer.address);
  const int64_t now_ns = peer.clock->NowNs();
  const bool account_has_room = account->TryPin(bytes, peer.ledger->limit_bytes(), now_ns);
  if (!account_has_room || !answer.memory->TryPin()) {
    if (account_has_room) account->Unpin(bytes, now_ns);
    metrics->copied_replies.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  answer.memory->Ref();
  // gRPC does not write to the bytes; its interface lacks the const.
  return grpc::Slice(const_cast<char*>(output.bytes.data()), bytes, ReleaseSlice,
                     new PinnedSlice{answer.memory, bytes, peer.ledger, account, peer.clock});
}

// Owned by one slice of a copied answer.
struct CopiedSlice {
  std::unique_ptr<char[]> bytes;
  std::shared_ptr<PinLedger> ledger;  // outlives the room
  UnreadCopies::Room room;
};

void ReleaseCopy(void* user_data) { delete static_cast<CopiedSlice*>(user_data); }

// A slice with a copy of a large output; nothing if clients have left too many copies unread.
std::optional<grpc::Slice> Copied(absl::string_view bytes, const ReplyPeer& peer) {
  std::optional<UnreadCopies::Room> room =
      peer.ledger->copies()->Take(peer.address, bytes.size(), peer.clock->NowNs());
  if (!room.has_value()) return std::nullopt;
  auto* copied = new CopiedSlice{std::make_unique_for_overwrite<char[]>(bytes.size()), peer.ledger,
                                 *std::move(room)};
  std::memcpy(copied->bytes.get(), bytes.data(), bytes.size());
  return grpc::Slice(copied->bytes.get(), bytes.size(), ReleaseCopy, copied);
}

using Slices = absl::InlinedVector<grpc::Slice, 4>;

// Moves the scratch into a slice of its own. False if it is large and there is no room.
bool AppendScratch(const ReplyPeer& peer, std::string* scratch, Slices* slices) {
  std::optional<grpc::Slice> slice;
  if (scratch->size() <= kCopiedReplyBytes) {
    slice.emplace(scratch->data(), scratch->size());
  } else {
    slice = Copied(*scratch, peer);
  }
  if (!slice.has_value()) return false;
  slices->push_back(*std::move(slice));
  scratch->clear();
  return true;
}

absl::Status TooManyUnread() {
  return Busy("too many answers have not been read by their clients");
}

// parameters:4 {key:1 "triton_final_response" value:2 {bool_param:1 …}}, without the last byte.
constexpr absl::string_view kFinalFlagBytes("\x22\x1b\x0a\x15triton_final_response\x12\x02\x08",
                                            28);

// All of the answer but the contents of its outputs.
void PutHead(const ReplyHead& head, const Answer& answer, std::string* out) {
  PutText(1, head.model, out);
  PutText(2, head.version, out);
  PutText(3, head.id, out);
  if (head.final_flag) {
    out->append(kFinalFlagBytes.data(), kFinalFlagBytes.size());
    out->push_back(head.is_final ? 1 : 0);
  }
  if (head.truncated_texts > 0) PutNumberParameter("truncated_texts", head.truncated_texts, out);
  for (const AnswerOutput& output : answer.outputs) PutOutput(output, out);
}

void PutContentsHead(const AnswerOutput& output, std::string* out) {
  PutKey(6, out);
  PutVarint(output.bytes.size(), out);
}

// Appends a ModelInferResponse to the slices.
absl::Status PutReply(const ReplyHead& head, const Answer& answer, const ReplyPeer& peer,
                      ModelMetrics* metrics, std::string* scratch, Slices* slices) {
  scratch->clear();
  PutHead(head, answer, scratch);
  for (const AnswerOutput& output : answer.outputs) {
    PutContentsHead(output, scratch);
    if (!IsLarge(output)) {
      scratch->append(output.bytes.data(), output.bytes.size());
      continue;
    }
    std::optional<grpc::Slice> slice = Pinned(output, answer, peer, metrics);
    if (!slice.has_value()) slice = Copied(output.bytes, peer);
    if (!slice.has_value() || !AppendScratch(peer, scratch, slices)) return TooManyUnread();
    slices->push_back(*std::move(slice));
  }
  const bool has_room = scratch->empty() || AppendScratch(peer, scratch, slices);
  return has_room ? absl::OkStatus() : TooManyUnread();
}

// An upper bound for a head without its id, or an output without its contents.
constexpr size_t kMostHeadBytes = 512;

void AppendContents(const Answer& answer, std::string* out) {
  for (const AnswerOutput& output : answer.outputs) {
    PutContentsHead(output, out);
    out->append(output.bytes.data(), output.bytes.size());
  }
}

}  // namespace

void AppendReply(const ReplyHead& head, const Answer& answer, std::string* out) {
  PutHead(head, answer, out);
  AppendContents(answer, out);
}

void AppendStreamReply(const ReplyHead& head, const Answer& answer, std::string* out) {
  std::string text;
  PutHead(head, answer, &text);
  uint64_t bytes = text.size();
  for (const AnswerOutput& output : answer.outputs) {
    bytes += 1 + VarintBytes(output.bytes.size()) + output.bytes.size();
  }
  PutKey(2, out);
  PutVarint(bytes, out);
  out->reserve(out->size() + bytes);
  out->append(text);
  AppendContents(answer, out);
}

bool MayBeLarge(const ReplyHead& head, const Answer& answer) {
  size_t bytes = kMostHeadBytes + head.id.size();
  for (const AnswerOutput& output : answer.outputs) bytes += kMostHeadBytes + output.bytes.size();
  return bytes > kCopiedReplyBytes;
}

absl::StatusOr<grpc::ByteBuffer> WriteReply(const ReplyHead& head, const Answer& answer,
                                            const ReplyPeer& peer, ModelMetrics* metrics,
                                            std::string* scratch) {
  Slices slices;
  absl::Status status = PutReply(head, answer, peer, metrics, scratch, &slices);
  if (!status.ok()) return status;
  return grpc::ByteBuffer(slices.data(), slices.size());
}

absl::StatusOr<grpc::ByteBuffer> WriteStreamReply(const ReplyHead& head, const Answer& answer,
                                                  const ReplyPeer& peer, ModelMetrics* metrics,
                                                  std::string* scratch) {
  Slices slices(1);
  absl::Status status = PutReply(head, answer, peer, metrics, scratch, &slices);
  if (!status.ok()) return status;
  uint64_t bytes = 0;
  for (const grpc::Slice& slice : slices) bytes += slice.size();
  scratch->clear();
  PutKey(2, scratch);
  PutVarint(bytes, scratch);
  slices[0] = grpc::Slice(scratch->data(), scratch->size());
  return grpc::ByteBuffer(slices.data(), slices.size());
}

void AppendStreamError(absl::string_view text, absl::string_view id, std::string* out) {
  PutText(1, text, out);
  PutKey(2, out);
  PutVarint(TextBytes(id), out);
  PutText(3, id, out);
}

grpc::ByteBuffer WriteStreamError(absl::string_view text, absl::string_view id,
                                  const ReplyPeer& peer) {
  std::string bytes;
  AppendStreamError(text, id, &bytes);
  Slices slices;
  if (id.size() <= kCopiedReplyBytes) {
    slices.emplace_back(bytes.data(), bytes.size());
  } else if (!AppendScratch(peer, &bytes, &slices)) {
    return WriteStreamError(text, "", peer);
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace mpsd
