#include "core/serve/factory_checks.h"

#include <gtest/gtest.h>

namespace halogen {
namespace {

halogen_scheduler_factory whole() {
  halogen_scheduler_factory factory{};
  factory.struct_size = sizeof factory;
  factory.create = [](const halogen_config*, halogen_scheduler**,
                      halogen_error*) -> halogen_status { return HALOGEN_OK; };
  factory.destroy = [](halogen_scheduler*) {};
  factory.plan = [](halogen_scheduler*, const halogen_schedule_view*, halogen_schedule_plan*,
                    halogen_error*) -> halogen_status { return HALOGEN_OK; };
  return factory;
}

TEST(FactoryChecks, AcceptAWholeTable) {
  const halogen_scheduler_factory factory = whole();
  EXPECT_TRUE(check_factory("org.example.s", &factory).ok());
}

TEST(FactoryChecks, NameTheFunctionThatIsMissing) {
  halogen_scheduler_factory factory = whole();
  factory.destroy = nullptr;
  const Status status = check_factory("org.example.s", &factory);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(
      status.error().message,
      "plugin 'org.example.s': its scheduler table has no 'destroy', which schedulers must have");
}

TEST(FactoryChecks, DoNotReadBeyondAShortTable) {
  halogen_scheduler_factory factory = whole();
  factory.struct_size = offsetof(halogen_scheduler_factory, plan);
  const Status status = check_factory("org.example.s", &factory);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("'plan'"), std::string::npos);
}

TEST(FactoryChecks, RefuseNoTableAtAll) {
  EXPECT_FALSE(
      check_factory("org.example.s", static_cast<const halogen_sampler_factory*>(nullptr)).ok());
}

}  // namespace
}  // namespace halogen
