// A stream's chunks as text are what the JSON library would have written.
#include "core/api/chunk_text.h"

#include <gtest/gtest.h>

#include "core/http/sse.h"

namespace halogen::api {
namespace {

Json chunk_with(const std::string& text) {
  return Json{{"id", "cmpl-1"},
              {"model", "a \"model\""},
              {"choices", {{{"delta", {{"content", text}}}, {"finish_reason", nullptr}}}}};
}

std::string event_of(const std::string& text) {
  std::string out;
  ChunkText(chunk_with(std::string(kTextMark))).append_event(out, text);
  return out;
}

TEST(ChunkText, IsTheChunkWithTheTextInside) {
  for (const std::string text :
       {"", " there", "größe 日本 🎉", "a\nb\r\n\tc", "\"quoted\" \\ path"}) {
    EXPECT_EQ(event_of(text), http::sse_event(to_text(chunk_with(text)))) << text;
  }
}

TEST(ChunkText, EscapesEveryByteAsTheJsonLibraryDoes) {
  for (int byte = 0; byte < 0x80; byte++) {
    const std::string text = {'<', static_cast<char>(byte), '>'};
    const std::string event = event_of(text);
    const Json parsed = Json::parse(event.substr(6));
    EXPECT_EQ(parsed, chunk_with(text)) << byte;
    EXPECT_EQ(event.find_first_of("\n\r", 0), event.size() - 2) << "an event is one line: " << byte;
  }
}

TEST(ChunkText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(event_of("a\xff z"), http::sse_event(to_text(chunk_with("a\xEF\xBF\xBD z"))));
}

TEST(ChunkText, KeepsAModelsNameThatLooksLikeTheMark) {
  Json chunk = chunk_with(std::string(kTextMark));
  chunk["model"] = kTextMark;
  std::string out;
  ChunkText(chunk).append_event(out, "x");
  chunk["choices"][0]["delta"]["content"] = "x";
  EXPECT_EQ(out, http::sse_event(to_text(chunk)));
}

}  // namespace
}  // namespace halogen::api
