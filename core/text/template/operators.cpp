// Truth, equality, order, membership and arithmetic.
#include "core/text/template/operators.h"

#include <cmath>
#include <string>

#include "core/text/template/escape.h"
#include "core/text/template/percent_format.h"

namespace halogen::jinja {

namespace {

[[noreturn]] void reject_undefined(const Value& value) {
  raise(value.undefined_reason());
}

std::string type_of(const Value& value) {
  return "'" + std::string(value.type_name()) + "'";
}

[[noreturn]] void reject(std::string_view symbol, const Value& left, const Value& right) {
  if (left.is(Kind::undefined)) reject_undefined(left);
  if (right.is(Kind::undefined)) reject_undefined(right);
  raise("unsupported operand types for " + std::string(symbol) + ": " + type_of(left) + " and " +
        type_of(right));
}

[[noreturn]] void overflow() {
  raise("an integer does not fit in 64 bits");
}

// Integers are compared exactly with reals: a long double holds every 64-bit integer.
int compare_numbers(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) {
    return (a.as_integer() > b.as_integer()) - (a.as_integer() < b.as_integer());
  }
  const auto left = a.is_integral() ? static_cast<long double>(a.as_integer()) : a.as_real();
  const auto right = b.is_integral() ? static_cast<long double>(b.as_integer()) : b.as_real();
  return (left > right) - (left < right);
}

bool is_nan(const Value& value) {
  return value.is(Kind::real) && std::isnan(value.as_real());
}

bool equal_items(Heap& heap, const std::vector<Value>& left, const std::vector<Value>& right) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!equal(heap, left[i], right[i])) return false;
  }
  return true;
}

bool equal_dicts(Heap& heap, const DictObject& left, const DictObject& right) {
  if (left.entries.size() != right.entries.size()) return false;
  for (const auto& entry : left.entries) {
    const Value* other = right.find(entry.key);
    if (other == nullptr || !equal(heap, entry.value, *other)) return false;
  }
  return true;
}

// Negative, zero or positive; throws for values without an order.
int order(Heap& heap, std::string_view symbol, const Value& left, const Value& right) {
  const DepthGuard guard(heap.budget());
  heap.budget().step();
  if (left.is_number() && right.is_number()) return compare_numbers(left, right);
  if (left.is(Kind::string) && right.is(Kind::string)) {
    heap.budget().step(std::min(left.as_text().size(), right.as_text().size()) / 64);
    return left.as_text().compare(right.as_text());
  }
  if (left.kind() != right.kind() || !left.is_sequence()) reject(symbol, left, right);
  const auto& a = left.as_sequence().items;
  const auto& b = right.as_sequence().items;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (!equal(heap, a[i], b[i])) return order(heap, symbol, a[i], b[i]);
  }
  return (a.size() > b.size()) - (a.size() < b.size());
}

Value add_integers(std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(left, right, &result)) overflow();
  return Value::integer(result);
}

// As Python does it, so that a == a // b * b + a % b holds: the quotient itself may be rounded up
// to the next integer, as that of 2.5 / 0.1 is.
Value floor_divide_reals(double left, double right) {
  if (right == 0) raise("float floor division by zero");
  const double rest = std::fmod(left, right);
  double quotient = (left - rest) / right;
  if (rest != 0 && (rest < 0) != (right < 0)) quotient -= 1;
  if (quotient == 0) return Value::real(std::copysign(0.0, left / right));
  const double whole = std::floor(quotient);
  return Value::real(quotient - whole > 0.5 ? whole + 1 : whole);
}

