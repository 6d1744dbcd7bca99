// Finding the loader that reads a model file, and opening the file with it.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/config/profile.h"
#include "core/host/registry.h"
#include "core/model/loaded_model.h"

namespace halogen {

struct OpenedModel {
  PluginHandle loader;
  LoadedModel model;
};

// [worker] Opens profile.model.path with the loader that the profile names, or, for "auto", with
// the one that is surest to read it. A file that no loader reads gets an error that says what it
// looks like and what to do.
Result<OpenedModel> open_model(const Profile& profile, PluginHost& plugins);

}  // namespace halogen
