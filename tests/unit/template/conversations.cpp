#include "tests/unit/template/conversations.h"

#include <algorithm>
#include <random>
#include <set>

#include "plugins/gguf/gguf_file.h"
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

}  // namespace

std::vector<NamedContext> conversations() {
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
  const Json pictured = {
      {"role", "user"},
      {"content",
       {{{"type", "image"}},
        {{"type", "text"}, {"text", "What is in it?"}},
        {{"type", "image_url"}, {"image_url", {{"url", "data:image/png;base64,AA=="}}}}}}};
  const Json system_parts = {{"role", "system"},
                             {"content", {{{"type", "text"}, {"text", "Short."}}}}};
  const Json result_parts = {{"role", "tool"},
                             {"tool_call_id", "call00001"},
                             {"name", "get_weather"},
                             {"content", {{{"type", "text"}, {"text", "21 °C"}}}}};
  const Json result_failed = {{"role", "tool"},
                              {"tool_call_id", "call00001"},
                              {"name", "get_weather"},
                              {"is_error", true},
                              {"content", "no such city"}};
  const Json developer = {{"role", "developer"}, {"content", "Mind the gap."}};
  std::vector<NamedContext> all;
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
  add("an image as a part of the text", {pictured, answer});
  add("parts of a system message and of a tool's answer",
      {system_parts, user, calling, result_parts}, with_tools);
  add("system and developer", {system, developer, user});
  add("a tool must be called", {user}, {{"tools", tools()}, {"tool_choice", "required"}});
  add("a named tool must be called", {user},
      {{"tools", tools()},
       {"tool_choice", {{"type", "function"}, {"function", {{"name", "search"}}}}}});
  add("nothing is said", {{{"role", "user"}, {"content", ""}}});
  add("a date of its own", {system, user}, {{"date_string", "1 April 2025"}, {"tools", tools()}});
  add("names", {{{"role", "user"}, {"name", "Ann"}, {"content", "I am Ann."}}, answer});
  add("a call that failed", {user, calling, result_failed, answer}, with_tools);
  add("two users in a row", {user, again});
  add("assistant first", {answer, user});
  add("unknown role", {{{"role", "stranger"}, {"content", "boo"}}});
  add("no messages", Json::array());
  add("no content", {{{"role", "user"}}});
  return all;
}

namespace {

// Messages, tools and variables by chance, mostly in an order that templates accept.
class RandomConversations {
 public:
  explicit RandomConversations(std::uint32_t seed) : random_(seed) {}

