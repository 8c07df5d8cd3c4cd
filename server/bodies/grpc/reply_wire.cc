#include "server/bodies/grpc/reply_wire.h"

#include <cstddef>
#include <cstdint>

#include "proto/base/limits.h"
#include "proto/encoding/protobuf_writer.h"

namespace mpsd {
namespace {

// All but the contents.
constexpr size_t kUsualHeadBytes = 256;

// parameters:4 {key:1 value:2}, with a serialized value.
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

// Where an output lies in the client's memory.
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

// outputs:5 {name:1 datatype:2 shape:3 parameters:4}
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

// parameters:4 {key:1 "triton_final_response" value:2 {bool_param:1 …}}, without the last byte.
constexpr absl::string_view kFinalFlagBytes("\x22\x1b\x0a\x15triton_final_response\x12\x02\x08",
                                            28);

// All but the contents of the outputs.
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

bool IsSplice(const AnswerOutput& output, const Splices* splices) {
  return splices != nullptr && output.bytes.size() > kCopiedReplyBytes;
}

void AppendContents(const Answer& answer, std::string* out, Splices* splices) {
  for (const AnswerOutput& output : answer.outputs) {
    PutContentsHead(output, out);
    if (IsSplice(output, splices)) {
      splices->Add(out->size(), output.bytes);
    } else {
      out->append(output.bytes.data(), output.bytes.size());
    }
  }
}

}  // namespace

void AppendReply(const ReplyHead& head, const Answer& answer, std::string* out, Splices* splices) {
  size_t bytes = kUsualHeadBytes;
  for (const AnswerOutput& output : answer.outputs) {
    if (!IsSplice(output, splices)) bytes += output.bytes.size();
  }
  out->reserve(out->size() + bytes);
  PutHead(head, answer, out);
  AppendContents(answer, out, splices);
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
  AppendContents(answer, out, nullptr);
}

void AppendStreamError(absl::string_view text, absl::string_view id, std::string* out) {
  PutText(1, text, out);
  PutKey(2, out);
  PutVarint(TextBytes(id), out);
  PutText(3, id, out);
}

}  // namespace mpsd
