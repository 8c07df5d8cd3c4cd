#include "proto/link/messages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr uint32_t kMagic = 0x4453504d;  // "MPSD", as it stands in every message

std::string Frame(const std::string& body, uint32_t magic = kMagic,
                  uint32_t version = kLinkVersion) {
  const uint32_t header[] = {magic, version, static_cast<uint32_t>(body.size())};
  std::string frame(reinterpret_cast<const char*>(header), sizeof(header));
  return frame + body;
}

ModelSpec SomeSpec() {
  ModelSpec spec;
  spec.max_batch_size = 8;
  spec.inputs = {{"ids", DataType::kInt64, {-1}}, {"mask", DataType::kBool, {-1, 2}}};
  spec.outputs = {{"vector", DataType::kFp32, {384}}};
  spec.pad = {{"ids", 0, {16, 32, 64}, 1, {}}};
  return spec;
}

LoadOrder SomeLoadOrder() {
  LoadOrder order;
  order.folder_files = {{"1_Pooling/config.json", 7, {}}, {"m.safetensors", 9, {1, 9, 3}}};
  order.model = "minilm";
  order.format = ModelFormat::kTorchScript;
  order.path = "/models/a b \"c\"\\é.pt";
  order.stamp = {UINT64_MAX, 1ULL << 40, -1};
  order.device = "cuda:0";
  order.warmup = WarmUp::kAll;
  order.precision = Precision::kTf32;
  order.sandbox = SandboxLevel::kStrict;
  order.epoch = UINT32_MAX;
  order.lanes = 4;
  order.lanes_compared = true;
  order.threads = 2;
  order.cores = 7;
  order.keep_warm_ns = 30 * kNsPerSecond;
  order.spec = SomeSpec();
  order.inputs_by_name = true;
  order.parameters = {{"delay", "5ms"}, {"", "empty key"}};
  return order;
}

// One line of the control socket: what `sender()` writes, `Read()` reads.
class Messages : public testing::Test {
 protected:
  int sender() const { return sockets_.first.get(); }
  int receiver() const { return sockets_.second.get(); }

