// A factory as its kind has it.
#pragma once

#include <string_view>

#include "halogen/backend.h"
#include "halogen/loader.h"
#include "halogen/sampler.h"
#include "halogen/scheduler.h"

namespace halogen::check {

// [any] What `visit` answers for the table of a kind of halogen's own; for other kinds the value of
// an empty answer. `factory` may be null.
template <typename Answer, typename Visit>
Answer visit_factory(std::string_view kind, const void* factory, Visit visit) {
  if (kind == HALOGEN_BACKEND_KIND)
    return visit(static_cast<const halogen_backend_factory*>(factory));
  if (kind == HALOGEN_LOADER_KIND)
    return visit(static_cast<const halogen_loader_factory*>(factory));
  if (kind == HALOGEN_SAMPLER_KIND)
    return visit(static_cast<const halogen_sampler_factory*>(factory));
  if (kind == HALOGEN_SCHEDULER_KIND)
    return visit(static_cast<const halogen_scheduler_factory*>(factory));
  return Answer();
}

}  // namespace halogen::check
