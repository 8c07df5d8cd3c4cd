#include "server/http/http_parser.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace mpsd {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr HttpFault kSound;

absl::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

bool HasFoldedLine(absl::string_view head) {
  return absl::StrContains(head, "\n ") || absl::StrContains(head, "\n\t");
}

// "http://host/path" gives "/path".
absl::string_view WithoutAuthority(absl::string_view target) {
  const size_t scheme = target.find("://");
  if (target.empty() || target[0] == '/' || scheme == absl::string_view::npos) return target;
  const size_t path = target.find('/', scheme + 3);
  return path == absl::string_view::npos ? "/" : target.substr(path);
}

// A body that does not end in chunks has no end.
HttpFault CheckEncoding(absl::string_view encoding) {
  const size_t comma = encoding.rfind(',');
  const absl::string_view last =
      absl::StripAsciiWhitespace(encoding.substr(comma == absl::string_view::npos ? 0 : comma + 1));
  if (!absl::EqualsIgnoreCase(last, "chunked")) {
    return {400, "the last Transfer-Encoding is not chunked"};
  }
  if (comma != absl::string_view::npos) return {501, "the only Transfer-Encoding is chunked"};
  return kSound;
}

HttpFault CheckLength(const HttpRequest& request, const HttpFraming& framing) {
  const size_t lengths = request.CountOf("content-length");
  const size_t encodings = request.CountOf("transfer-encoding");
  if (lengths > 1 || (lengths == 1 && absl::StrContains(request.Header("content-length"), ','))) {
    return {400, "the request has more than one Content-Length"};
  }
  if (lengths == 1 && encodings > 0) {
    return {400, "the request has a Content-Length and a Transfer-Encoding"};
  }
  if (encodings == 0) return kSound;
  if (encodings > 1) return {400, "the request has more than one Transfer-Encoding"};
  if (framing.is_10) return {400, "a request of HTTP/1.0 has no Transfer-Encoding"};
  return CheckEncoding(request.Header("transfer-encoding"));
}

HttpFault CheckHead(const HttpRequest& request, HttpFraming* framing) {
  if (request.method == "CONNECT") return {501, "this server is no proxy"};
  if (!framing->is_10 && request.CountOf("host") != 1) {
    return {400, "a request of HTTP/1.1 has one Host"};
  }
  if (const absl::string_view expected = request.Header("expect"); !expected.empty()) {
    if (!absl::EqualsIgnoreCase(expected, "100-continue")) {
      return {417, "the only expectation is 100-continue"};
    }
    framing->expects_continue = !framing->is_10;
  }
  return CheckLength(request, *framing);
}

}  // namespace

void SetTarget(absl::string_view target, HttpRequest* request) {
  target = WithoutAuthority(target);
  const size_t question = target.find('?');
  request->path = target.substr(0, question);
  if (question != absl::string_view::npos) request->query = target.substr(question + 1);
}

bool IsOfName(char c) {
  constexpr absl::string_view kSigns = "!#$%&'*+-.^_`|~";
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         kSigns.find(c) != absl::string_view::npos;
}

bool IsOfValue(char c) { return c == '\t' || !absl::ascii_iscntrl(static_cast<unsigned char>(c)); }

// Any name may stand behind the last chunk.
bool AreTrailers(absl::string_view lines) {
  for (const absl::string_view line : absl::StrSplit(lines, "\r\n", absl::SkipEmpty())) {
    const size_t colon = line.find(':');
    if (colon == 0 || colon == absl::string_view::npos) return false;
    if (!absl::c_all_of(line.substr(0, colon), IsOfName)) return false;
    if (!absl::c_all_of(line.substr(colon + 1), IsOfValue)) return false;
  }
  return true;
}

// Trailers never come here. Older Boosts have no such function to override.
class HttpParser::WithoutTrailers : public http::basic_parser<true> {
  void on_trailer_field_impl(http::field, beast::string_view, beast::string_view,
                             beast::error_code&) {}
};

// Beast calls this for heads and chunks, not for bodies of known length.
class HttpParser::Impl final : public WithoutTrailers {
 public:
  explicit Impl(HttpRequest* request) : request_(request) {
    header_limit(std::numeric_limits<uint32_t>::max());  // the caller bounds it
    // likewise; "none" refuses all in 1.74
    body_limit(std::numeric_limits<uint64_t>::max());
  }

