#include "core/host/manifest.h"

#include <algorithm>
#include <fstream>
#include <optional>

#include "core/base/nearest.h"
#include "core/base/printable.h"
#include "core/base/toml.h"

namespace halogen {
namespace {

// Reads the keys of one table and keeps the first error of the whole file, so that the reading
// below is a plain list of what a manifest holds.
class Reader {
 public:
  Reader(const std::filesystem::path& path, const toml::table& table, std::string context,
         std::optional<Error>& error)
      : path_(path), table_(table), context_(std::move(context)), error_(error) {}

  void fail_at(const toml::source_region& source, const std::string& message) {
    if (error_) return;
    error_ = fail(HALOGEN_E_INVALID, path_.string() + ':' + std::to_string(source.begin.line) +
                                         ": " + printable(message));
  }

  void allow_only(const std::vector<std::string>& keys) {
    for (const auto& [key, node] : table_) {
      const std::string word(key.str());
      if (std::find(keys.begin(), keys.end(), word) != keys.end()) continue;
      const std::string_view closest = nearest(word, keys);
      std::string message = '"' + context_ + word + "\" is not a key of this manifest";
      if (!closest.empty())
        message += "; the nearest is \"" + context_ + std::string(closest) + '"';
      fail_at(key.source(), message);
    }
  }

  const toml::node* get(const std::string& key, bool required) {
    const toml::node* node = table_.get(key);
    if (!node && required)
      fail_at(table_.source(), "the manifest lacks the key \"" + context_ + key + '"');
    return node;
  }

  std::string text(const std::string& key, bool required = true) {
    const toml::node* node = get(key, required);
    if (!node) return {};
    auto value = node->value_exact<std::string>().value_or("");
    if (value.empty() || value.find('\0') != std::string::npos)
      fail_at(node->source(), '"' + context_ + key + "\" must be a string that is not empty");
    return value;
  }

  uint16_t small_number(const std::string& key) {
    const toml::node* node = get(key, true);
    if (!node) return 0;
    const auto value = node->value_exact<int64_t>();
    if (!value || *value < 0 || *value > UINT16_MAX) {
      fail_at(node->source(), '"' + context_ + key + "\" must be a whole number from 0 to 65535");
      return 0;
    }
    return static_cast<uint16_t>(*value);
  }

  // An array of strings; with `single`, a lone string as well.
  std::vector<std::string> texts(const std::string& key, bool required, bool single = false) {
    const toml::node* node = get(key, required);
    if (!node) return {};
    std::vector<std::string> values;
    if (single && node->is_string()) {
      values.push_back(**node->as_string());
    } else if (const toml::array* array = node->as_array()) {
      for (const toml::node& element : *array)
        values.push_back(element.value_exact<std::string>().value_or(""));
    }
    if (values.empty() || std::find(values.begin(), values.end(), "") != values.end())
      fail_at(node->source(),
              '"' + context_ + key + "\" must be a list of strings that are not empty");
    return values;
  }

  // A table inside of this one; empty, with its error kept, where there is none.
  Reader section(const std::string& key, bool required) {
    static const toml::table nothing;
    const toml::node* node = get(key, required);
    if (node && !node->is_table())
      fail_at(node->source(), '"' + context_ + key + "\" must be a table");
    const toml::table* table = node ? node->as_table() : nullptr;
    return Reader(path_, table ? *table : nothing, context_ + key + '.', error_);
  }

 private:
  const std::filesystem::path& path_;
  const toml::table& table_;
  std::string context_;  // "abi." inside of a section
  std::optional<Error>& error_;
};

bool is_reverse_dns(std::string_view id) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return std::all_of(id.begin(), id.end(), allowed) && id.find('.') != std::string_view::npos &&
         !id.starts_with('.') && !id.ends_with('.') && id.find("..") == std::string_view::npos;
}

// "vendor.word/revision".
bool is_kind(std::string_view kind) {
  const size_t slash = kind.find('/');
  return slash != std::string_view::npos && is_reverse_dns(kind.substr(0, slash)) &&
         slash + 1 < kind.size() &&
         kind.find_first_not_of("0123456789", slash + 1) == std::string_view::npos;
}

void read_kinds(Reader& top, const toml::table& table, Manifest& manifest) {
  manifest.kinds = top.texts("kinds", true);
  std::vector<std::string> words;
  for (const std::string& kind : manifest.kinds) {
    if (!is_kind(kind))
      top.fail_at(table.get("kinds")->source(),
                  "the kind \"" + kind + "\" is not of the form \"halogen.backend/1\"");
    const std::string word = kind_word(kind);
    if (std::find(words.begin(), words.end(), word) != words.end())
      top.fail_at(table.get("kinds")->source(), "two kinds are both called \"" + word + '"');
    words.push_back(word);
  }
  Reader provides = top.section("provides", true);
  provides.allow_only(words);
  for (size_t i = 0; i < words.size(); ++i)
    manifest.provides[manifest.kinds[i]] = provides.texts(words[i], true, true);
}

}  // namespace

bool Manifest::has_kind(std::string_view kind) const {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool Manifest::provides_name(std::string_view kind, std::string_view short_name) const {
  const auto names = provides.find(std::string(kind));
  return names != provides.end() &&
         std::find(names->second.begin(), names->second.end(), short_name) != names->second.end();
}

std::string kind_word(std::string_view kind) {
  kind = kind.substr(0, kind.find('/'));
  return std::string(kind.substr(kind.rfind('.') + 1));
}

Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path& path) {
  const Result<toml::table> parsed = parse_toml(text, path.string());
  if (!parsed) return parsed.error();
  const toml::table& table = *parsed;
  std::optional<Error> error;
  Reader top(path, table, "", error);
  top.allow_only(
      {"id", "name", "version", "kinds", "provides", "abi", "library", "package", "requires"});
  Manifest manifest;
  manifest.path = path;
  manifest.id = top.text("id");
  manifest.name = top.text("name");
  manifest.version = top.text("version");
  manifest.library = top.text("library");
  manifest.package = top.text("package", false);
  if (!error && !is_reverse_dns(manifest.id))
    top.fail_at(table.get("id")->source(),
                "the id \"" + manifest.id + "\" is not of the form \"org.example.plugin\"");
  read_kinds(top, table, manifest);

  Reader abi = top.section("abi", true);
  abi.allow_only({"major", "least_host_minor"});
  manifest.abi_major = abi.small_number("major");
  manifest.least_host_minor = abi.small_number("least_host_minor");

  Reader needs = top.section("requires", false);
  needs.allow_only({"cpu", "notes"});
  manifest.cpu_features = needs.texts("cpu", false);
  manifest.notes = needs.texts("notes", false);
  if (error) return *error;
  return manifest;
}

Result<Manifest> read_manifest(const std::filesystem::path& path) {
  std::error_code ignored;
  std::ifstream file;  // opened when it is a file: a pipe would have to be waited for
  if (std::filesystem::is_regular_file(path, ignored)) file.open(path, std::ios::binary);
  if (!file.is_open())
    return fail(HALOGEN_E_IO, path.string() + ": the plugin manifest cannot be read");
  std::string text(kMaxTomlBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return parse_manifest(text, path);
}

}  // namespace halogen
