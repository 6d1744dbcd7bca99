// What the report says of failures, and how a failed case is repeated.
#include "core/check/report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace halogen::check {
namespace {

class ReportTest : public testing::Test {
 protected:
  ReportTest() {
    options_.plugin.manifest.id = "org.example.thing";
    options_.plugin.manifest.version = "1.2.3";
    options_.settings = {{"exact", "true"}, {"note", "it's"}};
    options_.seed = 7;
    report_.emplace(ReportHead{"9.9", "thing.so", {"device    fast"}, {}}, options_);
    report_->add({"backend/linear/Q4_K/1", {Verdict::pass, "", "relative RMS 1e-3", 0.25}});
    report_->add({"backend/linear/Q4_K/2", {Verdict::pass, "", "relative RMS 2e-3", 0.5}});
    report_->add({"backend/rope/plain/64", Outcome::failed("row 0 is off")});
    report_->add({"backend/norm/l2/plain", Outcome::unsupported("no L2 norm")});
  }
  Options options_;
  std::optional<Report> report_;
};

TEST_F(ReportTest, NamesEachFailureWithTheCommandThatRepeatsIt) {
  const std::string body = report_->body(false, std::chrono::seconds(2));
  EXPECT_NE(body.find("FAIL backend/rope/plain/64\n  row 0 is off\n  again: halogen check thing.so "
                      "--filter backend/rope/plain/64 --set exact=true --set 'note=it'\\''s' "
                      "--seed 7\n"),
            std::string::npos)
      << body;
}

TEST_F(ReportTest, SumsUpGroupsWithTheirWorst) {
  const std::string body = report_->body(false, std::chrono::seconds(2));
  EXPECT_NE(body.find("2 pass      worst: relative RMS 2e-3, 0.5 of the bound\n"),
            std::string::npos)
      << body;
  EXPECT_NE(body.find("1 unsupported  no L2 norm\n"), std::string::npos) << body;
  EXPECT_NE(body.find("\n4 cases in 2.0 s: 2 pass, 1 fail, 0 skipped, 1 unsupported\n"),
            std::string::npos)
      << body;
}

TEST_F(ReportTest, RepeatsWithEverythingThatChoosesTheCase) {
  options_ = {};
  options_.quick = true;
  options_.required = {"backend/*"};
  Report report({"9.9", "thing", {}, {"/some/where"}}, options_);
  report.add({"backend/rope/plain/64", Outcome::failed("row 0 is off")});
  const std::string body = report.body(false, std::chrono::seconds(2));
  EXPECT_NE(body.find("again: halogen check thing --filter backend/rope/plain/64 --plugin-path "
                      "/some/where --require 'backend/*' --quick --seed 1\n"),
            std::string::npos)
      << body;
}

TEST_F(ReportTest, NamesTheKindsOfWhichNothingIsKnown) {
  EXPECT_TRUE(report_->unjudged_kinds().empty());
  report_->add({"loader/path/pipe", Outcome::skipped("no pipes here")});
  report_->add({"sampler/greedy/ties", Outcome::unsupported("no")});
  report_->add({"sampler/greedy/first", Outcome::failed("no")});
  EXPECT_EQ(report_->unjudged_kinds(), std::vector<std::string>{"loader"});
}

TEST_F(ReportTest, HeadSaysWhatWasCheckedAndHow) {
  const std::string head = report_->head();
  EXPECT_NE(head.find("check of org.example.thing 1.2.3\n"), std::string::npos) << head;
  EXPECT_NE(head.find("\ndevice    fast\n"), std::string::npos) << head;
  EXPECT_NE(head.find("seed 7, precision q8, exact = true"), std::string::npos) << head;
}

TEST_F(ReportTest, JsonHasEveryCase) {
  const auto json = nlohmann::json::parse(report_->json(std::chrono::seconds(2)));
  EXPECT_EQ(json["cases"].size(), 4U);
  EXPECT_EQ(json["fail"], 1);
  EXPECT_EQ(json["cases"][1]["share"], 0.5);
  EXPECT_EQ(json["cases"][2]["verdict"], "fail");
  EXPECT_EQ(json["cases"][2]["sentence"], "row 0 is off");
}

}  // namespace
}  // namespace halogen::check