  Json next() {
    Json context = {{"messages", messages()}, {"tools", below(2) == 0 ? some_tools() : Json()},
                    {"documents", nullptr},   {"add_generation_prompt", below(2) == 0},
                    {"bos_token", "<s>"},     {"eos_token", "</s>"}};
    const Json values[] = {true, false, nullptr, "high", "low", "", 0};
    for (const char* name : {"enable_thinking", "thinking", "reasoning_effort", "preserve_thinking",
                             "clear_thinking", "tool_choice", "date_string", "is_first"}) {
      if (below(4) == 0) context[name] = values[below(std::size(values))];
    }
    return context;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  std::string text() {
    static const char* const texts[] = {"Hello!",
                                        "",
                                        " ",
                                        "Zwölf Boxkämpfer — 😀",
                                        "a\nb\n\nc\n",
                                        "<think>\nhm\n</think>\n\nYes.",
                                        "{\"city\": \"Bern\"}",
                                        "<|im_end|>",
                                        "  led and trailed \t\n",
                                        "{{ not_a_template }}",
                                        "</think>",
                                        "<tool_call>{}</tool_call>",
                                        "'quotes' & \"more\" <b>",
                                        "[INST] x [/INST]",
                                        "日本語 مرحبا",
                                        "/no_think",
                                        "1.0",
                                        "none"};
    return texts[below(std::size(texts))];
  }

  Json content() {
    switch (below(8)) {
      case 0:
        return Json::array({{{"type", "text"}, {"text", text()}}});
      case 1:
        return Json::array(
            {{{"type", "text"}, {"text", text()}}, {{"type", "text"}, {"text", text()}}});
      default:
        return text();
    }
  }

  Json value(int depth) {
    switch (below(depth > 0 ? 9 : 7)) {
      case 0:
        return text();
      case 1:
        return static_cast<int>(below(100)) - 20;
      case 2:
        return static_cast<double>(below(1000)) / 8;
      case 3:
        return below(2) == 0;
      case 4:
        return nullptr;
      case 5:
        return 1e21;
      case 6:
        return Json::object();
      case 7:
        return Json::array({value(depth - 1), value(depth - 1)});
      default:
        return Json{{"a", value(depth - 1)}, {"ü b", value(depth - 1)}};
    }
  }

  Json some_tools() {
    Json chosen = Json::array();
    for (const Json& tool : tools()) {
      if (below(3) != 0) chosen.push_back(tool);
    }
    return chosen;
  }

  Json call(std::size_t number) {
    Json arguments = Json::object();
    for (const char* name : {"city", "days", "queries", "options"}) {
      if (below(2) == 0) arguments[name] = value(2);
    }
    const char* name = below(2) == 0 ? "get_weather" : "search";
    Json function = {{"name", name}, {"arguments", std::move(arguments)}};
    if (below(6) == 0) function["arguments"] = function["arguments"].dump();
    return {
        {"id", "call0000" + std::to_string(number)}, {"type", "function"}, {"function", function}};
  }

  Json messages() {
    Json all = Json::array();
    if (below(3) != 0)
      all.push_back({{"role", below(5) == 0 ? "developer" : "system"}, {"content", content()}});
    for (std::size_t turns = 1 + below(3); turns > 0; --turns) {
      all.push_back({{"role", "user"}, {"content", content()}});
      if (below(3) == 0) add_calls(all);
      if (turns > 1 || below(4) == 0) all.push_back(answer());
    }
    if (below(8) == 0) std::shuffle(all.begin(), all.end(), random_);
    return all;
  }

  Json answer() {
    Json message = {{"role", "assistant"}, {"content", content()}};
    if (below(3) == 0) message[below(4) == 0 ? "thinking" : "reasoning_content"] = text();
    return message;
  }

  void add_calls(Json& all) {
    Json message = answer();
    if (below(3) == 0) message["content"] = nullptr;
    Json calls = Json::array();
    for (std::size_t count = 1 + below(3); count > 0; --count) calls.push_back(call(count));
    message["tool_calls"] = calls;
    all.push_back(message);
    for (const Json& each : calls) {
      all.push_back({{"role", "tool"},
                     {"tool_call_id", each["id"]},
                     {"name", each["function"]["name"]},
                     {"content", content()}});
    }
  }

  std::mt19937 random_;
};

const std::filesystem::path kData = HALOGEN_TEST_DATA;

std::vector<std::filesystem::path> files_below(const char* folder, std::string_view extension) {
  std::vector<std::filesystem::path> files;
  std::error_code missing;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kData / folder, missing)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<NamedContext> random_conversations(std::uint32_t seed, std::size_t count) {
  RandomConversations random(seed);
  std::vector<NamedContext> all;
  for (std::size_t i = 0; i < count; ++i)
    all.emplace_back("random " + std::to_string(i), random.next());
  return all;
}

std::vector<NamedTemplate> all_templates() {
  std::vector<NamedTemplate> all;
  std::set<std::string> seen;
  const auto add = [&](const std::filesystem::path& file, std::string source) {
    if (seen.insert(source).second)
      all.push_back({file.lexically_relative(kData).string(), std::move(source)});
  };
  for (const auto& file : template_files()) add(file, read_file(file));
  for (const auto& file : files_below("golden/tokenizers", ".json")) {
    if (file.filename().string().starts_with("chat_golden_"))
      add(file, Json::parse(read_file(file)).at("template").get<std::string>());
  }
  for (const char* folder : {"gguf", "vocab", "stories260K"}) {
    for (const auto& file : files_below(folder, ".gguf")) {
      gguf::GgufFile model;
      gguf::Failure failure;
      if (!gguf::read_gguf_file(file.string(), model, failure)) continue;
      const gguf::Value* source = gguf::find_value(model.metadata, "tokenizer.chat_template");
      if (source != nullptr) add(file, std::string(source->text_at(0)));
    }
  }
  return all;
}

}  // namespace halogen::test
