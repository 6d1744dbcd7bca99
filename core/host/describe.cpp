#include "core/host/describe.h"

namespace halogen {
namespace {

const char* state_text(PluginState state) {
  switch (state) {
    case PluginState::available:
      return "available";
    case PluginState::library_missing:
      return "library missing";
    case PluginState::wrong_abi:
      return "for another plugin ABI";
    case PluginState::manifest_broken:
      return "manifest broken";
    case PluginState::failed:
      break;
  }
  return "failed to load";
}

std::string generation_text(const PluginInfo::Generation& generation) {
  const std::string number =
      "generation " + std::to_string(generation.number) + " (" + generation.version + ")";
  switch (generation.state) {
    case GenerationState::serving:
      return "loaded, " + number;
    case GenerationState::unloading:
      return "unloading, " + number;
    case GenerationState::unloaded:
      return "unloaded, " + number;
    case GenerationState::resident:
      break;
  }
  return "resident, " + number + ": " + generation.why_resident;
}

void field(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += "  ";
  out += name;
  out.append(name.size() < 10 ? 10 - name.size() : 1, ' ');
  out += value;
  out += '\n';
}

std::string provides_text(const Manifest& manifest) {
  std::string text;
  for (const std::string& kind : manifest.kinds)
    for (const std::string& name : manifest.provides.at(kind))
      text += (text.empty() ? "" : ", ") + kind_word(kind) + " \"" + name + "\" (" + kind + ')';
  return text;
}

std::string needs_text(const Manifest& manifest) {
  std::string text;
  for (const std::string& feature : manifest.cpu_features)
    text += (text.empty() ? "cpu " : ", cpu ") + feature;
  for (const std::string& note : manifest.notes) text += (text.empty() ? "" : ", ") + note;
  return text;
}

}  // namespace

std::string describe(const std::vector<PluginInfo>& plugins) {
  if (plugins.empty()) return "no plugins found\n";
  std::string out;
  for (const PluginInfo& plugin : plugins) {
    const Manifest& manifest = plugin.manifest;
    if (!out.empty()) out += '\n';
    out += manifest.id.empty() ? manifest.path.string() : manifest.id;
    if (!manifest.version.empty()) out += ' ' + manifest.version;
    if (!manifest.name.empty()) out += " — " + manifest.name;
    out += '\n';
    std::string state;
    for (const auto& generation : plugin.generations)
      state += (state.empty() ? "" : "; ") + generation_text(generation);
    if (plugin.state != PluginState::available || state.empty())
      state = state_text(plugin.state) + (state.empty() ? "" : "; " + state);
    field(out, "state", state);
    field(out, "error", plugin.message);
    field(out, "provides", provides_text(manifest));
    field(out, "library", plugin.library.string());
    field(out, "manifest", manifest.id.empty() ? "" : manifest.path.string());
    field(out, "from", plugin.origin);
    field(out, "package", manifest.package);
    field(out, "needs", needs_text(manifest));
  }
  return out;
}

}  // namespace halogen
