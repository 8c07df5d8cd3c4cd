#include "server/http/http_parser.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

class HttpParserTest : public testing::Test {
 protected:
  int StatusOf(const std::string& head) {
    request_.Clear();
    request_.head = head;
    return parser_.ReadHead(&request_, &framing_).status;
  }

  // The status of a request with these headers.
  int StatusWith(const std::string& headers) {
    return StatusOf("POST / HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n");
  }

  HttpParser parser_;
  HttpRequest request_;
  HttpFraming framing_;
};

TEST_F(HttpParserTest, ReadsAHead) {
  EXPECT_EQ(StatusOf("GET /a%20b?c=d&e HTTP/1.1\r\nHost: h\r\nX-A:  1 \r\nX-a: 2\r\n\r\n"), 0);
  EXPECT_EQ(request_.method, "GET");
  EXPECT_EQ(request_.path, "/a%20b");
  EXPECT_EQ(request_.query, "c=d&e");
  EXPECT_EQ(request_.Header("x-A"), "1");
  EXPECT_EQ(request_.CountOf("x-a"), 2U);
  EXPECT_EQ(request_.Header("none"), "");
  EXPECT_TRUE(framing_.keeps_alive);
  EXPECT_FALSE(framing_.is_10);
  EXPECT_EQ(framing_.body_bytes, 0U);
  EXPECT_EQ(StatusOf("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\n"), 0);
  EXPECT_EQ(framing_.body_bytes, 7U);
}

TEST_F(HttpParserTest, OfAnAbsoluteUriThePathCounts) {
  EXPECT_EQ(StatusOf("GET http://h:1/p?q HTTP/1.1\r\nHost: h\r\n\r\n"), 0);
  EXPECT_EQ(request_.path, "/p");
  EXPECT_EQ(request_.query, "q");
  EXPECT_EQ(StatusOf("GET http://h HTTP/1.1\r\nHost: h\r\n\r\n"), 0);
  EXPECT_EQ(request_.path, "/");
}

TEST_F(HttpParserTest, Http10ClosesUnlessItAsks) {
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\n\r\n"), 0);
  EXPECT_TRUE(framing_.is_10);
  EXPECT_FALSE(framing_.keeps_alive);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), 0);
  EXPECT_TRUE(framing_.keeps_alive);
}

TEST_F(HttpParserTest, CloseIsHeard) {
  EXPECT_EQ(StatusWith("Connection: close\r\n"), 0);
  EXPECT_FALSE(framing_.keeps_alive);
}

TEST_F(HttpParserTest, WhatProxiesMayReadOtherwiseIsRefused) {
  const std::pair<std::string, int> cases[] = {
      {"Content-Length: 5\r\nContent-Length: 6\r\n", 400},
      {"Content-Length: 5\r\nContent-Length: 5\r\n", 400},
      {"Content-Length: 5, 5\r\n", 400},
      {"Content-Length: -1\r\n", 400},
      {"Content-Length: +5\r\n", 400},
      {"Content-Length: 0x5\r\n", 400},
      {"Content-Length: 5a\r\n", 400},
      {"Content-Length: \r\n", 400},
      {"Content-Length: 99999999999999999999\r\n", 400},
      {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400},
      {"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", 400},
      {"Content-Length: 5\r\nTransfer-Encoding: xchunked\r\n", 400},
      {"Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n", 400},
      {"Transfer-Encoding: gzip, chunked\r\n", 501},
      {"Transfer-Encoding: xchunked\r\n", 400},
      {"Transfer-Encoding: chunked, gzip\r\n", 400},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400},
      {"X-A: 1\r\n 2\r\n", 400},
      {"X-A: 1\r\n\t2\r\n", 400},
      {"Content-Length : 5\r\n", 400},
      {"X-A: 1\nX-B: 2\r\n", 400},
      {std::string("X-A: 1\0 2\r\n", 11), 400},
      {"Host: g\r\n", 400},
      {"Expect: a-miracle\r\n", 417},
  };
  for (const auto& [headers, status] : cases) EXPECT_EQ(StatusWith(headers), status) << headers;
}

TEST_F(HttpParserTest, ALengthThatIsToldTwiceIsNamed) {
  for (const char* headers : {"Content-Length: 5\r\nContent-Length: 6\r\n",
                              "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"}) {
    request_.Clear();
    request_.head = absl::StrCat("POST / HTTP/1.1\r\nHost: h\r\n", headers, "\r\n");
    EXPECT_EQ(parser_.ReadHead(&request_, &framing_).why,
              "the Content-Length is no number, or the body's length is told twice")
        << headers;
  }
}

