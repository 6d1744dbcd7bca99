// What each kind of expression computes.
#include "core/text/template/builtins.h"
#include "core/text/template/expressions.h"
#include "core/text/template/format.h"
#include "core/text/template/interpreter.h"
#include "core/text/template/operators.h"

namespace halogen::jinja {

namespace {

std::optional<std::int64_t> slice_bound(const ExpressionPtr& expression, Interpreter& interpreter,
                                        Scope& scope) {
  if (!expression) return std::nullopt;
  const Value value = expression->evaluate(interpreter, scope);
  if (value.is(Kind::none)) return std::nullopt;
  if (!value.is_integral()) raise("a slice bound must be an integer or none");
  return value.as_integer();
}

// A builtin function as a value: `range`, `namespace`.
class Function final : public NativeObject {
 public:
  explicit Function(const Builtin& builtin) : builtin_(builtin) {}
  std::string_view type_name() const override { return "function"; }
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, const Arguments& arguments) override {
    return invoke(interpreter, builtin_, Value(), arguments);
  }

 private:
  const Builtin& builtin_;
};

}  // namespace

Value Expression::evaluate(Interpreter& interpreter, Scope& scope) const {
  const DepthGuard guard(interpreter.budget());
  interpreter.set_line(line);
  interpreter.budget().step();
  return compute(interpreter, scope);
}

Value Name::compute(Interpreter& interpreter, Scope& scope) const {
  interpreter.budget().step(scope.depth() / 8);  // looking through them takes its time
  if (const Value* value = scope.find(name)) return *value;
  Heap& heap = interpreter.heap();
  if (const Builtin* function = find_function(name)) {
    return heap.native(heap.make<Function>(*function));
  }
  return heap.undefined("'" + name + "' is undefined");
}

Value SequenceLiteral::compute(Interpreter& interpreter, Scope& scope) const {
  std::vector<Value> values;
  values.reserve(items.size());
  for (const auto& item : items) values.push_back(item->evaluate(interpreter, scope));
  Heap& heap = interpreter.heap();
  return sequence_kind == Kind::list ? heap.list(std::move(values)) : heap.tuple(std::move(values));
}

Value DictLiteral::compute(Interpreter& interpreter, Scope& scope) const {
  Heap& heap = interpreter.heap();
  auto* dict = heap.make<DictObject>();
  heap.budget().allocate(entries.size() * sizeof(DictObject::Entry));
  for (const auto& [key, value] : entries) {
    const Value name = key->evaluate(interpreter, scope);
    dict->set(name, value->evaluate(interpreter, scope));
  }
  return heap.dict(dict);
}

Value Attribute::compute(Interpreter& interpreter, Scope& scope) const {
  const Value owner = object->evaluate(interpreter, scope);
  interpreter.set_line(line);
  return interpreter.attribute(owner, name);
}

Value Subscript::compute(Interpreter& interpreter, Scope& scope) const {
  const Value owner = object->evaluate(interpreter, scope);
  const Value index = key->evaluate(interpreter, scope);
  interpreter.set_line(line);
  return interpreter.item(owner, index);
}

Value SliceExpression::compute(Interpreter& interpreter, Scope& scope) const {
  const Value owner = object->evaluate(interpreter, scope);
  const auto from = slice_bound(start, interpreter, scope);
  const auto to = slice_bound(stop, interpreter, scope);
  const auto by = slice_bound(step, interpreter, scope);
  interpreter.set_line(line);
  if (owner.is(Kind::undefined)) raise(owner.undefined_reason());
  if (auto part = slice(interpreter.heap(), owner, from, to, by.value_or(1))) return *part;
  return interpreter.heap().undefined("a value of type '" + std::string(owner.type_name()) +
                                      "' has no slices");
}