Value floor_divide(const Value& left, const Value& right) {
  if (left.is_integral() && right.is_integral()) {
    const std::int64_t a = left.as_integer();
    const std::int64_t b = right.as_integer();
    if (b == 0) raise("integer division by zero");
    if (b == -1) return negate(Value::integer(a));
    return Value::integer(a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
  }
  return floor_divide_reals(left.as_real(), right.as_real());
}

Value modulo(const Value& left, const Value& right) {
  if (left.is_integral() && right.is_integral()) {
    const std::int64_t a = left.as_integer();
    const std::int64_t b = right.as_integer();
    if (b == 0) raise("integer modulo by zero");
    if (b == -1) return Value::integer(0);
    const std::int64_t rest = a % b;
    return Value::integer(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
  }
  const double b = right.as_real();
  if (b == 0) raise("float modulo by zero");
  double rest = std::fmod(left.as_real(), b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  return Value::real(rest == 0 ? std::copysign(0.0, b) : rest);
}

Value power(const Value& left, const Value& right) {
  if (left.is_integral() && right.is_integral() && right.as_integer() >= 0) {
    std::int64_t base = left.as_integer();
    std::int64_t result = 1;
    for (std::int64_t exponent = right.as_integer(); exponent > 0; exponent >>= 1) {
      if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) overflow();
      if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) overflow();
    }
    return Value::integer(result);
  }
  const double base = left.as_real();
  const double exponent = right.as_real();
  if (base == 0 && exponent < 0) raise("0.0 cannot be raised to a negative power");
  const double result = std::pow(base, exponent);
  if (std::isnan(result) && !std::isnan(base) && !std::isnan(exponent)) {
    raise("a negative number cannot be raised to a fractional power");
  }
  if (std::isinf(result) && !std::isinf(base) && !std::isinf(exponent)) {
    raise("the result of ** is too large");
  }
  return Value::real(result);
}

Value repeat(Heap& heap, const Value& what, std::int64_t times) {
  if (times < 0) times = 0;
  heap.budget().require(static_cast<std::uint64_t>(times),
                        what.is(Kind::string) ? what.as_text().size()
                                              : what.as_sequence().items.size() * sizeof(Value));
  if (what.is(Kind::string)) {
    const std::string_view text = what.as_text();
    TextBuilder out(heap.budget());
    if (!text.empty()) {
      heap.budget().step(static_cast<std::uint64_t>(times));
      for (std::int64_t i = 0; i < times; ++i) out.append(text);
    }
    return heap.string(out.take(), what.is_markup());
  }
  const auto& items = what.as_sequence().items;
  std::vector<Value> result;
  if (!items.empty()) {
    for (std::int64_t i = 0; i < times; ++i) {
      heap.budget().allocate(items.size() * sizeof(Value));
      heap.budget().step();
      result.insert(result.end(), items.begin(), items.end());
    }
  }
  return what.is(Kind::list) ? heap.list(std::move(result)) : heap.tuple(std::move(result));
}

Value add(Heap& heap, const Value& left, const Value& right) {
  if (left.is(Kind::string) && right.is(Kind::string)) {
    TextBuilder out(heap.budget());
    const bool markup = left.is_markup() || right.is_markup();
    if (markup && !left.is_markup())
      append_escaped(out, left.as_text());
    else
      out.append(left.as_text());
    if (markup && !right.is_markup())
      append_escaped(out, right.as_text());
    else
      out.append(right.as_text());
    return heap.string(out.take(), markup);
  }
  if (left.kind() == right.kind() && left.is_sequence()) {
    const auto& a = left.as_sequence().items;
    const auto& b = right.as_sequence().items;
    heap.budget().allocate((a.size() + b.size()) * sizeof(Value));
    std::vector<Value> items(a);
    items.insert(items.end(), b.begin(), b.end());
    return left.is(Kind::list) ? heap.list(std::move(items)) : heap.tuple(std::move(items));
  }
  reject("+", left, right);
}

Value multiply(Heap& heap, const Value& left, const Value& right) {
  const auto repeatable = [](const Value& v) { return v.is(Kind::string) || v.is_sequence(); };
  if (repeatable(left) && right.is_integral()) return repeat(heap, left, right.as_integer());
  if (repeatable(right) && left.is_integral()) return repeat(heap, right, left.as_integer());
  reject("*", left, right);
}

Value calculate(BinaryOperator operation, const Value& left, const Value& right) {
  const bool exact = left.is_integral() && right.is_integral();
  switch (operation) {
    case BinaryOperator::add:
      return exact ? add_integers(left.as_integer(), right.as_integer())
                   : Value::real(left.as_real() + right.as_real());
    case BinaryOperator::subtract: {
      if (!exact) return Value::real(left.as_real() - right.as_real());
      std::int64_t result = 0;
      if (__builtin_sub_overflow(left.as_integer(), right.as_integer(), &result)) overflow();
      return Value::integer(result);
    }
    case BinaryOperator::multiply: {
      if (!exact) return Value::real(left.as_real() * right.as_real());
      std::int64_t result = 0;
      if (__builtin_mul_overflow(left.as_integer(), right.as_integer(), &result)) overflow();
      return Value::integer(result);
    }
    case BinaryOperator::divide:
      if (right.as_real() == 0) raise("division by zero");
      return Value::real(left.as_real() / right.as_real());
    case BinaryOperator::floor_divide:
      return floor_divide(left, right);
    case BinaryOperator::modulo:
      return modulo(left, right);
    case BinaryOperator::power:
      return power(left, right);
  }
  return {};
}

std::string_view symbol_of(BinaryOperator operation) {
  constexpr std::string_view symbols[] = {"+", "-", "*", "/", "//", "%", "**"};
  return symbols[static_cast<std::size_t>(operation)];
}

}  // namespace

