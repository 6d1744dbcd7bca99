// Conversations as a server passes them on to a template, and where templates come from.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace halogen::test {

// A template's whole context, by a name that a failure can show.
using NamedContext = std::pair<std::string, nlohmann::ordered_json>;

// One for each shape that a conversation may have.
std::vector<NamedContext> conversations();

// `count` of them put together by chance; the same seed gives the same ones everywhere.
std::vector<NamedContext> random_conversations(std::uint32_t seed, std::size_t count);

struct NamedTemplate {
  std::string name;
  std::string source;
};

// Every chat template of the test data, each source once: the files, those of the golden
// tokenizers, and those inside of GGUF files. Empty where there are no data.
std::vector<NamedTemplate> all_templates();

}  // namespace halogen::test
