/* Reaches every type that crosses the plugin boundary, so that abidw finds them all in one object.
 * Drafts (halogen/draft) are not part of the promise. */
#include "halogen/backend.h"
#include "halogen/loader.h"
#include "halogen/plugin.h"
#include "halogen/sampler.h"
#include "halogen/scheduler.h"

void halogen_sdk_types(const halogen_plugin*, const halogen_loader_factory*,
                       const halogen_backend_factory*, const halogen_sampler_factory*,
                       const halogen_scheduler_factory*, const halogen_type_traits*);
void halogen_sdk_types(const halogen_plugin* plugin, const halogen_loader_factory* loader,
                       const halogen_backend_factory* backend,
                       const halogen_sampler_factory* sampler,
                       const halogen_scheduler_factory* scheduler,
                       const halogen_type_traits* traits) {
  (void)plugin;
  (void)loader;
  (void)backend;
  (void)sampler;
  (void)scheduler;
  (void)traits;
}