  void ReadInto(HttpBody* body, uint64_t most) {
    body_ = body;
    most_ = most;
  }
  bool is_10() const { return version_ == 10; }
  const char* last_chunk_end() const { return last_chunk_end_; }

 private:
  using Error = beast::error_code;

  void on_request_impl(http::verb, beast::string_view method, beast::string_view target,
                       int version, Error&) override {
    request_->method = View(method);
    SetTarget(View(target), request_);
    version_ = version;
  }
  void on_response_impl(int, beast::string_view, int, Error&) override {}
  void on_field_impl(http::field, beast::string_view name, beast::string_view value,
                     Error&) override {
    request_->headers.push_back({View(name), View(value)});
  }
  void on_header_impl(Error&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(beast::string_view bytes, Error&) override { return bytes.size(); }
  void on_chunk_header_impl(std::uint64_t size, beast::string_view extensions,
                            Error& error) override {
    // A reader that ends a line at a bare line feed would find another chunk here.
    if (extensions.find('\n') != beast::string_view::npos) error = http::error::bad_chunk_extension;
    if (size > most_ - body_->size()) error = http::error::body_limit;
    if (size > 0 || error) return;
    // Beast would take a trailer for a header, and refuse a Content-Length beside chunks.
    last_chunk_end_ = extensions.data() + extensions.size();
    error = http::error::end_of_chunk;
  }
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view bytes, Error&) override {
    body_->Append(View(bytes));
    return bytes.size();
  }
  void on_finish_impl(Error&) override {}

  HttpRequest* const request_;
  HttpBody* body_ = nullptr;
  const char* last_chunk_end_ = nullptr;
  uint64_t most_ = 0;
  int version_ = 0;
};

HttpParser::HttpParser() = default;
HttpParser::~HttpParser() = default;

HttpFault HttpParser::ReadHead(HttpRequest* request, HttpFraming* framing) {
  if (HasFoldedLine(request->head)) return {400, "a header goes on in the next line"};
  impl_ = std::make_unique<Impl>(request);
  const boost::asio::const_buffer head(request->head.data(), request->head.size());
  beast::error_code error;
  impl_->put(head, error);
  if (error == http::error::bad_version) return {505, "this server speaks HTTP/1.0 and HTTP/1.1"};
  if (error == http::error::bad_content_length || error == http::error::bad_transfer_encoding) {
    return {400, "the Content-Length is no number, or the body's length is told twice"};
  }
  const bool is_read = !error || error == http::error::need_more;
  if (!is_read || !impl_->is_header_done()) return {400, kWrongForm};
  *framing = {};
  framing->is_10 = impl_->is_10();
  framing->keeps_alive = impl_->keep_alive();
  const HttpFault fault = CheckHead(*request, framing);
  framing->is_chunked = impl_->chunked();
  framing->body_bytes = impl_->content_length().value_or(0);
  return fault;
}

HttpParser::Chunks HttpParser::ReadChunks(absl::string_view bytes, uint64_t most, HttpBody* body,
                                          size_t* used) {
  impl_->ReadInto(body, most);
  impl_->eager(true);
  *used = 0;
  while (*used < bytes.size()) {
    beast::error_code error;
    const boost::asio::const_buffer rest(bytes.data() + *used, bytes.size() - *used);
    *used += impl_->put(rest, error);
    if (error == http::error::need_more) return Chunks::kMore;
    if (error == http::error::body_limit) return Chunks::kTooLarge;
    if (error == http::error::end_of_chunk) return ReadTrailers(bytes, used);
    if (error) return Chunks::kMalformed;
  }
  return Chunks::kMore;
}

// Beast has found the end, so all are there.
HttpParser::Chunks HttpParser::ReadTrailers(absl::string_view bytes, size_t* used) const {
  const size_t begin = static_cast<size_t>(impl_->last_chunk_end() - bytes.data());
  const size_t end = bytes.find("\r\n\r\n", begin);
  if (end == absl::string_view::npos) return Chunks::kMalformed;
  *used = end + 4;
  return AreTrailers(bytes.substr(begin, end - begin)) ? Chunks::kDone : Chunks::kMalformed;
}

}  // namespace mpsd
