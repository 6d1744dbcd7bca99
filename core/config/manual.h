// The manual pages, written from the settings' table as docs/configuration.md is.
#pragma once

#include <string>

namespace halogen {

// [any] halogen(1): the program, its commands, flags, environment, signals and exit statuses.
std::string program_manual();

// [any] halogen.toml(5): the file of settings, every key with its values and its default.
std::string profile_manual();

}  // namespace halogen
