// Every chat template of the test data, with conversations of many shapes, against Jinja2.
#include <iostream>

#include <gtest/gtest.h>

#include "tests/unit/template/oracle.h"
#include "tests/unit/template/render.h"

namespace halogen::test {
namespace {

using Json = nlohmann::ordered_json;

const Json& tools() {
  static const Json definitions = Json::parse(R"([
    {"type": "function", "function": {"name": "get_weather", "description": "The weather <now> & \"later\"",
      "parameters": {"type": "object", "properties": {
        "city": {"type": "string", "description": "Name of the city, é.g. Zürich"},
        "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
        "days": {"type": "integer", "minimum": 1}}, "required": ["city"]}}},
    {"type": "function", "function": {"name": "search", "description": "Search the web",
      "parameters": {"type": "object", "properties": {
        "queries": {"type": "array", "items": {"type": "string"}, "description": "What to look for"},
        "options": {"type": "object", "properties": {"safe": {"type": "boolean"}, "score": {"type": "number"}}},
        "mixed": {"type": ["string", "null"]}, "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        "required": ["queries"]}}}])");
  return definitions;
}

// Conversations as a server passes them on, each by a name that a failure can show.
std::vector<std::pair<std::string, Json>> conversations() {
  const Json user = {{"role", "user"}, {"content", "What is 2 + 2?"}};
  const Json system = {{"role", "system"}, {"content", "  You are terse.\n"}};
  const Json answer = {{"role", "assistant"}, {"content", "It is 4.\n\nReally — 😀"}};
  const Json again = {{"role", "user"}, {"content", " And 3 + 3?  "}};
  const Json reasoned = {
      {"role", "assistant"}, {"content", "Six."}, {"reasoning_content", "3 + 3 = 6\n"}};
  const Json thinking = {{"role", "assistant"}, {"content", "<think>\nhm\n</think>\n\nSix."}};
  const Json parts = {
      {"role", "user"},
      {"content",
       {{{"type", "text"}, {"text", "part one"}}, {{"type", "text"}, {"text", " two"}}}}};
  const auto call = [](const char* id, const char* name, const Json& arguments) {
    return Json{
        {"id", id}, {"type", "function"}, {"function", {{"name", name}, {"arguments", arguments}}}};
  };
  const Json weather = {
      {"city", "Zürich"}, {"days", 2}, {"exact", 1.5}, {"flag", true}, {"none", nullptr}};
  const Json calling = {{"role", "assistant"},
                        {"content", ""},
                        {"tool_calls", {call("call00001", "get_weather", weather)}}};
  const Json calling_none = {{"role", "assistant"},
                             {"content", nullptr},
                             {"tool_calls", {call("call00001", "get_weather", weather)}}};
  const Json calling_text = {
      {"role", "assistant"},
      {"content", "Let me look."},
      {"tool_calls", {call("call00001", "get_weather", R"({"city": "Bern"})")}}};
  const Json calling_two = {
      {"role", "assistant"},
      {"content", "Both."},
      {"reasoning_content", "two calls"},
      {"tool_calls",
       {call("call00001", "get_weather", weather),
        call("call00002", "search", {{"queries", {"a", "b"}}, {"options", {{"safe", false}}}})}}};
  const Json result = {{"role", "tool"},
                       {"tool_call_id", "call00001"},
                       {"name", "get_weather"},
                       {"content", R"({"temp": 21})"}};
  const Json second = {{"role", "tool"},
                       {"tool_call_id", "call00002"},
                       {"name", "search"},
                       {"content", "found <it>"}};
  const Json developer = {{"role", "developer"}, {"content", "Mind the gap."}};
  std::vector<std::pair<std::string, Json>> all;
  const auto add = [&](const char* name, const Json& messages, const Json& extra = Json::object()) {
    Json context = {{"messages", messages},          {"tools", nullptr},   {"documents", nullptr},
                    {"add_generation_prompt", true}, {"bos_token", "<s>"}, {"eos_token", "</s>"}};
    context.update(extra);
    all.emplace_back(name, std::move(context));
  };
  const Json with_tools = {{"tools", tools()}};
  const Json no_prompt = {{"add_generation_prompt", false}};
  add("plain", {user});
  add("plain, no generation prompt", {user}, no_prompt);
  add("system", {system, user});
  add("developer", {developer, user});
  add("several turns", {system, user, answer, again});
  add("several turns, no generation prompt", {user, answer, again, reasoned}, no_prompt);
  add("reasoning", {user, reasoned, again});
  add("thinking in the content", {user, thinking, again});
  add("thinking off", {system, user}, {{"enable_thinking", false}});
  add("thinking on", {system, user},
      {{"enable_thinking", true}, {"thinking", true}, {"reasoning_effort", "high"}});
  add("content in parts", {parts, answer, parts});
  add("tools", {system, user}, with_tools);
  add("tools without system", {user}, with_tools);
  add("one call", {user, calling, result}, with_tools);
  add("one call, content none", {user, calling_none, result}, with_tools);
  add("one call, arguments as text", {system, user, calling_text, result, answer, again},
      with_tools);
  add("two calls", {user, calling_two, result, second}, with_tools);
  add("two calls, answered", {system, user, calling_two, result, second, answer, again},
      with_tools);
  add("call at the end", {user, calling}, {{"tools", tools()}, {"add_generation_prompt", false}});
  add("calls without definitions", {user, calling, result, answer});
  add("documents", {user}, {{"documents", {{{"title", "T"}, {"text", "D"}, {"contents", "C"}}}}});
  add("two users in a row", {user, again});
  add("assistant first", {answer, user});
  add("unknown role", {{{"role", "stranger"}, {"content", "boo"}}});
  add("no messages", Json::array());
  add("no content", {{{"role", "user"}}});
  return all;
}

TEST(ChatTemplateOracle, EveryTemplateAgreesWithJinja2) {
  const auto files = template_files();
  if (files.empty()) GTEST_SKIP() << "no templates in " << HALOGEN_TEST_DATA;
  std::vector<std::string> sources;
  std::vector<OracleCase> cases;
  std::vector<std::string> names;
  for (const auto& file : files) {
    for (const auto& [name, context] : conversations()) {
      cases.push_back({sources.size(), context});
      names.push_back(file.filename().string() + ", " + name);
    }
    sources.push_back(read_file(file));
  }
  const auto answers = ask_oracle(sources, cases);
  if (!answers) GTEST_SKIP() << "no Python with Jinja2 to compare with";
  std::size_t both_rendered = 0;
  std::size_t both_failed = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(names[i]);
    const auto& expected = answers->at(i);
    const auto ours = render(sources[cases[i].source], cases[i].context);
    if (!expected.text) {
      EXPECT_FALSE(ours.ok()) << "Jinja2 fails with " << expected.error;
      both_failed += ours.ok() ? 0 : 1;
    } else if (!ours) {
      ADD_FAILURE() << ours.error().message;
    } else {
      EXPECT_EQ(*ours, *expected.text);
      both_rendered += *ours == *expected.text ? 1 : 0;
    }
  }
  std::cout << files.size() << " templates, " << cases.size() << " cases: " << both_rendered
            << " rendered alike, " << both_failed << " failed alike\n";
  EXPECT_GT(both_rendered, cases.size() / 2);
}

TEST(ChatTemplateOracle, EveryTemplateParses) {
  const auto files = template_files();
  if (files.empty()) GTEST_SKIP() << "no templates in " << HALOGEN_TEST_DATA;
  for (const auto& file : files) {
    const auto parsed = ChatTemplate::parse(read_file(file));
    EXPECT_TRUE(parsed.ok()) << file.filename() << ": " << parsed.error().message;
  }
}

}  // namespace
}  // namespace halogen::test
