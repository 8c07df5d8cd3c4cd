#include "proto/link/messages.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/base/limits.h"
#include "proto/base/platform.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr uint32_t kMagic = 0x4453504d;  // "MPSD"
// One message of the largest size, and some more.
constexpr size_t kMaxUnsentBytes = kMaxMessageBytes + (1U << 20);

struct FrameHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t length;
};

Json Body(const FileStamp& stamp) {
  return {stamp.inode, stamp.bytes, static_cast<uint64_t>(stamp.modified_ns)};
}

Json Body(const std::vector<FolderFile>& files) {
  Json list = Json::array();
  for (const FolderFile& file : files) {
    list.push_back({{"name", file.name}, {"bytes", file.bytes}, {"stamp", Body(file.stamp)}});
  }
  return list;
}

Json Body(const LoadOrder& order) {
  return {{"type", "load"},
          {"model", order.model},
          {"format", NameOf(order.format)},
          {"path", order.path},
          {"folder_files", Body(order.folder_files)},
          {"stamp", Body(order.stamp)},
          {"device", order.device},
          {"precision", NameOf(order.precision)},
          {"warmup", NameOf(order.warmup)},
          {"warmup_samples", ToJson(order.warmup_samples)},
          {"keep_warm_ns", static_cast<uint64_t>(order.keep_warm_ns)},
          {"sandbox", NameOf(order.sandbox)},
          {"epoch", order.epoch},
          {"lanes", order.lanes},
          {"lanes_compared", order.lanes_compared},
          {"threads", order.threads},
          {"cores", order.cores},
          {"memory_share_percent", order.memory_share_percent},
          {"spec", ToJson(order.spec)},
          {"inputs_by_name", order.inputs_by_name},
          {"parameters", order.parameters}};
}

Json Body(const WorkerRuntime& runtime) {
  return {{"name", runtime.name},
          {"kind", runtime.kind},
          {"path", runtime.path},
          {"driver_guard", NameOf(runtime.driver_guard)},
          {"input_memory", NameOf(runtime.input_memory)}};
}

Json Body(const LoadReport& report) {
  return {{"type", "loaded"},
          {"spec", ToJson(report.spec)},
          {"device", report.device},
          {"lanes", report.lanes},
          {"demotion", report.demotion},
          {"precision", NameOf(report.precision)},
          {"precision_note", report.precision_note},
          {"labels", report.labels},
          {"runtime", Body(report.runtime)},
          {"weight_bytes", report.weight_bytes}};
}

Json Body(const ShareWeights&) { return {{"type", "share_weights"}}; }

Json Body(const UseWeights&) { return {{"type", "use_weights"}}; }

Json Body(const WeightsTold& told) {
  return {{"type", "weights"}, {"bytes", told.bytes}, {"why", told.why}};
}

Json Body(const AttachOrder& order) {
  return {{"type", "attach"},
          {"layout_hash", order.layout_hash},
          {"mailbox_bytes", order.mailbox_bytes},
          {"worker_segment_bytes", order.worker_segment_bytes},
          {"slab_segment_bytes", order.slab_segment_bytes}};
}

Json Body(const Ready& ready) { return {{"type", "ready"}, {"warning", ready.warning}}; }

Json Body(const Failure& failure) {
  return {{"type", "failure"}, {"text", failure.text}, {"lasting", failure.lasting}};
}

Json Body(const SlabsAdded& added) {
  return {{"type", "slabs_added"}, {"number", added.number}, {"bytes", added.bytes}};
}

Json Body(const SlabsMapped& mapped) {
  return {{"type", "slabs_mapped"}, {"number", mapped.number}};
}

Json Body(const SlabsRemoved& removed) {
  return {{"type", "slabs_removed"}, {"number", removed.number}};
}

Json Body(const SlabsUnmapped& unmapped) {
  return {{"type", "slabs_unmapped"}, {"number", unmapped.number}};
}

