#include "client/cli/text_verbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "client/format/npy.h"
#include "client/format/text_input.h"
#include "proto/files/whole_file.h"
#include "tests/client/full_output.h"
#include "tests/fakes/fake_web_server.h"
#include "tests/fakes/work_folder.h"

namespace mpsd::cli {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;
using Reply = FakeWebServer::Reply;

constexpr char kOne[] = "AACAPw==";  // the number 1 as FP32
constexpr char kTwo[] = "AAAAQA==";

// Vectors of one number: 1 for the text "a", 2 for others. Scores are the lengths of documents.
Reply Answer(const FakeWebServer::Request& request) {
  if (request.line == "POST /v2/repository/index") return {200, "[]"};
  if (request.line == "GET /v1/models") {
    return {200, R"({"data":[{"id":"e","task":"embedding"},{"id":"r","task":"rerank"},)"
                 R"({"id":"s","task":"rerank"}]})"};
  }
  const Json body = Json::parse(request.body);
  Json rows = Json::array();
  if (request.line == "POST /v1/embeddings") {
    for (const Json& text : body["input"]) {
      rows.push_back({{"index", rows.size()}, {"embedding", text == "a" ? kOne : kTwo}});
    }
    return {200,
            Json({{"data", rows}, {"usage", {{"total_tokens", 5}}}}).dump(),
            {{"x-mpsd-truncated", "1"}}};
  }
  if (request.line == "POST /v1/rerank") {
    for (const Json& text : body["documents"]) {
      const size_t length = text.get<std::string>().size();
      rows.push_back({{"index", rows.size()}, {"relevance_score", length}});
    }
    return {200, Json({{"results", rows}}).dump()};
  }
  for (size_t i = 0; i < body["inputs"].size(); ++i) rows.push_back({{{"id", 7}}});
  return {200, rows.dump()};
}

class TextVerbsTest : public testing::Test {
 protected:
  TextVerbsTest() { server_.handler = Answer; }

  template <class Options>
  int Run(int (*verb)(const Options&, const Console&), TextOptions texts) {
    Options options;
    static_cast<TextOptions&>(options) = std::move(texts);
    return Start([&](const Console& console) {
      options.server.address = server_.url();
      return verb(options, console);
    });
  }

  int Rerank(RerankOptions options) {
    return Start([&](const Console& console) {
      options.server.address = server_.url();
      return RunRerank(options, console);
    });
  }

  template <class Verb>
  int Start(Verb verb) {
    if (!is_started_) server_.Start();
    is_started_ = true;
    out_.str("");
    err_.str("");
    return verb(Console{out_, err_, is_terminal_, is_terminal_});
  }

  static TextOptions Texts(std::vector<std::string> texts) {
    TextOptions options;
    options.texts = std::move(texts);
    return options;
  }

  // How many texts each request had, in order.
  std::vector<size_t> RowCounts(const char* key) const {
    std::vector<size_t> counts;
    for (const auto& request : server_.Requests()) {
      if (!request.body.empty()) counts.push_back(Json::parse(request.body)[key].size());
    }
    return counts;
  }

