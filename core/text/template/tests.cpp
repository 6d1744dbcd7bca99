// What can follow `is`.
#include "core/text/template/builtins.h"
#include "core/text/template/format.h"
#include "core/text/template/unicode.h"

namespace halogen::jinja {

namespace {

Value answer(bool value) {
  return Value::boolean(value);
}

template <Kind kind>
Value is_kind(Call& call) {
  return answer(call.subject.is(kind));
}

template <ComparisonOperator operation>
Value compares(Call& call) {
  return answer(compare(call.heap(), operation, call.subject, call.value(0)));
}

bool remainder_is(Call& call, const Value& divisor, std::int64_t rest) {
  return equal(call.heap(), arithmetic(call.heap(), BinaryOperator::modulo, call.subject, divisor),
               Value::integer(rest));
}

// True when `text` has letters of the one case and none of the other.
bool has_only_case(std::string_view text, bool upper) {
  bool found = false;
  for (std::size_t at = 0; at < text.size(); at += code_point_size(text, at)) {
    const char32_t c = code_point(text, at);
    if (upper ? is_lower_case(c) : is_upper_case(c)) return false;
    found |= upper ? is_upper_case(c) : is_lower_case(c);
  }
  return found;
}

bool is_sequence(const Value& value) {
  return size_of(value).has_value() && !value.is(Kind::dict_view);
}

bool is_callable(const Value& value) {
  return value.is(Kind::undefined) || (value.is(Kind::native) && value.as_native().callable());
}

Value is_boolean_value(Call& call, bool wanted) {
  return answer(call.subject.is(Kind::boolean) && truthy(call.subject) == wanted);
}

constexpr Builtin kTests[] = {
    {"defined", "", [](Call& c) { return answer(!c.subject.is(Kind::undefined)); }},
    {"undefined", "", is_kind<Kind::undefined>},
    {"none", "", is_kind<Kind::none>},
    {"boolean", "", is_kind<Kind::boolean>},
    {"true", "", [](Call& c) { return is_boolean_value(c, true); }},
    {"false", "", [](Call& c) { return is_boolean_value(c, false); }},
    {"integer", "", is_kind<Kind::integer>},
    {"float", "", is_kind<Kind::real>},
    {"number", "", [](Call& c) { return answer(c.subject.is_number()); }},
    {"string", "", is_kind<Kind::string>},
    {"mapping", "", is_kind<Kind::dict>},
    {"iterable", "", [](Call& c) { return answer(is_iterable(c.subject)); }},
    {"sequence", "", [](Call& c) { return answer(is_sequence(c.subject)); }},
    {"callable", "", [](Call& c) { return answer(is_callable(c.subject)); }},
    {"escaped", "", [](Call& c) { return answer(c.subject.is_markup()); }},
    {"lower", "", [](Call& c) { return answer(has_only_case(c.subject_text(), false)); }},
    {"upper", "", [](Call& c) { return answer(has_only_case(c.subject_text(), true)); }},
    {"odd", "", [](Call& c) { return answer(remainder_is(c, Value::integer(2), 1)); }},
    {"even", "", [](Call& c) { return answer(remainder_is(c, Value::integer(2), 0)); }},
    {"divisibleby", "num", [](Call& c) { return answer(remainder_is(c, c.value(0), 0)); }},
    {"sameas", "other", [](Call& c) { return answer(c.subject.same_as(c.value(0))); }},
    {"in", "seq", [](Call& c) { return answer(contains(c.heap(), c.value(0), c.subject)); }},
    {"==", "other", compares<ComparisonOperator::equal>},
    {"eq", "other", compares<ComparisonOperator::equal>},
    {"equalto", "other", compares<ComparisonOperator::equal>},
    {"!=", "other", compares<ComparisonOperator::not_equal>},
    {"ne", "other", compares<ComparisonOperator::not_equal>},
    {"<", "other", compares<ComparisonOperator::less>},
    {"lt", "other", compares<ComparisonOperator::less>},
    {"lessthan", "other", compares<ComparisonOperator::less>},
    {"<=", "other", compares<ComparisonOperator::less_equal>},
    {"le", "other", compares<ComparisonOperator::less_equal>},
    {">", "other", compares<ComparisonOperator::greater>},
    {"gt", "other", compares<ComparisonOperator::greater>},
    {"greaterthan", "other", compares<ComparisonOperator::greater>},
    {">=", "other", compares<ComparisonOperator::greater_equal>},
    {"ge", "other", compares<ComparisonOperator::greater_equal>},
    {"filter", "", [](Call& c) { return answer(find_filter(c.subject_text()) != nullptr); }},
    {"test", "", [](Call& c) { return answer(find_test(c.subject_text()) != nullptr); }},
};

}  // namespace

const Builtin* find_test(std::string_view name) {
  return find_in(kTests, name);
}

}  // namespace halogen::jinja