TEST_F(HttpParserTest, OtherMethodsAndVersionsAreRefused) {
  EXPECT_EQ(StatusOf("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n"), 501);
  EXPECT_EQ(StatusOf("GET / HTTP/2.0\r\nHost: h\r\n\r\n"), 505);
  EXPECT_EQ(StatusOf("GET / HTTP/1.2\r\nHost: h\r\n\r\n"), 505);
  EXPECT_EQ(StatusOf("GET /\r\n\r\n"), 400);
}

TEST_F(HttpParserTest, ReadsExpectations) {
  EXPECT_EQ(StatusWith("Expect: 100-Continue\r\n"), 0);
  EXPECT_TRUE(framing_.expects_continue);
}

TEST_F(HttpParserTest, ReadsChunksInAnyPieces) {
  const std::string body = "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\n";
  for (size_t step = 1; step <= body.size(); ++step) {
    ASSERT_EQ(StatusWith("Transfer-Encoding: chunked\r\n"), 0);
    ASSERT_TRUE(framing_.is_chunked);
    std::string waiting;
    HttpParser::Chunks end = HttpParser::Chunks::kMore;
    for (size_t at = 0; at < body.size(); at += step) {
      waiting += body.substr(at, step);
      size_t used = 0;
      end = parser_.ReadChunks(waiting, 100, &request_.body, &used);
      waiting.erase(0, used);
    }
    EXPECT_EQ(end, HttpParser::Chunks::kDone) << step;
    EXPECT_EQ(request_.body.view(), "abc0123456789") << step;
    EXPECT_EQ(waiting, "");
  }
}

TEST_F(HttpParserTest, AfterTheLastChunkTheNextRequestBegins) {
  ASSERT_EQ(StatusWith("Transfer-Encoding: chunked\r\n"), 0);
  size_t used = 0;
  EXPECT_EQ(parser_.ReadChunks("1\r\na\r\n0\r\n\r\nGET /", 100, &request_.body, &used),
            HttpParser::Chunks::kDone);
  EXPECT_EQ(used, 11U);
}

TEST_F(HttpParserTest, ATrailerMayHaveAnyName) {
  for (const char* name :
       {"Content-Length: 7", "Transfer-Encoding: x", "Content-Length:", "X: \t"}) {
    ASSERT_EQ(StatusWith("Transfer-Encoding: chunked\r\n"), 0);
    const std::string body = absl::StrCat("1\r\na\r\n0;x=y\r\nA: b\r\n", name, "\r\n\r\n");
    size_t used = 0;
    EXPECT_EQ(parser_.ReadChunks(body + "GET /", 100, &request_.body, &used),
              HttpParser::Chunks::kDone)
        << name;
    EXPECT_EQ(used, body.size());
    EXPECT_EQ(request_.CountOf("a"), 0U) << "nobody reads it";
  }
}

TEST_F(HttpParserTest, WhatIsNoTrailerIsRefused) {
  for (const char* line : {"x", ": a", "a b: c", " a: b", "a: b\nc: d", "a: b\rc", "a\t: b"}) {
    ASSERT_EQ(StatusWith("Transfer-Encoding: chunked\r\n"), 0);
    size_t used = 0;
    EXPECT_EQ(
        parser_.ReadChunks(absl::StrCat("0\r\n", line, "\r\n\r\n"), 100, &request_.body, &used),
        HttpParser::Chunks::kMalformed)
        << line;
  }
}

TEST_F(HttpParserTest, WhatIsNoChunkIsRefused) {
  for (const char* chunks :
       {"z\r\n", "-1\r\na\r\n", "1\r\nab\r\n0\r\n\r\n", "1;a=\"\n\"\r\na\r\n0\r\n\r\n",
        "10000000000000000\r\n", "1\nab\r\nx\r\n0\r\n\r\n"}) {
    ASSERT_EQ(StatusWith("Transfer-Encoding: chunked\r\n"), 0);
    size_t used = 0;
    const HttpParser::Chunks end = parser_.ReadChunks(chunks, 100, &request_.body, &used);
    EXPECT_TRUE(end == HttpParser::Chunks::kMalformed || end == HttpParser::Chunks::kTooLarge)
        << chunks;
  }
}

TEST_F(HttpParserTest, ChunksBeyondTheBoundAreRefusedAtTheirHead) {
  ASSERT_EQ(StatusWith("Transfer-Encoding: chunked\r\n"), 0);
  size_t used = 0;
  EXPECT_EQ(parser_.ReadChunks("2\r\nab\r\n4\r\n", 5, &request_.body, &used),
            HttpParser::Chunks::kTooLarge);
  EXPECT_EQ(request_.body.view(), "ab");
}

}  // namespace
}  // namespace mpsd