  void SendBytes(const std::string& bytes, absl::Span<const int> fds = {}) {
    ASSERT_TRUE(platform::SendWithFds(sender(), bytes, fds).ok());
  }
  // As a process that heeds no bound on descriptors.
  void SendByHand(const std::string& bytes, const std::vector<int>& fds) {
    std::vector<char> control(CMSG_SPACE(fds.size() * sizeof(int)));
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = static_cast<decltype(message.msg_controllen)>(control.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
    ASSERT_EQ(sendmsg(sender(), &message, 0), static_cast<ssize_t>(bytes.size()));
  }
  void HangUp() { sockets_.first.Reset(); }

  // Reads until there is a whole message or an error. REQUIRES: one of them is there.
  absl::StatusOr<MessageReader::Received> Read() {
    for (;;) {
      absl::StatusOr<MessageReader::Received> received = reader_.Read(receiver());
      if (!absl::IsOutOfRange(received.status())) return received;
    }
  }

  // The reader's verdict on these bytes, after which nothing more comes.
  absl::Status ReadBytes(const std::string& bytes) {
    SendBytes(bytes);
    HangUp();
    return Read().status();
  }

  // Sends the message and gives back what was read.
  template <typename T>
  T Echo(const T& message) {
    EXPECT_TRUE(SendMessage(sender(), message).ok());
    absl::StatusOr<MessageReader::Received> received = Read();
    EXPECT_TRUE(received.ok()) << received.status();
    if (!received.ok() || !std::holds_alternative<T>(received->message)) {
      ADD_FAILURE() << "no such message came";
      return T{};
    }
    EXPECT_TRUE(received->fds.empty());
    return std::get<T>(received->message);
  }

  bool Readable() const {
    pollfd waited{receiver(), POLLIN, 0};
    return poll(&waited, 1, 0) == 1;
  }

  std::pair<UniqueFd, UniqueFd> sockets_ = platform::SocketPair().value();
  MessageReader reader_;
};

// ---- every message arrives as it was sent ----

TEST_F(Messages, CarryALoadOrder) {
  const LoadOrder sent = SomeLoadOrder();
  const LoadOrder got = Echo(sent);
  EXPECT_EQ(got.model, sent.model);
  EXPECT_EQ(got.format, sent.format);
  EXPECT_EQ(got.path, sent.path);
  EXPECT_EQ(got.folder_files, sent.folder_files);
  EXPECT_EQ(got.stamp, sent.stamp);
  EXPECT_EQ(got.device, sent.device);
  EXPECT_EQ(got.warmup, sent.warmup);
  EXPECT_EQ(got.precision, sent.precision);
  EXPECT_EQ(got.sandbox, sent.sandbox);
  EXPECT_EQ(got.epoch, sent.epoch);
  EXPECT_EQ(got.lanes, sent.lanes);
  EXPECT_EQ(got.lanes_compared, sent.lanes_compared);
  EXPECT_EQ(got.threads, sent.threads);
  EXPECT_EQ(got.keep_warm_ns, sent.keep_warm_ns);
  EXPECT_EQ(got.spec, sent.spec);
  EXPECT_EQ(got.inputs_by_name, sent.inputs_by_name);
  EXPECT_EQ(got.parameters, sent.parameters);
}

TEST_F(Messages, CarryALoadOrderThatSaysNothing) {
  const LoadOrder got = Echo(LoadOrder{});
  EXPECT_EQ(got.spec, ModelSpec{});
  EXPECT_TRUE(got.parameters.empty());
}

TEST_F(Messages, CarryALoadReport) {
  LoadReport sent;
  sent.spec = SomeSpec();
  sent.device = "cpu";
  const LoadReport got = Echo(sent);
  EXPECT_EQ(got.spec, sent.spec);
  EXPECT_EQ(got.device, sent.device);
}

TEST_F(Messages, CarryHowManyLanesAWorkerRuns) {
  LoadReport sent;
  sent.spec = SomeSpec();
  sent.lanes = 1;
  sent.demotion = "two were one too many";
  sent.precision = Precision::kBf16;
  sent.precision_note = "it agrees";
  const LoadReport got = Echo(sent);
  EXPECT_EQ(got.lanes, sent.lanes);
  EXPECT_EQ(got.demotion, sent.demotion);
  EXPECT_EQ(got.precision, sent.precision);
  EXPECT_EQ(got.precision_note, sent.precision_note);
}

TEST_F(Messages, CarryWhatAWorkerRunsItsModelWith) {
  LoadReport sent;
  sent.spec = SomeSpec();
  EXPECT_EQ(Echo(sent).runtime.driver_guard, DriverGuard::kNone);
  sent.runtime = {"torch 2.9.1", "patched", "/opt/torch/lib/libtorch_cpu.dylib", DriverGuard::kHeld,
                  InputMemory::kInPlace};
  const WorkerRuntime got = Echo(sent).runtime;
  EXPECT_EQ(got.name, sent.runtime.name);
  EXPECT_EQ(got.kind, sent.runtime.kind);
  EXPECT_EQ(got.path, sent.runtime.path);
  EXPECT_EQ(got.driver_guard, DriverGuard::kHeld);
  EXPECT_EQ(got.input_memory, InputMemory::kInPlace);
}

TEST_F(Messages, CarryTheLabelsOfClasses) {
  LoadReport sent;
  sent.spec = SomeSpec();
  sent.labels = {"anger", "", "joy \u00e9"};
  EXPECT_EQ(Echo(sent).labels, sent.labels);
}

TEST_F(Messages, CarryWhatIsSaidOfWeights) {
  LoadReport report;
  report.spec = SomeSpec();
  EXPECT_EQ(Echo(report).weight_bytes, 0u);
  report.weight_bytes = UINT64_MAX;
  EXPECT_EQ(Echo(report).weight_bytes, UINT64_MAX);
  Echo(ShareWeights{});
  Echo(UseWeights{});
  const WeightsTold told = Echo(WeightsTold{7, "no room"});
  EXPECT_EQ(told.bytes, 7u);
  EXPECT_EQ(told.why, "no room");
}

TEST_F(Messages, CarryAnAttachOrder) {
  AttachOrder sent;
  sent.layout_hash = UINT64_MAX;
  sent.mailbox_bytes = 1ULL << 40;
  sent.worker_segment_bytes = 4096;
  sent.slab_segment_bytes = {1, 0, UINT64_MAX};
  const AttachOrder got = Echo(sent);
  EXPECT_EQ(got.layout_hash, sent.layout_hash);
  EXPECT_EQ(got.mailbox_bytes, sent.mailbox_bytes);
  EXPECT_EQ(got.worker_segment_bytes, sent.worker_segment_bytes);
  EXPECT_EQ(got.slab_segment_bytes, sent.slab_segment_bytes);
  EXPECT_TRUE(Echo(AttachOrder{}).slab_segment_bytes.empty());
}

TEST_F(Messages, CarryWhatIsSaidOfSlabSegments) {
  const SlabsAdded added = Echo(SlabsAdded{63, UINT64_MAX});
  EXPECT_EQ(added.number, 63u);
  EXPECT_EQ(added.bytes, UINT64_MAX);
  EXPECT_EQ(Echo(SlabsMapped{1}).number, 1u);
  EXPECT_EQ(Echo(SlabsRemoved{2}).number, 2u);
  EXPECT_EQ(Echo(SlabsUnmapped{UINT32_MAX}).number, UINT32_MAX);
}

TEST_F(Messages, CarryReady) { Echo(Ready{}); }

TEST_F(Messages, CarryAFailure) {
  EXPECT_EQ(Echo(Failure{"no such file: \"x\"\n\ttry --input"}).text,
            "no such file: \"x\"\n\ttry --input");
  EXPECT_FALSE(Echo(Failure{"no memory"}).lasting);
  EXPECT_TRUE(Echo(Failure{"no model", true}).lasting);
}

TEST_F(Messages, ReplaceWhatIsNoText) {
  EXPECT_EQ(Echo(Failure{"a\xff"
                         "b"})
                .text,
            "a\xEF\xBF\xBD"
            "b");
}

TEST_F(Messages, CarryWhatIsLargerThanAnySocketBuffer) {
  const Failure sent{std::string(kMaxMessageBytes - 64, 'x')};
  std::thread writer([&] { EXPECT_TRUE(SendMessage(sender(), sent).ok()); });
  const absl::StatusOr<MessageReader::Received> received = Read();
  writer.join();
  ASSERT_TRUE(received.ok()) << received.status();
  EXPECT_EQ(std::get<Failure>(received->message).text, sent.text);
}

TEST_F(Messages, ThatAreTooLargeAreNotSent) {
  EXPECT_EQ(SendMessage(sender(), Failure{std::string(kMaxMessageBytes, 'x')}).code(),
            absl::StatusCode::kInvalidArgument);
  const std::vector<int> fds(kMaxMessageFds + 1, sender());
  EXPECT_EQ(SendMessage(sender(), Failure{"x"}, fds).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(Readable());
}

TEST_F(Messages, CannotBeSentToWhoIsGone) {
  sockets_.second.Reset();
  EXPECT_FALSE(SendMessage(sender(), Ready{}).ok());
}

// ---- descriptors ----

ino_t FileOf(int fd) {
  struct stat info {};
  EXPECT_EQ(fstat(fd, &info), 0);
  return info.st_ino;
}

class MessagesWithDescriptors : public Messages {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    read_end_.Reset(ends[0]);
    ASSERT_EQ(close(ends[1]), 0);
    other_ = std::move(platform::SocketPair().value().first);
  }

  UniqueFd read_end_;
  UniqueFd other_;
};

TEST_F(MessagesWithDescriptors, CarryThemInTheirOrder) {
  ASSERT_TRUE(SendMessage(sender(), AttachOrder{}, {read_end_.get(), other_.get()}).ok());
  const MessageReader::Received received = Read().value();
  ASSERT_EQ(received.fds.size(), 2u);
  EXPECT_EQ(FileOf(received.fds[0].get()), FileOf(read_end_.get()));
  EXPECT_EQ(FileOf(received.fds[1].get()), FileOf(other_.get()));
  EXPECT_NE(fcntl(received.fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(MessagesWithDescriptors, CarryAsManyAsAreAllowed) {
  const std::vector<int> fds(kMaxMessageFds, other_.get());
  ASSERT_TRUE(SendMessage(sender(), AttachOrder{}, fds).ok());
  const MessageReader::Received received = Read().value();
  EXPECT_EQ(received.fds.size(), kMaxMessageFds);
}

TEST_F(MessagesWithDescriptors, AreRefusedWithTooMany) {
  const std::vector<int> fds(kMaxMessageFds + 1, other_.get());
  SendByHand(Frame(R"({"type":"ready"})"), fds);
  EXPECT_EQ(Read().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(MessagesWithDescriptors, AreRefusedWithTooManyInPieces) {
  const std::vector<int> fds(kMaxMessageFds / 2 + 1, other_.get());
  const std::string frame = Frame(R"({"type":"ready"})");
  SendBytes(frame.substr(0, 3), fds);
  SendBytes(frame.substr(3, 4), fds);
  EXPECT_EQ(Read().status().code(), absl::StatusCode::kInvalidArgument);
}

// Both lie in the socket before the first is read.
TEST_F(MessagesWithDescriptors, KeepTheirOwnWhenTheyComeTogether) {
  ASSERT_TRUE(SendMessage(sender(), Ready{}).ok());
  ASSERT_TRUE(SendMessage(sender(), AttachOrder{}, {read_end_.get()}).ok());
  ASSERT_TRUE(SendMessage(sender(), AttachOrder{}, {other_.get()}).ok());
  absl::StatusOr<MessageReader::Received> received = Read();
  ASSERT_TRUE(received.ok()) << received.status();
  EXPECT_TRUE(received->fds.empty());
  for (const int fd : {read_end_.get(), other_.get()}) {
    received = Read();
    ASSERT_TRUE(received.ok()) << received.status();
    ASSERT_EQ(received->fds.size(), 1u);
    EXPECT_EQ(FileOf(received->fds[0].get()), FileOf(fd));
  }
}

// ---- a stream has no borders ----

TEST_F(Messages, ArriveInSingleBytes) {
  ASSERT_TRUE(SendMessage(sender(), SomeLoadOrder()).ok());
  std::string frame(64 << 10, '\0');
  frame.resize(static_cast<size_t>(recv(receiver(), frame.data(), frame.size(), 0)));
  for (size_t i = 0; i < frame.size(); ++i) {
    SendBytes(frame.substr(i, 1));
    const absl::StatusOr<MessageReader::Received> received = reader_.Read(receiver());
    if (i + 1 < frame.size()) {
      ASSERT_TRUE(absl::IsOutOfRange(received.status())) << i << received.status();
      continue;
    }
    ASSERT_TRUE(received.ok()) << received.status();
    EXPECT_EQ(std::get<LoadOrder>(received->message).spec, SomeSpec());
  }
}

TEST_F(Messages, ArriveOneAfterTheOtherWhenTheyComeTogether) {
  ASSERT_TRUE(SendMessage(sender(), SlabsMapped{1}).ok());
  ASSERT_TRUE(SendMessage(sender(), Failure{"two"}).ok());
  ASSERT_TRUE(SendMessage(sender(), SlabsMapped{3}).ok());
  EXPECT_EQ(std::get<SlabsMapped>(Read()->message).number, 1u);
  EXPECT_EQ(std::get<Failure>(Read()->message).text, "two");
  EXPECT_EQ(std::get<SlabsMapped>(Read()->message).number, 3u);
  EXPECT_FALSE(Readable());
}

// A reader behind a poll is called once for each time that the socket is readable.
TEST_F(Messages, ThatWaitAreAnnouncedByThePoll) {
  ASSERT_TRUE(SendMessage(sender(), Ready{}).ok());
  ASSERT_TRUE(SendMessage(sender(), Ready{}).ok());
  int messages = 0;
  while (Readable()) messages += reader_.Read(receiver()).ok() ? 1 : 0;
  EXPECT_EQ(messages, 2);
}

TEST_F(Messages, EndWithTheSocket) {
  ASSERT_TRUE(SendMessage(sender(), Ready{}).ok());
  HangUp();
  EXPECT_TRUE(Read().ok());
  EXPECT_TRUE(absl::IsUnavailable(Read().status()));
}

TEST_F(Messages, ThatAreCutOffAreNone) {
  const std::string frame = Frame(R"({"type":"ready"})");
  for (const size_t bytes : {size_t{1}, size_t{11}, size_t{12}, size_t{13}, frame.size() - 1}) {
    sockets_ = platform::SocketPair().value();
    reader_ = MessageReader();
    SendBytes(frame.substr(0, bytes));
    HangUp();
    EXPECT_TRUE(absl::IsUnavailable(Read().status())) << bytes;
  }
}

// ---- what is no message of this version ----

TEST_F(Messages, RefuseAForeignHeader) {
  EXPECT_EQ(ReadBytes("GET / HTTP/1.1\r\n\r\n").code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(Messages, RefuseAnotherMagic) {
  EXPECT_EQ(ReadBytes(Frame("{}", kMagic + 1)).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(Messages, RefuseAnotherVersion) {
  const std::string body = R"({"type":"ready"})";
  EXPECT_TRUE(ReadBytes(Frame(body)).ok());
  sockets_ = platform::SocketPair().value();
  EXPECT_EQ(ReadBytes(Frame(body, kMagic, kLinkVersion + 1)).code(),
            absl::StatusCode::kInvalidArgument);
}

// It is refused by its header: nobody waits for, or makes room for, what it announces.
TEST_F(Messages, RefuseALengthBeyondTheLimit) {
  for (const uint32_t length : {kMaxMessageBytes + 1, UINT32_MAX}) {
    sockets_ = platform::SocketPair().value();
    reader_ = MessageReader();
    const uint32_t header[] = {kMagic, kLinkVersion, length};
    SendBytes(std::string(reinterpret_cast<const char*>(header), sizeof(header)));
    EXPECT_EQ(reader_.Read(receiver()).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

struct BodyCase {
  const char* name;
  std::string body;
};

class ForeignBody : public Messages, public testing::WithParamInterface<BodyCase> {};

TEST_P(ForeignBody, IsRefused) {
  EXPECT_EQ(ReadBytes(Frame(GetParam().body)).code(), absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(
    Each, ForeignBody,
    testing::Values(
        BodyCase{"Empty", ""}, BodyCase{"NotJson", "warm and ready"},
        BodyCase{"CutJson", R"({"type":"ready")"}, BodyCase{"TwoObjects", R"({"type":"ready"}{})"},
        BodyCase{"List", R"(["ready"])"}, BodyCase{"Text", R"("ready")"}, BodyCase{"Null", "null"},
        BodyCase{"NoType", R"({"text":"ready"})"}, BodyCase{"TypeOfAnotherType", R"({"type":5})"},
        BodyCase{"UnknownType", R"({"type":"unload"})"},
        BodyCase{"NotUtf8", "{\"type\":\"failure\",\"text\":\"\xff\"}"},
        BodyCase{"FlagOfAnotherType", R"({"type":"failure","text":"","lasting":1})"},
        BodyCase{"DeepNest", std::string(64 << 10, '[')},
        BodyCase{"NegativeNumber", R"({"type":"slabs_mapped","number":-1})"},
        BodyCase{"NumberThatOverflowsItsField", R"({"type":"slabs_mapped","number":4294967296})"},
        BodyCase{"NumberThatOverflows", R"({"type":"slabs_mapped","number":18446744073709551616})"},
        BodyCase{"Fraction", R"({"type":"slabs_mapped","number":1.5})"}),
    [](const auto& tested) { return tested.param.name; });

// ---- every field of every message is looked at ----

// Whole, well-formed bodies; each is broken below at each of its fields.
const std::vector<Json>& Bodies() {
  static const auto* const bodies =
      new std::vector<Json>{{{"type", "load"},
                             {"model", "m"},
                             {"format", "synthetic"},
                             {"path", "p"},
                             {"device", "cpu"},
                             {"warmup", "none"},
                             {"sandbox", "basic"},
                             {"epoch", 1},
                             {"lanes", 2},
                             {"threads", 3},
                             {"cores", 6},
                             {"spec", ToJson(SomeSpec())},
                             {"parameters", {{"a", "b"}}}},
                            {{"type", "loaded"}, {"spec", ToJson(SomeSpec())}, {"device", "cpu"}},
                            {{"type", "attach"},
                             {"layout_hash", 1},
                             {"mailbox_bytes", 2},
                             {"worker_segment_bytes", 3},
                             {"slab_segment_bytes", {4, 5}}},
                            {{"type", "ready"}},
                            {{"type", "failure"}, {"text", "why"}}};
  return *bodies;
}

class EachField : public Messages {
 protected:
  // A fresh reader's verdict on this body.
  absl::Status ReadBody(const Json& body) {
    sockets_ = platform::SocketPair().value();
    reader_ = MessageReader();
    return ReadBytes(Frame(body.dump()));
  }
};

TEST_F(EachField, IsTakenWhenItIsRight) {
  for (const Json& body : Bodies()) EXPECT_TRUE(ReadBody(body).ok()) << body;
}

TEST_F(EachField, IsMissed) {
  for (const Json& body : Bodies()) {
    for (const auto& item : body.items()) {
      Json without = body;
      without.erase(item.key());
      EXPECT_EQ(ReadBody(without).code(), absl::StatusCode::kInvalidArgument) << without;
    }
  }
}

TEST_F(EachField, IsRefusedWithAnotherType) {
  for (const Json& body : Bodies()) {
    for (const auto& item : body.items()) {
      Json other = body;
      other[item.key()] = true;
      EXPECT_EQ(ReadBody(other).code(), absl::StatusCode::kInvalidArgument) << other;
    }
  }
}

TEST_F(EachField, IsRefusedWithANameThatNamesNothing) {
  for (const char* field : {"format", "warmup", "sandbox"}) {
    Json load = Bodies()[0];
    load[field] = "unheard";
    EXPECT_EQ(ReadBody(load).code(), absl::StatusCode::kInvalidArgument) << field;
  }
}

TEST_F(EachField, OfARuntimeIsLookedAt) {
  const Json runtime = {{"name", "torch 2.11.0"},
                        {"kind", "stock"},
                        {"path", "p"},
                        {"driver_guard", "none"},
                        {"input_memory", "none"}};
  Json loaded = Bodies()[1];
  loaded["runtime"] = runtime;
  EXPECT_TRUE(ReadBody(loaded).ok());
  for (const auto& item : runtime.items()) {
    loaded["runtime"] = runtime;
    loaded["runtime"].erase(item.key());
    EXPECT_FALSE(ReadBody(loaded).ok()) << loaded;
    loaded["runtime"][item.key()] = 1;
    EXPECT_FALSE(ReadBody(loaded).ok()) << loaded;
  }
  for (const Json& other : {Json("stock"), Json(), Json::array()}) {
    loaded["runtime"] = other;
    EXPECT_FALSE(ReadBody(loaded).ok()) << loaded;
  }
  loaded["runtime"] = runtime;
  for (const char* choice : {"driver_guard", "input_memory"}) {
    loaded["runtime"] = runtime;
    loaded["runtime"][choice] = "unheard";
    EXPECT_FALSE(ReadBody(loaded).ok()) << choice;
  }
}

TEST_F(EachField, IsRefusedWithAPartOfAnotherType) {
  Json load = Bodies()[0];
  load["parameters"]["a"] = 1;
  EXPECT_FALSE(ReadBody(load).ok());
  load = Bodies()[0];
  load["spec"]["inputs"][0]["datatype"] = "FP33";
  EXPECT_FALSE(ReadBody(load).ok());
  for (const Json& stamp : {Json({1, 2}), Json({1, 2, 3, 4}), Json({1, 2, -3}), Json("now")}) {
    load = Bodies()[0];
    load["stamp"] = stamp;
    EXPECT_FALSE(ReadBody(load).ok()) << stamp;
  }
  load = Bodies()[0];
  load["lanes"] = 1ULL << 32;
  EXPECT_FALSE(ReadBody(load).ok());
  Json attach = Bodies()[2];
  attach["slab_segment_bytes"][1] = -1;
  EXPECT_FALSE(ReadBody(attach).ok());
  attach["slab_segment_bytes"] = Json::object();
  EXPECT_FALSE(ReadBody(attach).ok());
}

// ---- a writer never waits for its reader ----

TEST_F(Messages, AWriterKeepsWhatIsNotReadAndSendsItLater) {
  fcntl(sender(), F_SETFL, O_NONBLOCK);
  MessageWriter writer;
  LoadOrder order = SomeLoadOrder();
  order.parameters["large"] = std::string(1 << 20, 'x');
  ASSERT_TRUE(writer.Queue(order).ok());
  ASSERT_TRUE(writer.Queue(AttachOrder{1, 2, 3, {4}}, std::vector<int>{receiver()}).ok());
  ASSERT_TRUE(writer.Flush(sender()).ok());
  EXPECT_FALSE(writer.empty()) << "a socket holds no megabyte";
  absl::StatusOr<MessageReader::Received> received = absl::OutOfRangeError("");
  while (absl::IsOutOfRange(received.status())) {
    received = reader_.Read(receiver());
    ASSERT_TRUE(writer.Flush(sender()).ok());
  }
  ASSERT_TRUE(received.ok()) << received.status();
  EXPECT_EQ(std::get<LoadOrder>(received->message).parameters["large"].size(), 1U << 20);
  EXPECT_TRUE(writer.empty());
  received = Read();
  ASSERT_TRUE(received.ok()) << received.status();
  EXPECT_EQ(std::get<AttachOrder>(received->message).slab_segment_bytes[0], 4U);
  EXPECT_EQ(received->fds.size(), 1U);
}

TEST_F(Messages, AWriterHoldsSoMuchAndNoMore) {
  fcntl(sender(), F_SETFL, O_NONBLOCK);
  MessageWriter writer;
  LoadOrder order = SomeLoadOrder();
  order.parameters["large"] = std::string(1 << 20, 'x');
  absl::Status status;
  int queued = 0;
  while (status.ok() && queued < 100) {
    status = writer.Queue(order);
    ASSERT_TRUE(writer.Flush(sender()).ok());
    ++queued;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_LT(queued, 10);
}

TEST_F(Messages, ReadingASocketThatDoesNotBlockAndHoldsNothing) {
  fcntl(receiver(), F_SETFL, O_NONBLOCK);
  EXPECT_EQ(reader_.Read(receiver()).status().code(), absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace mpsd
