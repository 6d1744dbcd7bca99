// Binding of arguments, and the lookup across the tables.
#include "core/text/template/builtins.h"

#include "core/text/template/format.h"

namespace halogen::jinja {

namespace {

struct ParameterName {
  std::string_view name;
  bool optional;
};

// The parameters of `builtin` one after the other; returns how many there are.
std::size_t split_parameters(std::string_view text,
                             std::array<ParameterName, Call::kMaxParameters>& names, bool& open) {
  std::size_t count = 0;
  open = false;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    std::string_view name = text.substr(0, blank);
    text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
    if (name == "*") {
      open = true;
      continue;
    }
    const bool optional = name.front() == '?';
    if (optional) name.remove_prefix(1);
    names[count++] = {name, optional};
  }
  return count;
}

[[noreturn]] void wrong_type(const Builtin& builtin, std::size_t i, std::string_view wanted,
                             const Value& got) {
  if (got.is(Kind::undefined)) raise(got.undefined_reason());
  raise("'" + std::string(builtin.name) + "' wants " + std::string(wanted) + " as its argument " +
        std::to_string(i + 1) + ", not a value of type '" + std::string(got.type_name()) + "'");
}

}  // namespace

Call::Call(Interpreter& run, const Builtin& called, const Value& of, const Arguments& arguments)
    : interpreter(run), builtin(called), subject(of) {
  std::array<ParameterName, kMaxParameters> names{};
  bool open = false;
  const std::size_t count = split_parameters(called.parameters, names, open);
  const std::string label = "'" + std::string(called.name) + "'";
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
    if (i < count)
      bound_[i] = arguments.positional[i];
    else if (open)
      rest.positional.push_back(arguments.positional[i]);
    else
      raise(label + " takes at most " + std::to_string(count) + " arguments");
  }
  for (const auto& [name, argument] : arguments.named) {
    std::size_t i = 0;
    while (i < count && names[i].name != name) ++i;
    if (i < count && bound_[i]) raise(label + " got its argument '" + name + "' twice");
    if (i < count)
      bound_[i] = argument;
    else if (open)
      rest.named.emplace_back(name, argument);
    else
      raise(label + " has no argument named '" + name + "'");
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!bound_[i] && !names[i].optional) {
      raise(label + " lacks its argument '" + std::string(names[i].name) + "'");
    }
  }
}

std::string_view Call::text(std::size_t i, std::string_view fallback) const {
  if (!has(i)) return fallback;
  if (!bound_[i]->is(Kind::string)) wrong_type(builtin, i, "a string", *bound_[i]);
  return bound_[i]->as_text();
}

std::int64_t Call::integer(std::size_t i, std::int64_t fallback) const {
  if (!has(i)) return fallback;
  if (!bound_[i]->is_integral()) wrong_type(builtin, i, "an integer", *bound_[i]);
  return bound_[i]->as_integer();
}

bool Call::boolean(std::size_t i, bool fallback) const {
  return has(i) ? truthy(*bound_[i]) : fallback;
}

std::optional<std::int64_t> Call::optional_integer(std::size_t i) const {
  if (!has(i) || bound_[i]->is(Kind::none)) return std::nullopt;
  return integer(i);
}

std::string Call::subject_text() {
  return to_text(budget(), subject);
}

Value Call::same_kind(std::string text) {
  return heap().string(std::move(text), subject.is_markup());
}

Value invoke(Interpreter& interpreter, const Builtin& builtin, const Value& subject,
             const Arguments& arguments) {
  const DepthGuard guard(interpreter.budget());
  interpreter.budget().step();
  // Builtins pass over a subject string a few times at most.
  if (subject.is(Kind::string)) interpreter.budget().step(subject.as_text().size() / 64);
  Call call(interpreter, builtin, subject, arguments);
  return builtin.run(call);
}

const Builtin* find_filter(std::string_view name) {
  if (const Builtin* filter = find_text_filter(name)) return filter;
  if (const Builtin* filter = find_sequence_filter(name)) return filter;
  return find_selection_filter(name);
}

const Builtin* find_method(Kind kind, std::string_view name) {
  return kind == Kind::string ? find_string_method(name) : find_container_method(kind, name);
}

}  // namespace halogen::jinja
