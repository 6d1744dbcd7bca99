// Calling macros: parameters, defaults, and the implicit `varargs`, `kwargs` and `caller`.
#include "core/text/template/macro.h"

#include <algorithm>

namespace halogen::jinja {

Value MacroObject::call(Interpreter& interpreter, const Arguments& arguments) {
  Scope& inner = interpreter.make_scope(&scope_);
  bind(interpreter, arguments, inner);
  return interpreter.heap().string(
      interpreter.capture([&] { execute_body(definition_.body, interpreter, inner); }));
}

void MacroObject::bind(Interpreter& interpreter, const Arguments& arguments, Scope& inner) const {
  Heap& heap = interpreter.heap();
  const auto& parameters = definition_.parameters;
  const std::string label = "macro '" + definition_.name + "'";
  auto named = arguments.named;
  std::vector<const Parameter*> missing;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (i < arguments.positional.size()) {
      inner.set(parameters[i].name, arguments.positional[i]);
      continue;
    }
    const auto given = std::find_if(named.begin(), named.end(), [&](const auto& argument) {
      return argument.first == parameters[i].name;
    });
    if (given == named.end()) {
      missing.push_back(&parameters[i]);
    } else {
      inner.set(parameters[i].name, given->second);
      named.erase(given);
    }
  }
  const bool explicit_caller = std::any_of(parameters.begin(), parameters.end(),
                                           [](const auto& p) { return p.name == "caller"; });
  if (definition_.uses_caller && !explicit_caller) {
    const auto given = std::find_if(named.begin(), named.end(), [](const auto& argument) {
      return argument.first == "caller";
    });
    inner.set("caller",
              given == named.end() ? heap.undefined("there is no caller here") : given->second);
    if (given != named.end()) named.erase(given);
  }
  if (definition_.uses_kwargs) {
    auto* kwargs = heap.make<DictObject>();
    for (const auto& [name, value] : named) kwargs->set(heap.string(name), value);
    inner.set("kwargs", heap.dict(kwargs));
  } else if (!named.empty()) {
    raise(label + " has no parameter named '" + named.front().first + "'");
  }
  const std::size_t taken = std::min(parameters.size(), arguments.positional.size());
  if (definition_.uses_varargs) {
    inner.set("varargs",
              heap.tuple({arguments.positional.begin() + static_cast<std::ptrdiff_t>(taken),
                          arguments.positional.end()}));
  } else if (arguments.positional.size() > parameters.size()) {
    raise(label + " takes at most " + std::to_string(parameters.size()) + " arguments");
  }
  for (const Parameter* parameter : missing) {
    inner.set(parameter->name,
              parameter->fallback
                  ? parameter->fallback->evaluate(interpreter, inner)
                  : heap.undefined("parameter '" + parameter->name + "' was not provided"));
  }
}

std::optional<Value> MacroObject::attribute(Interpreter& interpreter, std::string_view name) {
  if (name == "name") return interpreter.heap().string(definition_.name);
  if (name == "arguments") {
    std::vector<Value> names;
    for (const Parameter& parameter : definition_.parameters) {
      names.push_back(interpreter.heap().string(parameter.name));
    }
    return interpreter.heap().tuple(std::move(names));
  }
  if (name == "catch_kwargs") return Value::boolean(definition_.uses_kwargs);
  if (name == "catch_varargs") return Value::boolean(definition_.uses_varargs);
  if (name == "caller") return Value::boolean(definition_.uses_caller);
  return std::nullopt;
}

}  // namespace halogen::jinja
