// The flags of the commands that measure: bench, plan and perplexity.
#pragma once

#include "core/cli/commands.h"

namespace CLI {
class App;
}

namespace halogen::cli {

// Each adds its command to the program; the arguments are filled while that is parsed.
CLI::App* add_bench(CLI::App& app, BenchArguments& arguments);
CLI::App* add_plan(CLI::App& app, PlanArguments& arguments);
CLI::App* add_perplexity(CLI::App& app, PerplexityArguments& arguments);

}  // namespace halogen::cli
