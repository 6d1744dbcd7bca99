// Finding a setting in the schema, and guessing the one that a misspelt key means.
#include <algorithm>

#include "core/base/nearest.h"
#include "core/config/schema.h"

namespace halogen {
namespace {

// "--max-num-seqs" equals "max_num_seqs".
std::string flag_as_key(std::string_view flag) {
  std::string key(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())));
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::size_t spelling_distance(std::string_view key, std::string_view last, const Setting& setting) {
  std::size_t least = edit_distance(key, setting.key);
  // A point more for the wrong table, so that a slip within the right one wins.
  least = std::min(least, edit_distance(last, setting.name()) + 1);
  for (const std::string_view flag : setting.flags)
    least = std::min(least, edit_distance(last, flag_as_key(flag)) + 1);
  return least;
}

}  // namespace

const Setting* find_setting(std::string_view key) {
  for (const Setting& setting : settings())
    if (setting.key == key) return &setting;
  return nullptr;
}

std::string_view nearest_key(std::string_view key) {
  constexpr std::size_t longest_key = 128;
  if (key.size() > longest_key) return {};
  const std::string_view last = key.substr(key.rfind('.') + 1);  // npos + 1 is 0: no dot
  std::string_view best;
  std::size_t least = tolerated_edits(last) + 1;
  for (const Setting& setting : settings()) {
    const std::size_t distance = spelling_distance(key, last, setting);
    if (distance < least) {
      least = distance;
      best = setting.key;
    }
  }
  return best;
}

bool is_plugin_kind(std::string_view table) {
  return table == "backend" || table == "loader" || table == "sampler" || table == "scheduler";
}

}  // namespace halogen
