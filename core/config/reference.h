// Documents written from the schema, so that they cannot fall behind it.
#pragma once

#include <string>

namespace halogen {

// [any] docs/configuration.md: every setting with its flag, values, default and how it changes.
std::string configuration_reference();

// [any] etc/halogen.toml: every setting as a comment that holds its default.
std::string default_config();

}  // namespace halogen