Arguments ArgumentList::evaluate(Interpreter& interpreter, Scope& scope) const {
  Arguments result;
  for (const auto& value : positional) {
    result.positional.push_back(value->evaluate(interpreter, scope));
  }
  for (const auto& [name, value] : named) {
    result.named.emplace_back(name, value->evaluate(interpreter, scope));
  }
  if (more_positional) {
    const Value more = more_positional->evaluate(interpreter, scope);
    const auto items = items_of(interpreter.heap(), more);
    result.positional.insert(result.positional.end(), items.begin(), items.end());
  }
  if (more_named) {
    const Value more = more_named->evaluate(interpreter, scope);
    if (!more.is(Kind::dict)) raise("the argument after ** must be a mapping");
    for (const auto& entry : more.as_dict().entries) {
      if (!entry.key.is(Kind::string)) raise("the keys of the argument after ** must be strings");
      const std::string name(entry.key.as_text());
      for (const auto& given : result.named) {
        if (given.first == name) raise("the argument '" + name + "' is passed twice");
      }
      result.named.emplace_back(name, entry.value);
    }
  }
  return result;
}

Value CallExpression::compute(Interpreter& interpreter, Scope& scope) const {
  const Value function = callee->evaluate(interpreter, scope);
  const Arguments passed = arguments.evaluate(interpreter, scope);
  interpreter.set_line(line);
  return interpreter.call(function, passed);
}

Value FilterExpression::compute(Interpreter& interpreter, Scope& scope) const {
  return apply(interpreter, scope, Value());
}

Value FilterExpression::apply(Interpreter& interpreter, Scope& scope, Value block_text) const {
  Value input = block_text;
  if (const auto* inner = dynamic_cast<const FilterExpression*>(subject.get())) {
    const DepthGuard guard(interpreter.budget());
    input = inner->apply(interpreter, scope, block_text);
  } else if (subject) {
    input = subject->evaluate(interpreter, scope);
  }
  const Arguments passed = arguments.evaluate(interpreter, scope);
  interpreter.set_line(line);
  if (filter == nullptr) raise("there is no filter named '" + name + "'");
  return invoke(interpreter, *filter, input, passed);
}

Value TestExpression::compute(Interpreter& interpreter, Scope& scope) const {
  const Value input = subject->evaluate(interpreter, scope);
  const Arguments passed = arguments.evaluate(interpreter, scope);
  interpreter.set_line(line);
  if (test == nullptr) raise("there is no test named '" + name + "'");
  return Value::boolean(truthy(invoke(interpreter, *test, input, passed)));
}

Value Unary::compute(Interpreter& interpreter, Scope& scope) const {
  const Value value = operand->evaluate(interpreter, scope);
  interpreter.set_line(line);
  if (operation == UnaryOperator::logical_not) return Value::boolean(!truthy(value));
  if (operation == UnaryOperator::negate) return negate(value);
  if (value.is(Kind::undefined)) raise(value.undefined_reason());
  if (!value.is_number()) raise("'+' needs a number, not '" + std::string(value.type_name()) + "'");
  return value.is(Kind::boolean) ? Value::integer(value.as_integer()) : value;
}

Value Binary::compute(Interpreter& interpreter, Scope& scope) const {
  const Value a = left->evaluate(interpreter, scope);
  const Value b = right->evaluate(interpreter, scope);
  interpreter.set_line(line);
  return arithmetic(interpreter.heap(), operation, a, b);
}

Value Logical::compute(Interpreter& interpreter, Scope& scope) const {
  const Value first = left->evaluate(interpreter, scope);
  return truthy(first) == conjunction ? right->evaluate(interpreter, scope) : first;
}

Value Comparison::compute(Interpreter& interpreter, Scope& scope) const {
  Value current = first->evaluate(interpreter, scope);
  for (const auto& [operation, operand] : links) {
    const Value next = operand->evaluate(interpreter, scope);
    interpreter.set_line(line);
    if (!compare(interpreter.heap(), operation, current, next)) return Value::boolean(false);
    current = next;
  }
  return Value::boolean(true);
}

Value Concatenation::compute(Interpreter& interpreter, Scope& scope) const {
  TextBuilder out(interpreter.budget());
  for (const auto& part : parts) {
    append_text(out, interpreter.budget(), part->evaluate(interpreter, scope));
  }
  return interpreter.heap().string(out.take());
}

Value Conditional::compute(Interpreter& interpreter, Scope& scope) const {
  if (truthy(condition->evaluate(interpreter, scope))) return value->evaluate(interpreter, scope);
  if (otherwise) return otherwise->evaluate(interpreter, scope);
  return interpreter.heap().undefined("the inline if-expression on line " + std::to_string(line) +
                                      " was false and has no else");
}

}  // namespace halogen::jinja
