// Filters that apply a filter or test to each item: map, select, reject and their attribute forms.
#include "core/text/template/builtins.h"

namespace halogen::jinja {

namespace {

Value take_first(Arguments& arguments, std::string_view filter, std::string_view what) {
  if (arguments.positional.empty()) {
    raise("'" + std::string(filter) + "' lacks " + std::string(what));
  }
  const Value value = arguments.positional.front();
  arguments.positional.erase(arguments.positional.begin());
  return value;
}

std::string_view name_of(const Value& value, std::string_view filter) {
  if (!value.is(Kind::string)) {
    raise("'" + std::string(filter) + "' wants the name of a filter or test as a string");
  }
  return value.as_text();
}

Value map_attribute(Call& call) {
  Value attribute;
  Value fallback = Value::none();
  for (const auto& [name, value] : call.rest.named) {
    if (name == "attribute")
      attribute = value;
    else if (name == "default")
      fallback = value;
    else
      raise("'map' has no argument named '" + name + "'");
  }
  std::vector<Value> results;
  for (const Value& item : items_of(call.heap(), call.subject)) {
    const Value value = call.interpreter.path(item, attribute);
    results.push_back(value.is(Kind::undefined) && !fallback.is(Kind::none) ? fallback : value);
  }
  return call.heap().iterator(std::move(results), "generator");
}

Value map(Call& call) {
  if (!truthy(call.subject)) return call.heap().iterator({}, "generator");
  if (call.rest.positional.empty() && !call.rest.named.empty()) return map_attribute(call);
  Arguments arguments = call.rest;
  const Value filter = take_first(arguments, "map", "the name of a filter");
  std::vector<Value> results;
  for (const Value& item : items_of(call.heap(), call.subject)) {
    results.push_back(call.interpreter.apply_filter(name_of(filter, "map"), item, arguments));
  }
  return call.heap().iterator(std::move(results), "generator");
}

// Keeps the items for which the test gives `wanted`.
Value select(Call& call, bool wanted, bool by_attribute) {
  if (!truthy(call.subject)) return call.heap().iterator({}, "generator");
  const std::string_view filter = call.builtin.name;
  Arguments arguments = call.rest;
  Value attribute;
  if (by_attribute) attribute = take_first(arguments, filter, "the name of an attribute");
  Value test;
  if (!arguments.positional.empty()) test = take_first(arguments, filter, "the name of a test");
  std::vector<Value> kept;
  for (const Value& item : items_of(call.heap(), call.subject)) {
    const Value value = by_attribute ? call.interpreter.path(item, attribute) : item;
    call.budget().step();
    const bool passed = test.is(Kind::undefined)
                            ? truthy(value)
                            : call.interpreter.apply_test(name_of(test, filter), value, arguments);
    if (passed == wanted) kept.push_back(item);
  }
  return call.heap().iterator(std::move(kept), "generator");
}

constexpr Builtin kFilters[] = {
    {"map", "*", map},
    {"select", "*", [](Call& call) { return select(call, true, false); }},
    {"reject", "*", [](Call& call) { return select(call, false, false); }},
    {"selectattr", "*", [](Call& call) { return select(call, true, true); }},
    {"rejectattr", "*", [](Call& call) { return select(call, false, true); }},
};

}  // namespace

const Builtin* find_selection_filter(std::string_view name) {
  return find_in(kFilters, name);
}

}  // namespace halogen::jinja
