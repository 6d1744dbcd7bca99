#include "core/base/metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace halogen {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

const char* kind_name(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter:
      return "counter";
    case MetricKind::gauge:
      return "gauge";
    case MetricKind::histogram:
      break;
  }
  return "histogram";
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char text[40];
  if (value == std::floor(value) && std::fabs(value) < 9007199254740992.0) {
    std::snprintf(text, sizeof text, "%.0f", value);
    return text;
  }
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || (quotes && c == '"')) out += '\\';
    out += c;
  }
  return out;
}

// `a="b",c="d"`, without braces.
std::string shown(const MetricLabels& labels) {
  std::string out;
  for (const auto& [key, value] : labels) {
    if (!out.empty()) out += ',';
    out += key + "=\"" + escaped(value, true) + '"';
  }
  return out;
}

void append_sample(std::string& out, std::string_view name, std::string_view labels,
                   std::string_view value) {
  out += name;
  if (!labels.empty()) {
    out += '{';
    out += labels;
    out += '}';
  }
  out += ' ';
  out += value;
  out += '\n';
}

void append_histogram(std::string& out, const std::string& name, const std::string& labels,
                      const Metric& metric) {
  const auto counts = metric.bucket_counts();
  uint64_t below = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    const std::string bound = i < metric.bounds().size() ? number(metric.bounds()[i]) : "+Inf";
    append_sample(out, name + "_bucket",
                  labels + (labels.empty() ? "" : ",") + "le=\"" + bound + '"',
                  std::to_string(below));
  }
  append_sample(out, name + "_sum", labels, number(metric.value()));
  append_sample(out, name + "_count", labels, std::to_string(below));
}

// Seconds from a tenth of a millisecond (a step) to two minutes (a long prompt); bytes from a page
// to a model; anything else by powers of two, as batch sizes go.
std::vector<double> default_bounds(std::string_view name) {
  if (name.ends_with("_seconds"))
    return {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
            0.25,   0.5,     1,      2.5,   5,      10,    30,   60,    120};
  std::vector<double> bounds;
  const bool bytes = name.ends_with("_bytes");
  const double last = bytes ? 1024.0 * 1024 * 1024 * 64 : 65536;
  for (double bound = bytes ? 4096 : 1; bound <= last; bound *= bytes ? 16 : 2)
    bounds.push_back(bound);
  return bounds;
}

Error invalid(std::string message) {
  return fail(HALOGEN_E_INVALID, std::move(message));
}

Status check_labels(std::string_view name, MetricKind kind, const MetricLabels& labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    const std::string& key = labels[i].first;
    const std::string where = "metric " + std::string(name) + ": label \"" + key + "\" ";
    if (!is_name(key) || key.starts_with("__"))
      return invalid(where + "is not made of letters, digits and underscores");
    if (kind == MetricKind::histogram && key == "le")
      return invalid(where + "is the histogram's own");
    for (size_t j = 0; j < i; ++j)
      if (labels[j].first == key) return invalid(where + "is given twice");
  }
  return {};
}

}  // namespace

Metric::Metric(MetricKind kind, std::vector<double> bounds)
    : kind_(kind), bounds_(std::move(bounds)) {
  if (kind_ == MetricKind::histogram)
    buckets_ = std::make_unique<std::atomic<uint64_t>[]>(bounds_.size() + 1);
}

void Metric::add(double amount) {
  if (kind_ == MetricKind::histogram || (kind_ == MetricKind::counter && !(amount >= 0))) return;
  value_.fetch_add(amount, std::memory_order_relaxed);
}

void Metric::set(double value) {
  if (kind_ == MetricKind::gauge) value_.store(value, std::memory_order_relaxed);
}

void Metric::observe(double value) {
  if (kind_ != MetricKind::histogram || std::isnan(value)) return;
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  buckets_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  value_.fetch_add(value, std::memory_order_relaxed);
}

