// Collects everything that is wrong with a profile, so that an operator sees it all at once.
#pragma once

#include <string>
#include <utility>

#include "core/base/printable.h"
#include "core/base/result.h"

namespace halogen {

class Problems {
 public:
  void add(const Error& error) {
    const std::string line = printable(error.message);
    if (!any_) {
      all_ = {error.status, line};
    } else {
      all_.message += "\n" + line;
      if (all_.status != error.status) all_.status = HALOGEN_E_INVALID;
    }
    any_ = true;
  }
  bool any() const { return any_; }
  // One line for each problem; the status that all have, else INVALID. Only where any().
  Error error() const { return all_; }

 private:
  Error all_;
  bool any_ = false;
};

}  // namespace halogen
