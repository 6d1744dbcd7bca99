#include "core/serve/open_model.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "halogen/loader.h"

#include "core/serve/factory_checks.h"
#include "core/serve/plugin_settings.h"

namespace halogen {
namespace {

using FirstBytes = std::array<uint8_t, 4096>;

// The file's first bytes; none for a folder.
Result<std::vector<uint8_t>> read_first_bytes(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error && error != std::errc::no_such_file_or_directory) {
    return fail(HALOGEN_E_IO, path + ": " + error.message());
  }
  if (!std::filesystem::exists(status)) {
    return fail(HALOGEN_E_NOT_FOUND,
                path + ": no such file or folder; set model.path (--model) to a model file");
  }
  std::vector<uint8_t> first;
  if (std::filesystem::is_directory(status)) return first;
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(HALOGEN_E_IO, path + ": cannot open it: " + std::strerror(errno));
  first.resize(FirstBytes().size());
  file.read(reinterpret_cast<char*>(first.data()), static_cast<std::streamsize>(first.size()));
  first.resize(static_cast<size_t>(file.gcount()));
  return first;
}

// What a file that no loader reads probably is, and the way out.
std::string explain_unreadable(const std::string& path, const std::vector<uint8_t>& first) {
  const std::string head(first.begin(), first.end());
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return "it is a folder, which this version does not read yet; give a GGUF file (of several "
           "parts, the first)";
  }
  if (path.ends_with(".safetensors")) {
    return "it looks like a safetensors checkpoint, which this version does not read yet; convert "
           "it to GGUF";
  }
  if (head.starts_with("PK") || head.starts_with("\x80")) {
    return "it looks like a PyTorch checkpoint, which may run code when it is read; convert it to "
           "GGUF or "
           "safetensors";
  }
  if (head.starts_with("version https://git-lfs")) {
    return "it is a Git LFS pointer and not the model; fetch the real file with 'git lfs pull'";
  }
  if (first.empty()) return "it is empty";
  return "it is no model file that an installed loader reads; GGUF files begin with the letters "
         "GGUF";
}

struct Candidate {
  PluginHandle plugin;
  const halogen_loader_factory* factory = nullptr;
};

Result<Candidate> find_loader(const Profile& profile, PluginHost& plugins) {
  const std::string& path = profile.model.path;
  auto first = read_first_bytes(path);
  if (!first) return first.error();
  std::vector<std::string> names{profile.model.loader};
  if (profile.model.loader == "auto") {
    names.clear();
    for (const PluginInfo& info : plugins.list()) {
      if (info.manifest.has_kind(HALOGEN_LOADER_KIND)) names.push_back(info.manifest.id);
    }
  }
  Candidate best;
  uint32_t surest = 0;
  std::string failures;
  for (const std::string& name : names) {
    auto plugin = plugins.load(HALOGEN_LOADER_KIND, name);
    if (!plugin) {
      failures += "; " + plugin.error().message;
      continue;
    }
    const auto* factory = (*plugin)->factory_as<halogen_loader_factory>(HALOGEN_LOADER_KIND);
    if (auto whole = check_factory((*plugin)->id(), factory); !whole) {
      failures += "; " + whole.error().message;
      continue;
    }
    const uint32_t confidence = names.size() == 1 && profile.model.loader != "auto"
                                    ? 100
                                    : factory->probe(path.c_str(), first->data(), first->size());
    if (confidence > surest) {
      surest = confidence;
      best = {*plugin, factory};
    }
  }
  if (best.factory) return best;
  if (profile.model.loader != "auto") return fail(HALOGEN_E_NOT_FOUND, failures.substr(2));
  if (names.empty())
    failures += "; no loader plugin is installed (halogen-loader-gguf has the one for GGUF)";
  return fail(HALOGEN_E_UNSUPPORTED, path + ": " + explain_unreadable(path, *first) + failures);
}

}  // namespace

Result<OpenedModel> open_model(const Profile& profile, PluginHost& plugins) {
  auto loader = find_loader(profile, plugins);
  if (!loader) return loader.error();
  const halogen_loader_factory& factory = *loader->factory;
  auto settings = plugin_settings(profile, "loader", factory.name,
                                  {factory.config_keys, factory.n_config_keys});
  if (!settings) return settings.error();
  auto model = LoadedModel::open(factory, profile.model.path, settings->config());
  if (!model) return model.error();
  return OpenedModel{std::move(loader->plugin), std::move(*model)};
}

}  // namespace halogen