std::vector<uint64_t> Metric::bucket_counts() const {
  std::vector<uint64_t> counts;
  if (buckets_)
    for (size_t i = 0; i <= bounds_.size(); ++i)
      counts.push_back(buckets_[i].load(std::memory_order_relaxed));
  return counts;
}

std::string MetricRegistry::text() const {
  const std::scoped_lock lock(mutex_);
  std::string out;
  for (const auto& [name, family] : families_) {
    out += "# HELP " + name + ' ' + escaped(family.help, false) + '\n';
    out += "# TYPE " + name + ' ' + kind_name(family.kind) + '\n';
    for (const auto& [labels, series] : family.series) {
      if (family.kind == MetricKind::histogram) {
        append_histogram(out, name, labels, series->metric);
      } else {
        append_sample(out, name, labels, number(series->metric.value()));
      }
    }
  }
  return out;
}

MetricGroup::~MetricGroup() {
  const std::scoped_lock lock(registry_.mutex_);
  for (const auto& [name, labels] : held_) {
    const auto family = registry_.families_.find(name);
    const auto series = family->second.series.find(labels);
    if (--series->second->users > 0) continue;
    family->second.series.erase(series);
    if (family->second.series.empty()) registry_.families_.erase(family);
  }
}

Result<Metric*> MetricGroup::make(MetricKind kind, std::string_view name, std::string_view help,
                                  MetricLabels labels, std::vector<double> bounds) {
  const std::string quoted = "metric \"" + std::string(name) + '"';
  if (!is_name(name))
    return invalid(quoted + ": a name is made of letters, digits and underscores");
  if (kind == MetricKind::counter && !name.ends_with("_total"))
    return invalid(quoted + ": the name of a counter ends in _total");
  if (auto checked = check_labels(name, kind, labels); !checked) return checked.error();
  if (kind != MetricKind::histogram) {
    bounds.clear();
  } else if (bounds.empty()) {
    bounds = default_bounds(name);
  } else if (!std::is_sorted(bounds.begin(), bounds.end(), std::less_equal<>())) {
    return invalid(quoted + ": the bounds of its buckets do not ascend");
  }

  const std::scoped_lock lock(mutex_, registry_.mutex_);
  auto family = registry_.families_.find(name);
  if (family != registry_.families_.end() && family->second.kind != kind)
    return invalid(quoted + " is already a " + kind_name(family->second.kind) + ", not a " +
                   kind_name(kind));
  if (family == registry_.families_.end())
    family = registry_.families_.try_emplace(std::string(name), kind, std::string(help)).first;

  auto key = shown(labels);
  auto& series = family->second.series[key];
  if (!series)
    series.reset(new MetricRegistry::Series{Metric(kind, std::move(bounds)), std::move(labels), 0});
  std::pair<std::string, std::string> held(name, std::move(key));
  if (std::find(held_.begin(), held_.end(), held) == held_.end()) {
    held_.push_back(std::move(held));
    ++series->users;
  }
  return &series->metric;
}

Result<MetricLabels> parse_metric_labels(std::string_view text) {
  MetricLabels labels;
  size_t at = 0;
  const auto error = [&](const char* expected) {
    return invalid("metric labels `" + std::string(text) + "`: expected " + expected + " at byte " +
                   std::to_string(at));
  };
  while (at < text.size()) {
    if (!labels.empty() && text[at++] != ',') {
      --at;
      return error("a comma");
    }
    const size_t equals = text.find("=\"", at);
    if (equals == std::string_view::npos) return error("name=\"value\"");
    std::string key(text.substr(at, equals - at));
    if (!is_name(key)) return error("a name of letters, digits and underscores");
    std::string value;
    for (at = equals + 2; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] != '\\') {
        value += text[at];
        continue;
      }
      if (++at == text.size()) break;
      if (text[at] != 'n' && text[at] != '"' && text[at] != '\\') return error("\\\\, \\\" or \\n");
      value += text[at] == 'n' ? '\n' : text[at];
    }
    if (at >= text.size()) return error("a closing quote");
    ++at;
    labels.emplace_back(std::move(key), std::move(value));
  }
  return labels;
}

}  // namespace halogen
