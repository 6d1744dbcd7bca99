#include "core/bench/offline_report.h"

#include <nlohmann/json.hpp>

#include "core/bench/table.h"

namespace halogen::bench {
namespace {

using Json = nlohmann::ordered_json;

Table table_of(const std::vector<OfflineRow>& rows) {
  Table table({"work", "tok/s", "spread", "ms", "GB/s", "ceiling", "share", "bound by"});
  for (const OfflineRow& row : rows) {
    table.add({row.name(), fixed(row.rate.median, 1), percent(row.rate.spread()),
               fixed(row.milliseconds, 2), fixed(row.gigabytes, 1), fixed(row.ceiling, 1),
               percent(row.share()), row.memory_bound ? "memory" : "arithmetic"});
  }
  return table;
}

std::string machine(const OfflineReport& report) {
  return "this machine with " + std::to_string(report.threads) + " threads: reads " +
         fixed(report.speed.read_bandwidth / 1e9, 1) + " GB/s, " +
         fixed(report.speed.quantised_operations / 1e9, 0) + " Gop/s in 8-bit products, " +
         fixed(report.speed.float_operations / 1e9, 0) + " Gop/s in floats";
}

}  // namespace

std::string OfflineReport::text() const {
  return model + "\n" + machine(*this) + "\n\n" + table_of(rows).text();
}

std::string OfflineReport::markdown() const {
  return model + "; " + machine(*this) + ".\n\n" + table_of(rows).markdown();
}

std::string OfflineReport::json() const {
  Json root;
  root["model"] = model;
  root["threads"] = threads;
  root["read_bandwidth"] = speed.read_bandwidth;
  root["quantised_operations_per_second"] = speed.quantised_operations;
  root["float_operations_per_second"] = speed.float_operations;
  root["rows"] = Json::array();
  for (const OfflineRow& row : rows) {
    const bool prefill = row.work == OfflineRow::Work::prefill;
    root["rows"].push_back({{"work", prefill ? "prefill" : "decode"},
                            {"tokens", row.tokens},
                            {"depth", row.depth},
                            {"batch", row.batch},
                            {"tokens_per_second", row.rate.median},
                            {"least", row.rate.least},
                            {"most", row.rate.most},
                            {"milliseconds", row.milliseconds},
                            {"gigabytes_per_second", row.gigabytes},
                            {"ceiling", row.ceiling},
                            {"share", row.share()},
                            {"bound_by", row.memory_bound ? "memory" : "arithmetic"}});
  }
  return root.dump(2) + "\n";
}

}  // namespace halogen::bench
