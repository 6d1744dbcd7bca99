// Tables as people read them in a terminal, and as Markdown for a document.
#pragma once

#include <string>
#include <vector>

namespace halogen::bench {

class Table {
 public:
  // The first column stands left, the others right.
  explicit Table(std::vector<std::string> heads) : rows_{std::move(heads)} {}

  // As many cells as there are heads.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  std::string text() const;
  std::string markdown() const;

 private:
  std::string lines(const char* before, const char* between, const char* after, bool rule) const;

  std::vector<std::vector<std::string>> rows_;
};

// "12.3": with so many digits behind the point.
std::string fixed(double value, int digits);
// "45 %" of a share of 1.
std::string percent(double share);
// "9.2 GB": in powers of 1000, as bandwidths and files are given.
std::string decimal_bytes(double bytes);

}  // namespace halogen::bench