  FakeWebServer server_;
  bool is_started_ = false;
  bool is_terminal_ = false;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(TextVerbsTest, EmbedsByTheOnlyModelOfTheTaskAndNamesIt) {
  EXPECT_EQ(Run(RunEmbed, Texts({"a", "b"})), kExitOk) << err_.str();
  EXPECT_EQ(out_.str(),
            "ROW  TEXT  DIMS    NORM  FIRST VALUES\n"
            "  1  a        1  1.0000  +1.0000\n"
            "  2  b        1  2.0000  +2.0000\n"
            "\nmodel e, 5 tokens\n");
  EXPECT_EQ(err_.str(),
            "mpsd: model e\n"
            "mpsd: the server has cut 1 of 2 texts to the most tokens that the model takes\n");
}

TEST_F(TextVerbsTest, ANamedModelIsNotLookedFor) {
  TextOptions options = Texts({"a"});
  options.model = "other";
  options.server.json = true;
  EXPECT_EQ(Run(RunEmbed, options), kExitOk) << err_.str();
  EXPECT_EQ(server_.Requests().size(), 1U);
  EXPECT_EQ(Json::parse(server_.Requests()[0].body)["model"], "other");
  EXPECT_EQ(Json::parse(out_.str())["embeddings"][0], Json({{"text", "a"}, {"embedding", {1.0}}}));
}

TEST_F(TextVerbsTest, AReportThatCannotBeWrittenIsAnError) {
  EmbedOptions options;
  options.texts = {"a"};
  options.npy = true;
  FullOutput full;
  const int code = Start([&](const Console&) {
    options.server.address = server_.url();
    return RunEmbed(options, Console{full, err_});
  });
  EXPECT_EQ(code, kExitCannotWrite);
  EXPECT_THAT(err_.str(), HasSubstr("mpsd: the output cannot be written\n"));
}

TEST_F(TextVerbsTest, SeveralModelsOfTheTaskAreNamed) {
  RerankOptions options;
  options.texts = {"a"};
  EXPECT_EQ(Rerank(options), kExitUsage);
  EXPECT_EQ(err_.str(), "mpsd: --model must name one of those of the task rerank: r, s\n");
  EXPECT_EQ(Run(RunTokenize, Texts({"a"})), kExitUsage);
  EXPECT_EQ(err_.str(), "mpsd: --model must name one of those that take texts: e, r, s\n");
}

TEST_F(TextVerbsTest, NoModelOfTheTaskIsAnError) {
  server_.handler = [](const FakeWebServer::Request&) { return Reply{200, R"({"data":[]})"}; };
  EXPECT_EQ(Run(RunEmbed, Texts({"a"})), kExitServerError);
  EXPECT_EQ(err_.str(), "mpsd: NOT_FOUND: there are no models of the task embedding\n");
}

TEST_F(TextVerbsTest, AModelThatLoadsIsWaitedFor) {
  std::atomic<int> looks = 0;
  server_.handler = [&looks](const FakeWebServer::Request& request) {
    if (request.line == "POST /v2/repository/index") {
      ++looks;
      return Reply{200, R"([{"name":"e","version":"1","state":"LOADING"}])"};
    }
    if (request.line == "GET /v1/models" && looks < 2) return Reply{200, R"({"data":[]})"};
    return Answer(request);
  };
  EXPECT_EQ(Run(RunEmbed, Texts({"a"})), kExitOk) << err_.str();
  EXPECT_EQ(looks, 2);
  EXPECT_THAT(
      err_.str(),
      testing::StartsWith("mpsd: waits for model e, which loads (--wait 60s)\nmpsd: model e\n"));
}

TEST_F(TextVerbsTest, ANamedModelThatLoadsIsWaitedFor) {
  std::atomic<int> refused = 0;
  server_.handler = [&refused](const FakeWebServer::Request& request) {
    if (request.line == "POST /v2/repository/index") {
      return Reply{200, R"([{"name":"o","state":"READY"},{"name":"e","state":"LOADING"}])"};
    }
    if (refused++ < 2) return Reply{503, R"({"error":"it loads"})"};
    return Answer(request);
  };
  TextOptions options = Texts({"a"});
  options.model = "e";
  EXPECT_EQ(Run(RunEmbed, options), kExitOk) << err_.str();
  EXPECT_THAT(err_.str(), testing::StartsWith("mpsd: waits for model e, "));
}

TEST_F(TextVerbsTest, NothingIsWaitedForThatDoesNotLoadOrNotForTooLong) {
  std::string state = "UNAVAILABLE";
  server_.handler = [&state](const FakeWebServer::Request& request) {
    if (request.line != "POST /v2/repository/index") return Reply{503, R"({"error":"no"})"};
    return Reply{200,
                 R"([{"name":"e","state":")" + state + R"("},{"name":"f","state":"LOADING"}])"};
  };
  TextOptions options = Texts({"a"});
  options.model = "e";
  EXPECT_EQ(Run(RunEmbed, options), kExitServerError);
  EXPECT_EQ(err_.str(), "mpsd: UNAVAILABLE: no\n");
  state = "LOADING";
  options.wait = "0";
  EXPECT_EQ(Run(RunEmbed, options), kExitServerError);
  EXPECT_EQ(err_.str(), "mpsd: UNAVAILABLE: no\n");
  options.wait = "1ms";
  EXPECT_EQ(Run(RunEmbed, options), kExitServerError);
}

TEST_F(TextVerbsTest, ALongFileGoesInSeveralRequestsInOrder) {
  const WorkFolder folder;
  std::string lines;
  for (size_t i = 0; i < 2 * kMostRequestRows; ++i) lines += "b\n";
  const std::string path = folder.Write("lines", lines + "a\n");
  TextOptions options;
  options.file = path;
  options.npy = true;
  options.output_file = path + ".npy";
  EXPECT_EQ(Run(RunEmbed, options), kExitOk) << err_.str();
  EXPECT_EQ(RowCounts("input"), (std::vector<size_t>{kMostRequestRows, kMostRequestRows, 1}));
  EXPECT_EQ(out_.str(), "");
  EXPECT_THAT(err_.str(), HasSubstr("has cut 3 of 129 texts"));
  EXPECT_EQ(err_.str().find('\r'), std::string::npos);
  const auto array = ParseNpy(*ReadWholeFile(options.output_file, 1 << 20));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->shape, (Dims{129, 1}));
  EXPECT_EQ(array->bytes.substr(128 * 4), std::string("\0\0\x80\x3f", 4));
  EXPECT_EQ(array->bytes.substr(127 * 4, 4), std::string("\0\0\0\x40", 4));
}

TEST_F(TextVerbsTest, ATerminalShowsProgress) {
  is_terminal_ = true;
  EXPECT_EQ(Run(RunEmbed, Texts(std::vector<std::string>(100, "a"))), kExitOk) << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("\r64 of 100 texts"));
}

