#include "core/base/metrics.h"

#include <cmath>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

namespace halogen::test {
namespace {

TEST(Metrics, TextFormat) {
  MetricRegistry registry;
  MetricGroup group(registry);
  Metric* requests = *group.make(MetricKind::counter, "requests_total", "Requests\nby \\ path.",
                                 {{"path", "/v1/\"x\"\\\n"}, {"code", "200"}});
  requests->add(3);
  requests->add(-1);
  Metric* other = *group.make(MetricKind::counter, "requests_total", "", {{"path", "/"}});
  other->add(0.5);
  Metric* depth = *group.make(MetricKind::gauge, "queue_depth", "Waiting.");
  depth->set(7);
  depth->add(-9);
  Metric* time =
      *group.make(MetricKind::histogram, "step_seconds", "Steps.", {{"model", "m"}}, {0.25, 1});
  for (double seconds : {0.125, 0.25, 0.5, 8.0}) time->observe(seconds);
  EXPECT_EQ(registry.text(),
            "# HELP queue_depth Waiting.\n"
            "# TYPE queue_depth gauge\n"
            "queue_depth -2\n"
            "# HELP requests_total Requests\\nby \\\\ path.\n"
            "# TYPE requests_total counter\n"
            "requests_total{path=\"/\"} 0.5\n"
            "requests_total{path=\"/v1/\\\"x\\\"\\\\\\n\",code=\"200\"} 3\n"
            "# HELP step_seconds Steps.\n"
            "# TYPE step_seconds histogram\n"
            "step_seconds_bucket{model=\"m\",le=\"0.25\"} 2\n"
            "step_seconds_bucket{model=\"m\",le=\"1\"} 3\n"
            "step_seconds_bucket{model=\"m\",le=\"+Inf\"} 4\n"
            "step_seconds_sum{model=\"m\"} 8.875\n"
            "step_seconds_count{model=\"m\"} 4\n");
}

TEST(Metrics, SpecialNumbers) {
  MetricRegistry registry;
  MetricGroup group(registry);
  Metric* gauge = *group.make(MetricKind::gauge, "g", "h");
  const std::string head = "# HELP g h\n# TYPE g gauge\ng ";
  gauge->set(std::numeric_limits<double>::infinity());
  EXPECT_EQ(registry.text(), head + "+Inf\n");
  gauge->set(-std::numeric_limits<double>::infinity());
  EXPECT_EQ(registry.text(), head + "-Inf\n");
  gauge->set(std::nan(""));
  EXPECT_EQ(registry.text(), head + "NaN\n");
  gauge->set(123456789012.0);
  EXPECT_EQ(registry.text(), head + "123456789012\n");
  gauge->set(1e300);
  EXPECT_EQ(registry.text(), head + "1e+300\n");
  gauge->set(0.1);
  EXPECT_EQ(registry.text(), head + "0.1\n");
}

TEST(Metrics, LastGroupTakesTheSeriesAway) {
  MetricRegistry registry;
  auto first = std::make_unique<MetricGroup>(registry);
  auto second = std::make_unique<MetricGroup>(registry);
  Metric* metric = *first->make(MetricKind::gauge, "g", "h");
  EXPECT_EQ(*first->make(MetricKind::gauge, "g", "h"), metric);
  EXPECT_EQ(*second->make(MetricKind::gauge, "g", "h"), metric);
  metric->set(4);
  first.reset();
  EXPECT_EQ(registry.text(), "# HELP g h\n# TYPE g gauge\ng 4\n");
  second.reset();
  EXPECT_EQ(registry.text(), "");
}

TEST(Metrics, Refusals) {
  MetricRegistry registry;
  MetricGroup group(registry);
  const auto error = [&](MetricKind kind, const char* name, MetricLabels labels = {},
                         std::vector<double> bounds = {}) {
    const auto made = group.make(kind, name, "", std::move(labels), std::move(bounds));
    return made ? "no error" : made.error().message;
  };
  EXPECT_EQ(error(MetricKind::gauge, "1st"),
            "metric \"1st\": a name is made of letters, digits and underscores");
  EXPECT_EQ(error(MetricKind::counter, "steps"),
            "metric \"steps\": the name of a counter ends in _total");
  EXPECT_EQ(error(MetricKind::gauge, "g", {{"a-b", ""}}),
            "metric g: label \"a-b\" is not made of letters, digits and underscores");
  EXPECT_EQ(error(MetricKind::gauge, "g", {{"a", ""}, {"a", ""}}),
            "metric g: label \"a\" is given twice");
  EXPECT_EQ(error(MetricKind::histogram, "h", {{"le", ""}}),
            "metric h: label \"le\" is the histogram's own");
  EXPECT_EQ(error(MetricKind::histogram, "h", {}, {2, 1}),
            "metric \"h\": the bounds of its buckets do not ascend");
  EXPECT_EQ(error(MetricKind::gauge, "g"), "no error");
  EXPECT_EQ(error(MetricKind::histogram, "g"), "metric \"g\" is already a gauge, not a histogram");
}

TEST(Metrics, LabelText) {
  EXPECT_EQ(*parse_metric_labels(""), MetricLabels{});
  EXPECT_EQ(*parse_metric_labels(R"(a="1",b="x\"y\\z\n")"),
            (MetricLabels{{"a", "1"}, {"b", "x\"y\\z\n"}}));
  const auto error = [](const char* text) {
    const auto parsed = parse_metric_labels(text);
    return parsed ? "no error" : parsed.error().message;
  };
  EXPECT_EQ(error("a=\"1"), "metric labels `a=\"1`: expected a closing quote at byte 4");
  EXPECT_EQ(error("a=\"1\"b=\"2\""), "metric labels `a=\"1\"b=\"2\"`: expected a comma at byte 5");
  EXPECT_EQ(error("a=\"\\t\""), "metric labels `a=\"\\t\"`: expected \\\\, \\\" or \\n at byte 4");
  EXPECT_EQ(
      error("a b=\"1\""),
      "metric labels `a b=\"1\"`: expected a name of letters, digits and underscores at byte 0");
}

TEST(Metrics, CountsOfThreadsAddUp) {
  MetricRegistry registry;
  MetricGroup group(registry);
  Metric* counter = *group.make(MetricKind::counter, "c_total", "");
  Metric* histogram = *group.make(MetricKind::histogram, "h", "", {}, {1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10000; ++i) {
        counter->add(0.5);
        histogram->observe(i % 2 == 0 ? 1 : 3);
      }
    });
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(registry.text().empty());
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(counter->value(), 20000);
  EXPECT_EQ(histogram->bucket_counts(), (std::vector<uint64_t>{20000, 20000}));
  EXPECT_EQ(histogram->value(), 80000);
}

}  // namespace
}  // namespace halogen::test
