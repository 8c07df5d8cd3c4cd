// MessageBuilder: what a client sent, put together by a test.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "server/request/infer_message.h"

namespace mpsd {

// Thread-compatible. Owns the bytes that the message's views point into.
class MessageBuilder {
 public:
  MessageBuilder() { message_.model = "m"; }

  // An input with `bytes` bytes of raw contents.
  MessageBuilder& Raw(const std::string& name, const std::string& datatype,
                      std::vector<int64_t> dims, uint64_t bytes) {
    InputMessage& input = Declare(name, datatype, std::move(dims));
    input.has_data = true;
    input.payload.Append(texts_.emplace_back(bytes, 'x'));
    ++message_.raw_count;
    return *this;
  }

  // The last bytes of the last input are still on their way.
  MessageBuilder& Arrives(uint64_t bytes) {
    Payload& payload = message_.inputs.back().payload;
    payload.pieces.back().remove_suffix(bytes);
    payload.arriving_bytes = bytes;
    return *this;
  }

  // An input of BYTES with these elements as raw contents, of the shape [n,1].
  MessageBuilder& Strings(const std::string& name, const std::vector<std::string>& elements) {
    InputMessage& input = Declare(name, "BYTES", {static_cast<int64_t>(elements.size()), 1});
    std::string& bytes = texts_.emplace_back();
    for (const std::string& element : elements) {
      const auto length = static_cast<uint32_t>(element.size());
      bytes.append(reinterpret_cast<const char*>(&length), sizeof(length)).append(element);
    }
    input.has_data = true;
    input.payload.Append(bytes);
    ++message_.raw_count;
    return *this;
  }

  // The same with typed contents, or with an error that they have.
  MessageBuilder& Typed(const std::string& name, const std::string& datatype,
                        std::vector<int64_t> dims, uint64_t bytes, const std::string& error = "") {
    InputMessage& input = Declare(name, datatype, std::move(dims));
    input.has_typed = true;
    input.typed_error = error;
    if (!error.empty()) return *this;
    input.has_data = true;
    input.payload.Append(texts_.emplace_back(bytes, 'x'));
    return *this;
  }

  // How its texts are to be cut.
  MessageBuilder& Texts(const TextWishes& wishes) {
    message_.texts = wishes;
    return *this;
  }

  // An input without data.
  InputMessage& Declare(const std::string& name, const std::string& datatype,
                        std::vector<int64_t> dims) {
    InputMessage& input = message_.inputs.emplace_back();
    input.name = texts_.emplace_back(name);
    input.datatype = texts_.emplace_back(datatype);
    input.dims = dims_.emplace_back(std::move(dims));
    return input;
  }

  MessageBuilder& Wanted(const std::string& output) {
    message_.outputs.push_back(texts_.emplace_back(output));
    return *this;
  }

  MessageBuilder& Id(const std::string& id) {
    message_.id = texts_.emplace_back(id);
    return *this;
  }

  InferMessage* operator->() { return &message_; }
  const InferMessage& operator*() const { return message_; }

 private:
  InferMessage message_;
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> dims_;
};

}  // namespace mpsd