// A missing or wrong field of a hostile object leaves `*ok` false.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  std::string Text(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr || !value->is_string()) return Fail<std::string>();
    return value->get<std::string>();
  }

  template <typename Enum>
  Enum Choice(const char* key) {
    const std::optional<Enum> value = FromName<Enum>(Text(key));
    return value.has_value() ? *value : Fail<Enum>();
  }

  uint64_t Number(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr || !value->is_number_unsigned()) return Fail<uint64_t>();
    return value->get<uint64_t>();
  }

  uint32_t Small(const char* key) {
    const uint64_t number = Number(key);
    if (number > UINT32_MAX) return Fail<uint32_t>();
    return static_cast<uint32_t>(number);
  }

  ModelSpec Spec(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr) return Fail<ModelSpec>();
    absl::StatusOr<ModelSpec> spec = ModelSpecFromJson(*value);
    return spec.ok() ? *std::move(spec) : Fail<ModelSpec>();
  }

  std::vector<WarmUpSample> Samples(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr) return Fail<std::vector<WarmUpSample>>();
    absl::StatusOr<std::vector<WarmUpSample>> samples = WarmUpSamplesFromJson(*value);
    return samples.ok() ? *std::move(samples) : Fail<std::vector<WarmUpSample>>();
  }

  bool Has(const char* key) { return Find(key) != nullptr; }

  bool Flag(const char* key) {
    const Json* value = Find(key);
    return value != nullptr && value->is_boolean() ? value->get<bool>() : Fail<bool>();
  }

  std::map<std::string, std::string> Texts(const char* key) {
    std::map<std::string, std::string> texts;
    const Json* value = Find(key);
    if (value == nullptr) return Fail<std::map<std::string, std::string>>();
    if (value->is_null()) return texts;
    if (!value->is_object()) return Fail<std::map<std::string, std::string>>();
    for (const auto& [name, text] : value->items()) {
      if (!text.is_string()) return Fail<std::map<std::string, std::string>>();
      texts[name] = text.get<std::string>();
    }
    return texts;
  }

  std::vector<uint64_t> Numbers(const char* key) {
    std::vector<uint64_t> numbers;
    const Json* value = Find(key);
    if (value == nullptr || !value->is_array()) return Fail<std::vector<uint64_t>>();
    for (const Json& item : *value) {
      if (!item.is_number_unsigned()) return Fail<std::vector<uint64_t>>();
      numbers.push_back(item.get<uint64_t>());
    }
    return numbers;
  }

  std::vector<std::string> Words(const char* key) {
    std::vector<std::string> words;
    const Json* value = Find(key);
    if (value == nullptr || !value->is_array()) return Fail<std::vector<std::string>>();
    for (const Json& item : *value) {
      if (!item.is_string()) return Fail<std::vector<std::string>>();
      words.push_back(item.get<std::string>());
    }
    return words;
  }

  FileStamp Stamp(const char* key) {
    const std::vector<uint64_t> numbers = Numbers(key);
    if (numbers.size() != 3) return Fail<FileStamp>();
    return {numbers[0], numbers[1], static_cast<int64_t>(numbers[2])};
  }

  std::vector<FolderFile> FolderFiles(const char* key) {
    std::vector<FolderFile> files;
    const Json* value = Find(key);
    if (value == nullptr || !value->is_array()) return Fail<std::vector<FolderFile>>();
    for (const Json& item : *value) {
      if (!item.is_object()) return Fail<std::vector<FolderFile>>();
      Fields fields(item);
      files.push_back({fields.Text("name"), fields.Number("bytes"), fields.Stamp("stamp")});
      if (!fields.ok()) return Fail<std::vector<FolderFile>>();
    }
    return files;
  }

  WorkerRuntime Runtime(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr || !value->is_object()) return Fail<WorkerRuntime>();
    Fields fields(*value);
    const WorkerRuntime runtime = {fields.Text("name"), fields.Text("kind"), fields.Text("path"),
                                   fields.Choice<DriverGuard>("driver_guard"),
                                   fields.Choice<InputMemory>("input_memory")};
    return fields.ok() ? runtime : Fail<WorkerRuntime>();
  }

  bool ok() const { return ok_; }

 private:
  const Json* Find(const char* key) {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  template <typename T>
  T Fail() {
    ok_ = false;
    return T{};
  }

  const Json& object_;
  bool ok_ = true;
};