bool truthy(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
    case Kind::integer:
      return value.as_integer() != 0;
    case Kind::real:
      return value.as_real() != 0;
    case Kind::string:
      return !value.as_text().empty();
    case Kind::list:
    case Kind::tuple:
      return !value.as_sequence().items.empty();
    case Kind::dict:
      return !value.as_dict().entries.empty();
    case Kind::dict_view:
      return !value.as_view().dict.entries.empty();
    case Kind::range:
      return value.as_range().size > 0;
    case Kind::iterator:
    case Kind::native:
      return true;
  }
  return true;
}

bool equal(Heap& heap, const Value& left, const Value& right) {
  const DepthGuard guard(heap.budget());
  heap.budget().step();
  if (left.is_number() && right.is_number()) {
    return !is_nan(left) && !is_nan(right) && compare_numbers(left, right) == 0;
  }
  if (left.kind() != right.kind()) return false;
  switch (left.kind()) {
    case Kind::undefined:
    case Kind::none:
      return true;
    case Kind::string:
      heap.budget().step(left.as_text().size() / 64);
      return left.as_text() == right.as_text();
    case Kind::list:
    case Kind::tuple:
      return equal_items(heap, left.as_sequence().items, right.as_sequence().items);
    case Kind::dict:
      return equal_dicts(heap, left.as_dict(), right.as_dict());
    case Kind::range: {
      const RangeObject& a = left.as_range();
      const RangeObject& b = right.as_range();
      return a.size == b.size &&
             (a.size == 0 || (a.start == b.start && (a.size == 1 || a.step == b.step)));
    }
    default:
      return left.same_as(right);
  }
}

bool compare(Heap& heap, ComparisonOperator operation, const Value& left, const Value& right) {
  switch (operation) {
    case ComparisonOperator::equal:
      return equal(heap, left, right);
    case ComparisonOperator::not_equal:
      return !equal(heap, left, right);
    case ComparisonOperator::in:
      return contains(heap, right, left);
    case ComparisonOperator::not_in:
      return !contains(heap, right, left);
    default:
      break;
  }
  constexpr std::string_view symbols[] = {"==", "!=", "<", "<=", ">", ">="};
  const int result = order(heap, symbols[static_cast<std::size_t>(operation)], left, right);
  if (is_nan(left) || is_nan(right)) return false;
  switch (operation) {
    case ComparisonOperator::less:
      return result < 0;
    case ComparisonOperator::less_equal:
      return result <= 0;
    case ComparisonOperator::greater:
      return result > 0;
    default:
      return result >= 0;
  }
}

bool contains(Heap& heap, const Value& container, const Value& item) {
  if (container.is(Kind::string)) {
    if (item.is(Kind::undefined)) reject_undefined(item);
    if (!item.is(Kind::string)) {
      raise("'in' needs a string on its left when a string is on its right, not " + type_of(item));
    }
    heap.budget().step(container.as_text().size() / 64);
    return container.as_text().find(item.as_text()) != std::string_view::npos;
  }
  if (container.is(Kind::dict)) return container.as_dict().find(item) != nullptr;
  if (container.is(Kind::dict_view) && container.as_view().part == DictViewObject::Part::keys) {
    return container.as_view().dict.find(item) != nullptr;
  }
  if (!is_iterable(container)) raise("'in' cannot look into a value of type " + type_of(container));
  const std::vector<Value> items = items_of(heap, container);
  for (const Value& candidate : items) {
    if (candidate.same_as(item) || equal(heap, candidate, item)) return true;
  }
  return false;
}

Value arithmetic(Heap& heap, BinaryOperator operation, const Value& left, const Value& right) {
  if (left.is_number() && right.is_number()) return calculate(operation, left, right);
  if (operation == BinaryOperator::modulo && left.is(Kind::string)) {
    if (right.is(Kind::undefined)) reject_undefined(right);
    return percent_format(heap, left, right);
  }
  if (operation == BinaryOperator::add) return add(heap, left, right);
  if (operation == BinaryOperator::multiply) return multiply(heap, left, right);
  reject(symbol_of(operation), left, right);
}

Value negate(const Value& operand) {
  if (operand.is(Kind::real)) return Value::real(-operand.as_real());
  if (operand.is(Kind::undefined)) reject_undefined(operand);
  if (!operand.is_integral()) raise("cannot negate a value of type " + type_of(operand));
  std::int64_t result = 0;
  if (__builtin_sub_overflow(std::int64_t{0}, operand.as_integer(), &result)) overflow();
  return Value::integer(result);
}

}  // namespace halogen::jinja
