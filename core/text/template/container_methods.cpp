// Methods of lists, tuples and dictionaries. Those that would change their object are missing, as
// in the immutable sandbox that transformers uses; list.pop and list.clear slip through there, too.
#include "core/text/template/builtins.h"

namespace halogen::jinja {

namespace {

Value pop(Call& call) {
  auto& items = call.subject.as_sequence().items;
  std::int64_t at = call.integer(0, -1);
  if (at < 0) at += static_cast<std::int64_t>(items.size());
  if (at < 0 || at >= static_cast<std::int64_t>(items.size()))
    raise("'pop' found no item at its index");
  const Value item = items[static_cast<std::size_t>(at)];
  call.budget().step(items.size() / 16);
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
  return item;
}

Value clear(Call& call) {
  call.subject.as_sequence().items.clear();
  return Value::none();
}

Value index(Call& call) {
  const auto& items = call.subject.as_sequence().items;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (equal(call.heap(), items[i], call.value(0)))
      return Value::integer(static_cast<std::int64_t>(i));
  }
  raise("'index' did not find the value");
}

Value count(Call& call) {
  std::int64_t found = 0;
  for (const Value& item : call.subject.as_sequence().items) {
    if (equal(call.heap(), item, call.value(0))) ++found;
  }
  return Value::integer(found);
}

Value get(Call& call) {
  if (const Value* value = call.subject.as_dict().find(call.value(0))) return *value;
  return call.has(1) ? call.value(1) : Value::none();
}

template <DictViewObject::Part part>
Value view(Call& call) {
  return Value::object(Kind::dict_view,
                       call.heap().make<DictViewObject>(call.subject.as_dict(), part));
}

Value copy_dict(Call& call) {
  auto* copy = call.heap().make<DictObject>();
  const auto& entries = call.subject.as_dict().entries;
  call.budget().allocate(entries.size() * sizeof(DictObject::Entry));
  for (const auto& entry : entries) copy->set(entry.key, entry.value);
  return call.heap().dict(copy);
}

constexpr Builtin kListMethods[] = {
    {"pop", "?index", pop},
    {"clear", "", clear},
    {"copy", "", [](Call& c) { return c.heap().list(c.subject.as_sequence().items); }},
    {"index", "value", index},
    {"count", "value", count},
};

constexpr Builtin kTupleMethods[] = {{"index", "value", index}, {"count", "value", count}};

constexpr Builtin kDictMethods[] = {
    {"get", "key ?default", get},
    {"items", "", view<DictViewObject::Part::items>},
    {"keys", "", view<DictViewObject::Part::keys>},
    {"values", "", view<DictViewObject::Part::values>},
    {"copy", "", copy_dict},
};

}  // namespace

const Builtin* find_container_method(Kind kind, std::string_view name) {
  switch (kind) {
    case Kind::list:
      return find_in(kListMethods, name);
    case Kind::tuple:
      return find_in(kTupleMethods, name);
    case Kind::dict:
      return find_in(kDictMethods, name);
    default:
      return nullptr;
  }
}

bool is_forbidden_method(Kind kind, std::string_view name) {
  constexpr std::string_view kListNames[] = {"append", "extend",  "insert",
                                             "remove", "reverse", "sort"};
  constexpr std::string_view kDictNames[] = {"clear", "pop", "popitem", "setdefault", "update"};
  const auto among = [name](const auto& names) {
    for (const std::string_view forbidden : names) {
      if (forbidden == name) return true;
    }
    return false;
  };
  return (kind == Kind::list && among(kListNames)) || (kind == Kind::dict && among(kDictNames));
}

}  // namespace halogen::jinja
