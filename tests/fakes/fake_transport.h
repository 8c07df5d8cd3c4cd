// FakeTransport: a call of no transport, which does with its exchange what the test says.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/exchange/infer_exchange.h"

namespace mpsd {

// Remembers what its exchange asks of it, in words, in order. Thread-compatible.
class FakeTransport final : public ExchangeTransport {
 public:
  explicit FakeTransport(const ExchangeContext* context,
                         InferExchange::Answers answers = InferExchange::Answers::kOne)
      : exchange(context, this, answers) {}

  absl::Status Read(InferMessage* message, TensorForms* forms) override {
    Note("read");
    if (!read_status.ok()) return read_status;
    message->model = model;
    message->id = id;
    message->inputs.clear();
    message->inputs.resize(1);
    message->outputs = {"y"};
    *forms = {classes, regions};
    return absl::OkStatus();
  }

  bool ReadBeginning(const RequestBeginning&, InferMessage* message, TensorForms* forms) override {
    return reads_beginning && Read(message, forms).ok();
  }

  absl::Status MayUse(absl::string_view name) override {
    Note(absl::StrCat("may use ", name));
    return may_use;
  }

  uint32_t Tenant() override { return tenant; }
  uint64_t RulesVersion() override { return rules_version; }
  ConnectionId Connection() override { return connection; }
  void DropPayloads() override { Note("drop payloads"); }
  void DropFields() override { ++fields_dropped; }
  void Resume() override { Note("resume"); }

  absl::Status Write(const Answer& answer, bool is_last) override {
    Note(is_last ? "write last" : "write part");
    if (!takes_notes) return write_status;
    written.clear();
    for (const AnswerOutput& output : answer.outputs) written.emplace_back(output.bytes);
    return write_status;
  }

  void SendPart() override { Note("send part"); }
  void SendLast() override { Ended("send last"); }
  void SendNoMore() override { Ended("send no more"); }
  void SendError(const absl::Status& status) override {
    Ended(takes_notes ? absl::StrCat("send error ", status.ToString()) : "");
  }

  // What was noted since the last call.
  std::vector<std::string> TakeNotes() { return std::exchange(notes_, {}); }

  // What the request says.
  std::string model = "m";
  std::string id;
  std::vector<ClassRequest> classes;
  std::vector<RegionUse> regions;
  absl::Status read_status;
  bool reads_beginning = true;

  absl::Status may_use;
  uint32_t tenant = 0;
  uint64_t rules_version = 0;
  ConnectionId connection;
  absl::Status write_status;
  int fields_dropped = 0;
  std::function<void()> when_ended;  // called while the ending is being sent
  bool takes_notes = true;           // false: nothing here takes memory from the heap
  std::vector<std::string> written;  // the outputs' bytes of the answer that was written last

  InferExchange exchange;

 private:
  void Note(absl::string_view text) {
    if (takes_notes) notes_.emplace_back(text);
  }

  void Ended(absl::string_view text) {
    Note(text);
    if (when_ended) when_ended();
  }

  std::vector<std::string> notes_;
};

}  // namespace mpsd