TEST_F(TextVerbsTest, AnErrorSaysBehindHowManyTextsItIs) {
  server_.handler = [](const FakeWebServer::Request& request) {
    const bool is_last = Json::parse(request.body)["input"].size() < kMostRequestRows;
    return is_last ? Reply{413, R"({"error":{"message":"text 3: it has 8 tokens"}})"}
                   : Answer(request);
  };
  TextOptions options = Texts(std::vector<std::string>(100, "a"));
  options.model = "e";
  EXPECT_EQ(Run(RunEmbed, options), kExitServerError);
  EXPECT_EQ(err_.str(),
            "mpsd: INVALID_ARGUMENT: behind the first 64 texts: text 3: it has 8 tokens\n");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(TextVerbsTest, RanksDocumentsOfAllRequestsTogether) {
  RerankOptions options;
  options.query = "q";
  options.model = "r";
  options.texts = std::vector<std::string>(kMostRequestRows, "aa");
  options.texts.push_back("best");
  options.texts.push_back("a");
  options.top_count = 2;
  EXPECT_EQ(Rerank(options), kExitOk) << err_.str();
  EXPECT_EQ(out_.str(),
            "RANK  ROW  SCORE  DOCUMENT\n"
            "   1   65      4  best\n"
            "   2    1      2  aa\n"
            "\nmodel r, 0 tokens\n");
  EXPECT_EQ(RowCounts("documents"), (std::vector<size_t>{kMostRequestRows, 2}));
  options.server.json = true;
  EXPECT_EQ(Rerank(options), kExitOk) << err_.str();
  EXPECT_EQ(Json::parse(out_.str())["results"][0],
            Json({{"index", 64}, {"score", 4.0}, {"document", "best"}}));
}

TEST_F(TextVerbsTest, TokenizesInRequestsThatAServerTakes) {
  TextOptions options = Texts(std::vector<std::string>(3, std::string(5 << 10, 'a')));
  options.model = "r";
  options.server.json = true;
  EXPECT_EQ(Run(RunTokenize, options), kExitOk) << err_.str();
  EXPECT_EQ(RowCounts("inputs"), (std::vector<size_t>{1, 1, 1}));
  EXPECT_EQ(Json::parse(out_.str())["rows"][2]["tokens"][0]["id"], 7);
}

TEST_F(TextVerbsTest, RefusesOptionsBeforeItAsks) {
  EXPECT_EQ(Run(RunEmbed, {}), kExitUsage);
  EXPECT_EQ(err_.str(), "mpsd: a text or a file of texts is needed\n");
  TextOptions options = Texts({"a"});
  options.npy = options.server.json = true;
  EXPECT_EQ(Run(RunEmbed, options), kExitUsage);
  EXPECT_EQ(err_.str(), "mpsd: --npy and --json exclude each other\n");
  options.server.json = false;
  is_terminal_ = true;
  EXPECT_EQ(Run(RunEmbed, options), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--npy is not for a terminal"));
  options.wait = "soon";
  EXPECT_EQ(Run(RunEmbed, options), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("mpsd: --wait: "));
  options = {};
  const WorkFolder folder;
  options.file = folder.PathOf("no/file");
  EXPECT_EQ(Run(RunEmbed, options), kExitNoInput);
  options.file = folder.Write("empty");
  EXPECT_EQ(Run(RunEmbed, options), kExitNoInput);
  EXPECT_TRUE(server_.Requests().empty());
}

TEST_F(TextVerbsTest, SaysWhatKeepsItFromTheServerAndFromItsFile) {
  EmbedOptions options;
  options.texts = {"a"};
  options.server.address = "unix:/run/mpsd.sock";
  EXPECT_EQ(RunEmbed(options, Console{out_, err_}), kExitUsage);
  EXPECT_THAT(err_.str(), HasSubstr("--server takes HOST:PORT or a URL and not 'unix:"));
  options.server.address = FakeWebServer().url();
  EXPECT_EQ(RunEmbed(options, Console{out_, err_}), kExitNotReachable);
  options.output_file = WorkFolder().PathOf("no/folder");
  EXPECT_EQ(Run(RunEmbed, options), kExitCannotWrite);
}

}  // namespace
}  // namespace mpsd::cli
