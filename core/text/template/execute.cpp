// What each kind of statement does.
#include "core/text/template/format.h"
#include "core/text/template/interpreter.h"
#include "core/text/template/loop.h"
#include "core/text/template/macro.h"
#include "core/text/template/operators.h"
#include "core/text/template/statements.h"

namespace halogen::jinja {

namespace {

Value captured(Interpreter& interpreter, Scope& scope, const Body& body) {
  std::string text =
      interpreter.capture([&] { execute_body(body, interpreter, interpreter.make_scope(&scope)); });
  return interpreter.heap().string(std::move(text));
}

}  // namespace

Flow execute_body(const Body& body, Interpreter& interpreter, Scope& scope) {
  const DepthGuard guard(interpreter.budget());
  for (const auto& statement : body) {
    interpreter.budget().step();
    interpreter.set_line(statement->line);
    const Flow flow = statement->execute(interpreter, scope);
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

void Target::assign(Interpreter& interpreter, Scope& scope, const Value& value) const {
  if (is_tuple) {
    const std::vector<Value> items = items_of(interpreter.heap(), value);
    if (items.size() != parts.size()) {
      raise("cannot unpack " + std::to_string(items.size()) + " values into " +
            std::to_string(parts.size()) + " names");
    }
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].assign(interpreter, scope, items[i]);
    return;
  }
  if (attribute.empty()) {
    interpreter.budget().allocate(sizeof(Value));
    scope.set(name, value);
    return;
  }
  const Value* owner = scope.find(name);
  DictObject* attributes =
      owner != nullptr && owner->is(Kind::native) ? owner->as_native().assignable() : nullptr;
  if (attributes == nullptr) {
    raise("cannot assign to '" + name + "." + attribute + "': '" + name + "' is not a namespace");
  }
  attributes->set(interpreter.heap().string(attribute), value);
}

Flow Text::execute(Interpreter& interpreter, Scope&) const {
  interpreter.write(text);
  return Flow::normal;
}

Flow Print::execute(Interpreter& interpreter, Scope& scope) const {
  const Value value = expression->evaluate(interpreter, scope);
  if (value.is(Kind::string)) {
    interpreter.write(value.as_text());
  } else {
    interpreter.write(to_text(interpreter.budget(), value));
  }
  return Flow::normal;
}

Flow If::execute(Interpreter& interpreter, Scope& scope) const {
  for (const Branch& branch : branches) {
    if (truthy(branch.condition->evaluate(interpreter, scope))) {
      return execute_body(branch.body, interpreter, scope);
    }
  }
  return execute_body(otherwise, interpreter, scope);
}

Flow For::execute(Interpreter& interpreter, Scope& scope) const {
  run(interpreter, scope, iterable_expression->evaluate(interpreter, scope), 0);
  return Flow::normal;
}

void For::run(Interpreter& interpreter, Scope& scope, const Value& iterable, int depth0) const {
  Heap& heap = interpreter.heap();
  std::vector<Value> items = items_of(heap, iterable);
  if (filter) {
    std::vector<Value> kept;
    for (const Value& item : items) {
      Scope& inner = interpreter.make_scope(&scope);
      target.assign(interpreter, inner, item);
      if (truthy(filter->evaluate(interpreter, inner))) kept.push_back(item);
    }
    items = std::move(kept);
  }
  auto* loop = heap.make<Loop>(*this, scope, std::move(items), depth0);
  // As in Jinja, `else` runs unless some iteration reached its end, even after break or continue.
  bool completed_one = false;
  for (; !loop->finished(); loop->advance()) {
    Scope& inner = interpreter.make_scope(&scope);
    inner.set("loop", heap.native(loop));
    target.assign(interpreter, inner, loop->current());
    const Flow flow = execute_body(body, interpreter, inner);
    if (flow == Flow::normal) completed_one = true;
    if (flow == Flow::break_loop) break;
  }
  if (!completed_one) execute_body(otherwise, interpreter, interpreter.make_scope(&scope));
}

Flow Set::execute(Interpreter& interpreter, Scope& scope) const {
  const Value result = value->evaluate(interpreter, scope);
  interpreter.set_line(line);
  target.assign(interpreter, scope, result);
  return Flow::normal;
}

Flow SetBlock::execute(Interpreter& interpreter, Scope& scope) const {
  Value text = captured(interpreter, scope, body);
  if (filter) text = filter->apply(interpreter, scope, text);
  interpreter.set_line(line);
  target.assign(interpreter, scope, text);
  return Flow::normal;
}

Flow FilterBlock::execute(Interpreter& interpreter, Scope& scope) const {
  const Value text = captured(interpreter, scope, body);
  interpreter.write(to_text(interpreter.budget(), filter->apply(interpreter, scope, text)));
  return Flow::normal;
}

Flow Macro::execute(Interpreter& interpreter, Scope& scope) const {
  Heap& heap = interpreter.heap();
  scope.set(definition.name, heap.native(heap.make<MacroObject>(definition, scope)));
  return Flow::normal;
}

Flow CallBlock::execute(Interpreter& interpreter, Scope& scope) const {
  Heap& heap = interpreter.heap();
  const Value callee = call->callee->evaluate(interpreter, scope);
  Arguments arguments = call->arguments.evaluate(interpreter, scope);
  arguments.named.emplace_back("caller", heap.native(heap.make<MacroObject>(definition, scope)));
  interpreter.set_line(line);
  const Value result = interpreter.call(callee, arguments);
  interpreter.write(to_text(interpreter.budget(), result));
  return Flow::normal;
}

Flow With::execute(Interpreter& interpreter, Scope& scope) const {
  Scope& inner = interpreter.make_scope(&scope);
  for (const auto& [target, value] : assignments) {
    target.assign(interpreter, inner, value->evaluate(interpreter, scope));
  }
  return execute_body(body, interpreter, inner);
}

Flow ScopedBody::execute(Interpreter& interpreter, Scope& scope) const {
  return execute_body(body, interpreter, interpreter.make_scope(&scope));
}

}  // namespace halogen::jinja