Message ParseLoad(Fields& fields) {
  LoadOrder order;
  order.model = fields.Text("model");
  order.format = fields.Choice<ModelFormat>("format");
  order.path = fields.Text("path");
  if (fields.Has("folder_files")) order.folder_files = fields.FolderFiles("folder_files");
  if (fields.Has("stamp")) order.stamp = fields.Stamp("stamp");
  order.device = fields.Text("device");
  if (fields.Has("precision")) order.precision = fields.Choice<Precision>("precision");
  order.warmup = fields.Choice<WarmUp>("warmup");
  if (fields.Has("warmup_samples")) order.warmup_samples = fields.Samples("warmup_samples");
  if (fields.Has("keep_warm_ns")) {
    order.keep_warm_ns = static_cast<int64_t>(fields.Number("keep_warm_ns") & INT64_MAX);
  }
  order.sandbox = fields.Choice<SandboxLevel>("sandbox");
  order.epoch = fields.Small("epoch");
  order.lanes = fields.Small("lanes");
  if (fields.Has("lanes_compared")) order.lanes_compared = fields.Flag("lanes_compared");
  order.threads = fields.Small("threads");
  order.cores = fields.Small("cores");
  if (fields.Has("memory_share_percent")) {
    order.memory_share_percent = fields.Small("memory_share_percent");
  }
  order.spec = fields.Spec("spec");
  if (fields.Has("inputs_by_name")) order.inputs_by_name = fields.Flag("inputs_by_name");
  order.parameters = fields.Texts("parameters");
  return order;
}

Message ParseLoaded(Fields& fields) {
  LoadReport report;
  report.spec = fields.Spec("spec");
  report.device = fields.Text("device");
  if (fields.Has("lanes")) report.lanes = fields.Small("lanes");
  if (fields.Has("demotion")) report.demotion = fields.Text("demotion");
  if (fields.Has("precision")) report.precision = fields.Choice<Precision>("precision");
  if (fields.Has("precision_note")) report.precision_note = fields.Text("precision_note");
  if (fields.Has("labels")) report.labels = fields.Words("labels");
  if (fields.Has("runtime")) report.runtime = fields.Runtime("runtime");
  if (fields.Has("weight_bytes")) report.weight_bytes = fields.Number("weight_bytes");
  return report;
}

Message ParseReady(Fields& fields) {
  Ready ready;
  if (fields.Has("warning")) ready.warning = fields.Text("warning");
  return ready;
}

Message ParseAttach(Fields& fields) {
  AttachOrder order;
  order.layout_hash = fields.Number("layout_hash");
  order.mailbox_bytes = fields.Number("mailbox_bytes");
  order.worker_segment_bytes = fields.Number("worker_segment_bytes");
  order.slab_segment_bytes = fields.Numbers("slab_segment_bytes");
  return order;
}

Message ParseFailure(Fields& fields) {
  Failure failure;
  failure.text = fields.Text("text");
  if (fields.Has("lasting")) failure.lasting = fields.Flag("lasting");
  return failure;
}

absl::StatusOr<Message> Parse(absl::string_view text) {
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return absl::InvalidArgumentError("a control message is not JSON");
  Fields fields(object);
  const std::string type = fields.Text("type");
  Message message;
  if (type == "load") {
    message = ParseLoad(fields);
  } else if (type == "loaded") {
    message = ParseLoaded(fields);
  } else if (type == "share_weights") {
    message = ShareWeights{};
  } else if (type == "use_weights") {
    message = UseWeights{};
  } else if (type == "weights") {
    message = WeightsTold{fields.Number("bytes"), fields.Text("why")};
  } else if (type == "attach") {
    message = ParseAttach(fields);
  } else if (type == "ready") {
    message = ParseReady(fields);
  } else if (type == "failure") {
    message = ParseFailure(fields);
  } else if (type == "slabs_added") {
    message = SlabsAdded{fields.Small("number"), fields.Number("bytes")};
  } else if (type == "slabs_mapped") {
    message = SlabsMapped{fields.Small("number")};
  } else if (type == "slabs_removed") {
    message = SlabsRemoved{fields.Small("number")};
  } else if (type == "slabs_unmapped") {
    message = SlabsUnmapped{fields.Small("number")};
  } else {
    return absl::InvalidArgumentError("a control message of unknown type");
  }
  if (!fields.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("a malformed '", type, "' control message"));
  }
  return message;
}

