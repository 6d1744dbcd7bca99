// The rows of an offline measurement as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/bench/offline.h"

namespace halogen::bench {

struct OfflineReport {
  std::string model;     // as the log describes it
  uint32_t threads = 0;  // that the ceilings were measured with
  MachineSpeed speed;
  std::vector<OfflineRow> rows;

  std::string text() const;
  std::string markdown() const;
  std::string json() const;
};

}  // namespace halogen::bench
