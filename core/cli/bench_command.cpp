// halogen bench: a model on this machine, or a server under load.
#include <iostream>

#include "core/bench/offline_report.h"
#include "core/cli/commands.h"
#include "core/cli/measured_model.h"
#include "core/cli/progress_line.h"

namespace halogen::cli {
namespace {

int bench_server(const BenchArguments& arguments) {
  auto address = bench::parse_url(arguments.url);
  if (!address) return report(address.error());
  bench::LoadOptions options = arguments.load;
  options.server = *address;
  const bench::LoadResult result = bench::run_load(options);
  if (result.requests.empty()) {
    return report(
        fail(HALOGEN_E_IO, "no request was answered; the first failed with: " + result.failure));
  }
  std::cout << (arguments.output.json ? load_json(options, result) : load_text(options, result));
  return result.failed == 0 ? kSuccess : kFailure;
}

int bench_model(const BenchArguments& arguments) {
  bench::OfflineOptions options = arguments.offline;
  std::erase(options.prefills, 0U);
  std::erase(options.batches, 0U);
  if (options.row_count() == 0) {
    report(fail(HALOGEN_E_INVALID, "bench: neither --prefill nor --batch leaves anything to do"));
    return kUsage;
  }
  auto profile = profile_of(arguments.model);
  if (!profile) return report(profile.error());
  start_log(profile->log);
  profile->engine.context = options.longest_context();
  profile->engine.max_concurrent_requests = options.largest_batch();
  bench::OfflineReport found;
  found.threads = threads_of(*profile);
  found.speed = bench::measure_machine(found.threads);
  auto loaded = load_measured(*profile);
  if (!loaded) return report(loaded.error());
  found.model = loaded->model->names().front() + ": " + loaded->model->describe();

  ProgressLine line;
  const size_t all = options.row_count();
  const auto done = [&](const bench::OfflineRow& row) {
    found.rows.push_back(row);
    line.show("measuring", static_cast<double>(found.rows.size()) / static_cast<double>(all));
  };
  const Status measured =
      bench::run_offline(*loaded->model, options, found.speed, found.threads, done);
  line.wipe();
  if (!measured) return report(measured.error());
  const OutputArguments& output = arguments.output;
  std::cout << (output.json ? found.json() : output.markdown ? found.markdown() : found.text());
  return kSuccess;
}

}  // namespace

int bench(const BenchArguments& arguments) {
  if (!arguments.url.empty()) return bench_server(arguments);
  if (!arguments.model.model.empty()) return bench_model(arguments);
  report(fail(HALOGEN_E_INVALID, "bench: name a model file, or a server with --url"));
  return kUsage;
}

}  // namespace halogen::cli
