// Looking into values and calling them.
#include "core/text/template/interpreter.h"

#include "core/text/template/builtins.h"
#include "core/text/template/format.h"
#include "core/text/template/literals.h"
#include "core/text/template/operators.h"

namespace halogen::jinja {

namespace {

constexpr std::size_t kScanLimit = 16;  // variables up to which a scan beats the index

std::string no_attribute(const Value& object, std::string_view name) {
  if (is_forbidden_method(object.kind(), name)) {
    return "templates may not change a " + std::string(object.type_name()) + " with '" +
           std::string(name) + "'; build a new one";
  }
  return "a value of type '" + std::string(object.type_name()) + "' has no attribute '" +
         std::string(name) + "'";
}

std::string no_element(Budget& budget, const Value& object, const Value& key) {
  return "a value of type '" + std::string(object.type_name()) + "' has no element " +
         to_representation(budget, key).substr(0, 80);
}

}  // namespace

std::optional<std::size_t> Scope::position(std::string_view name) const {
  if (!index_.empty()) {
    const auto at = index_.find(name);
    return at == index_.end() ? std::nullopt : std::optional(at->second);
  }
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    if (variables_[i].first == name) return i;
  }
  return std::nullopt;
}

const Value* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
    if (const auto at = scope->position(name)) return &scope->variables_[*at].second;
  }
  return nullptr;
}

void Scope::set(std::string_view name, const Value& value) {
  if (const auto at = position(name)) {
    variables_[*at].second = value;
    return;
  }
  variables_.emplace_back(name, value);
  if (variables_.size() <= kScanLimit) return;
  if (index_.empty()) {
    for (std::size_t i = 0; i < variables_.size(); ++i) index_.emplace(variables_[i].first, i);
  } else {
    index_.emplace(name, variables_.size() - 1);
  }
}

void Interpreter::write(std::string_view text) {
  budget_.allocate(text.size());
  if (text.size() > budget_.limits().output_bytes - output_.size()) {
    raise("the template writes more than " + std::to_string(budget_.limits().output_bytes) +
          " bytes");
  }
  output_.append(text);
}

Value Interpreter::call(const Value& callee, const Arguments& arguments) {
  const DepthGuard guard(budget_);
  budget_.step();
  if (callee.is(Kind::undefined)) raise(callee.undefined_reason());
  if (!callee.is(Kind::native)) {
    raise("a value of type '" + std::string(callee.type_name()) + "' cannot be called");
  }
  return callee.as_native().call(*this, arguments);
}

std::optional<Value> Interpreter::own_attribute(const Value& object, std::string_view name) {
  if (object.is(Kind::native)) return object.as_native().attribute(*this, name);
  if (object.is(Kind::tuple) && object.as_sequence().is_group) {
    if (name == "grouper") return object.as_sequence().items[0];
    if (name == "list") return object.as_sequence().items[1];
  }
  if (const Builtin* method = find_method(object.kind(), name)) {
    return heap_.native(heap_.make<BoundMethod>(object, *method));
  }
  return std::nullopt;
}

Value Interpreter::attribute(const Value& object, std::string_view name) {
  if (object.is(Kind::undefined)) raise(object.undefined_reason());
  if (auto own = own_attribute(object, name)) return *own;
  if (object.is(Kind::dict) && !is_forbidden_method(Kind::dict, name)) {
    if (const Value* value = object.as_dict().find(name)) return *value;
  }
  return heap_.undefined(no_attribute(object, name));
}

Value Interpreter::item(const Value& object, const Value& key) {
  if (object.is(Kind::undefined)) raise(object.undefined_reason());
  if (object.is(Kind::dict)) {
    const bool hashable = !key.is(Kind::list) && !key.is(Kind::dict);
    if (const Value* value = hashable ? object.as_dict().find(key) : nullptr) return *value;
  } else if (key.is_integral()) {
    if (auto value = item_at(heap_, object, key.as_integer())) return *value;
  }
  if (key.is(Kind::string)) {
    if (auto own = own_attribute(object, key.as_text())) return *own;
  }
  return heap_.undefined(no_element(budget_, object, key));
}

Value Interpreter::path(const Value& object, const Value& path) {
  if (!path.is(Kind::string)) return path.is(Kind::none) ? object : item(object, path);
  std::string_view rest = path.as_text();
  Value value = object;
  for (;;) {
    const std::size_t dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    const bool number =
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    value = item(value,
                 number ? Value::integer(parse_integer(part, 10).value_or(0)) : heap_.string(part));
    if (dot == std::string_view::npos) return value;
    rest.remove_prefix(dot + 1);
  }
}

Value Interpreter::apply_filter(std::string_view name, const Value& subject,
                                const Arguments& arguments) {
  const Builtin* filter = find_filter(name);
  if (filter == nullptr) raise("there is no filter named '" + std::string(name) + "'");
  return invoke(*this, *filter, subject, arguments);
}

bool Interpreter::apply_test(std::string_view name, const Value& subject,
                             const Arguments& arguments) {
  const Builtin* test = find_test(name);
  if (test == nullptr) raise("there is no test named '" + std::string(name) + "'");
  return truthy(invoke(*this, *test, subject, arguments));
}

}  // namespace halogen::jinja
