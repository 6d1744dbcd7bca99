// What the template tests share: rendering a template text with a JSON context, and reading test
// data.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/text/template/chat_template.h"

namespace halogen::test {

// The moment that strftime_now sees in tests: Friday, 26 July 2024, 15:04:05.
std::tm fixed_time();

// Parses and renders; `context` holds messages, tools, bos_token and whatever else the template
// reads.
Result<std::string> render(const std::string& source,
                           const nlohmann::ordered_json& context = nlohmann::ordered_json::object(),
                           const jinja::Limits& limits = {});

// The rendered text, or "ERROR: " and the message.
std::string rendered(const std::string& source,
                     const nlohmann::ordered_json& context = nlohmann::ordered_json::object());

std::string read_file(const std::filesystem::path& path);

// The chat templates of real models in the test data, sorted by name; empty when they are missing.
std::vector<std::filesystem::path> template_files();

}  // namespace halogen::test