absl::StatusOr<std::string> FrameOf(const Message& message, size_t fd_count) {
  const Json object = std::visit([](const auto& body) { return Body(body); }, message);
  // Bytes that are not UTF-8 are replaced: dump() would throw.
  const std::string body = object.dump(-1, ' ', false, Json::error_handler_t::replace);
  const FrameHeader header{kMagic, kLinkVersion, static_cast<uint32_t>(body.size())};
  std::string frame(reinterpret_cast<const char*>(&header), sizeof(header));
  frame += body;
  if (body.size() > kMaxMessageBytes || fd_count > kMaxMessageFds) {
    return absl::InvalidArgumentError("a control message is too large");
  }
  return frame;
}

}  // namespace

absl::Status SendMessage(int socket, const Message& message, absl::Span<const int> fds) {
  const absl::StatusOr<std::string> frame = FrameOf(message, fds.size());
  return frame.ok() ? platform::SendWithFds(socket, *frame, fds) : frame.status();
}

absl::Status MessageWriter::Queue(const Message& message, absl::Span<const int> fds) {
  absl::StatusOr<std::string> bytes = FrameOf(message, fds.size());
  if (!bytes.ok()) return bytes.status();
  if (unsent_bytes_ + bytes->size() > kMaxUnsentBytes) {
    return absl::ResourceExhaustedError("the control socket is not read");
  }
  Frame frame;
  for (const int fd : fds) {
    frame.fds.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!frame.fds.back().valid()) return absl::ErrnoToStatus(errno, "cannot copy a descriptor");
  }
  frame.bytes = *std::move(bytes);
  unsent_bytes_ += frame.bytes.size();
  frames_.push_back(std::move(frame));
  return absl::OkStatus();
}

absl::Status MessageWriter::Flush(int socket) {
  while (!frames_.empty()) {
    Frame& frame = frames_.front();
    std::vector<int> fds;
    for (const UniqueFd& fd : frame.fds) fds.push_back(fd.get());
    const absl::Span<const char> rest = absl::MakeConstSpan(frame.bytes).subspan(frame.sent);
    const absl::StatusOr<size_t> sent = platform::SendSomeWithFds(socket, rest, fds);
    if (!sent.ok()) return sent.status();
    if (*sent == 0) return absl::OkStatus();
    frame.fds.clear();
    frame.sent += *sent;
    unsent_bytes_ -= *sent;
    if (frame.sent == frame.bytes.size()) frames_.pop_front();
  }
  return absl::OkStatus();
}

absl::StatusOr<MessageReader::Received> MessageReader::Read(int socket) {
  // Never reads beyond this message: descriptors arrive with the bytes that they were sent with,
  // and a poll reports only bytes that are still in the socket.
  FrameHeader header{};
  size_t whole_bytes = sizeof(header);
  if (buffer_.size() >= sizeof(header)) {
    std::memcpy(&header, buffer_.data(), sizeof(header));
    whole_bytes += header.length;
  }
  char chunk[16 << 10];
  const size_t wanted_bytes = std::min(sizeof(chunk), whole_bytes - buffer_.size());
  const absl::StatusOr<size_t> got =
      platform::ReceiveWithFds(socket, absl::MakeSpan(chunk, wanted_bytes), &fds_);
  if (!got.ok()) return got.status();
  if (*got == 0) return absl::UnavailableError("the control socket was closed");
  buffer_.append(chunk, *got);
  if (fds_.size() > kMaxMessageFds) return absl::InvalidArgumentError("too many descriptors");
  if (buffer_.size() < sizeof(header)) return absl::OutOfRangeError("the header is not whole yet");

  std::memcpy(&header, buffer_.data(), sizeof(header));
  if (header.magic != kMagic || header.version != kLinkVersion ||
      header.length > kMaxMessageBytes) {
    return absl::InvalidArgumentError("a control message of another version");
  }
  if (buffer_.size() < sizeof(header) + header.length) {
    return absl::OutOfRangeError("the message is not whole yet");
  }
  absl::StatusOr<Message> message = Parse(absl::string_view(buffer_).substr(sizeof(header)));
  buffer_.clear();
  if (!message.ok()) return message.status();
  return Received{*std::move(message), std::exchange(fds_, {})};
}

}  // namespace mpsd
