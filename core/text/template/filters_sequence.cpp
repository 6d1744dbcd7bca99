// Filters that work on sequences and mappings as a whole.
#include <algorithm>
#include <set>

#include "core/text/template/builtins.h"
#include "core/text/template/format.h"
#include "core/text/template/unicode.h"

namespace halogen::jinja {

namespace {

struct Keyed {
  std::vector<Value> keys;
  Value item;
};

// What sorting and grouping compare: the item or its attribute, strings without their case.
Value sort_key(Call& call, const Value& item, const Value& attribute, bool case_sensitive) {
  call.budget().allocate(sizeof(Keyed) + 4 * sizeof(Value));  // what the callers keep of it
  const Value key = attribute.is(Kind::undefined) ? item : call.interpreter.path(item, attribute);
  if (case_sensitive || !key.is(Kind::string)) return key;
  return call.heap().string(to_lower(key.as_text()));
}

bool precedes(Heap& heap, const std::vector<Value>& a, const std::vector<Value>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!equal(heap, a[i], b[i])) return compare(heap, ComparisonOperator::less, a[i], b[i]);
  }
  return false;
}

// Sorts stably; `reverse` keeps equal items in their order, as Python does. A tree keeps the order
// of equal items, and stays safe when the values of a template have no consistent order (NaN).
void sort_keyed(Heap& heap, std::vector<Keyed>& items, bool reverse) {
  const auto before = [&](const Keyed& a, const Keyed& b) {
    return reverse ? precedes(heap, b.keys, a.keys) : precedes(heap, a.keys, b.keys);
  };
  std::multiset<Keyed, decltype(before)> sorted(before);
  for (Keyed& item : items) sorted.insert(std::move(item));
  items.assign(sorted.begin(), sorted.end());
}

Value items_only(Heap& heap, const std::vector<Keyed>& keyed) {
  std::vector<Value> items;
  items.reserve(keyed.size());
  for (const Keyed& entry : keyed) items.push_back(entry.item);
  return heap.list(std::move(items));
}

// "age,name" names two attributes.
std::vector<Value> split_attributes(Heap& heap, const Value& attribute) {
  std::vector<Value> parts;
  if (!attribute.is(Kind::string)) return {attribute.is(Kind::none) ? Value() : attribute};
  std::string_view rest = attribute.as_text();
  for (;;) {
    const std::size_t comma = rest.find(',');
    parts.push_back(heap.string(rest.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    rest.remove_prefix(comma + 1);
  }
}

Value sort(Call& call) {
  const auto attributes = split_attributes(call.heap(), call.value(2));
  std::vector<Keyed> keyed;
  for (const Value& item : items_of(call.heap(), call.subject)) {
    Keyed entry{{}, item};
    for (const Value& attribute : attributes) {
      entry.keys.push_back(sort_key(call, item, attribute, call.boolean(1)));
    }
    keyed.push_back(std::move(entry));
  }
  sort_keyed(call.heap(), keyed, call.boolean(0));
  return items_only(call.heap(), keyed);
}

// Undefined values have no order; alone, nothing is compared.
void require_order(const std::vector<Keyed>& keyed) {
  if (keyed.size() < 2) return;
  for (const Keyed& each : keyed) {
    if (each.keys.front().is(Kind::undefined)) raise(each.keys.front().undefined_reason());
  }
}

Value dict_sort(Call& call) {
  if (call.subject.is(Kind::undefined)) raise(call.subject.undefined_reason());
  if (!call.subject.is(Kind::dict)) raise("'dictsort' wants a mapping");
  const std::string_view by = call.text(1, "key");
  if (by != "key" && by != "value") raise("'dictsort' can sort by 'key' or 'value'");
  std::vector<Keyed> keyed;
  for (const auto& entry : call.subject.as_dict().entries) {
    const Value& key = by == "key" ? entry.key : entry.value;
    keyed.push_back({{sort_key(call, key, Value(), call.boolean(0))},
                     call.heap().tuple({entry.key, entry.value})});
  }
  require_order(keyed);
  sort_keyed(call.heap(), keyed, call.boolean(2));
  return items_only(call.heap(), keyed);
}

Value attribute_or_default(Call& call, const Value& item, const Value& attribute,
                           const Value& fallback) {
  const Value value = call.interpreter.path(item, attribute);
  return value.is(Kind::undefined) && !fallback.is(Kind::none) && !fallback.is(Kind::undefined)
             ? fallback
             : value;
}

Value group_by(Call& call) {
  Heap& heap = call.heap();
  std::vector<Keyed> keyed;
  for (const Value& item : items_of(heap, call.subject)) {
    const Value value = attribute_or_default(call, item, call.value(0), call.value(1));
    keyed.push_back({{sort_key(call, value, Value(), call.boolean(2))}, item});
  }
  require_order(keyed);
  sort_keyed(heap, keyed, false);
  std::vector<Value> groups;
  for (std::size_t i = 0; i < keyed.size();) {
    const std::size_t first = i;
    std::vector<Value> members;
    for (; i < keyed.size() && equal(heap, keyed[i].keys[0], keyed[first].keys[0]); ++i) {
      members.push_back(keyed[i].item);
    }
    if (i == first) ++i;  // a key that does not equal itself
    const Value grouper =
        attribute_or_default(call, keyed[first].item, call.value(0), call.value(1));
    const Value group = heap.tuple({grouper, heap.list(std::move(members))});
    group.as_sequence().is_group = true;
    groups.push_back(group);
  }
  return heap.list(std::move(groups));
}

Value unique(Call& call) {
  std::vector<Value> kept;
  auto* seen = call.heap().make<DictObject>();
  const Value attribute = call.value(1).is(Kind::none) ? Value() : call.value(1);
  for (const Value& item : items_of(call.heap(), call.subject)) {
    const Value key = sort_key(call, item, attribute, call.boolean(0));
    call.budget().step();
    if (seen->find(key) != nullptr) continue;
    seen->set(key, Value::none());
    kept.push_back(item);
  }
  return call.heap().iterator(std::move(kept), "generator");
}

Value extreme(Call& call, ComparisonOperator better) {
  const std::vector<Value> items = items_of(call.heap(), call.subject);
  if (items.empty()) return call.heap().undefined("the sequence is empty");
  const Value attribute = call.value(1).is(Kind::none) ? Value() : call.value(1);
  Value best = items[0];
  Value best_key = sort_key(call, best, attribute, call.boolean(0));
  for (std::size_t i = 1; i < items.size(); ++i) {
    const Value key = sort_key(call, items[i], attribute, call.boolean(0));
    if (compare(call.heap(), better, key, best_key)) best = items[i], best_key = key;
  }
  return best;
}

Value sum(Call& call) {
  Value total = call.has(1) ? call.value(1) : Value::integer(0);
  if (total.is(Kind::string)) raise("'sum' cannot add strings; use 'join'");
  const bool by_attribute = call.has(0) && !call.value(0).is(Kind::none);
  for (const Value& item : items_of(call.heap(), call.subject)) {
    total = arithmetic(call.heap(), BinaryOperator::add, total,
                       by_attribute ? call.interpreter.path(item, call.value(0)) : item);
  }
  return total;
}

Value join(Call& call) {
  const std::string separator = call.has(0) ? to_text(call.budget(), call.value(0)) : std::string();
  const bool by_attribute = call.has(1) && !call.value(1).is(Kind::none);
  TextBuilder out(call.budget());
  bool first = true;
  for (const Value& item : items_of(call.heap(), call.subject)) {
    call.budget().step();
    if (!first) out.append(separator);
    first = false;
    append_text(out, call.budget(),
                by_attribute ? call.interpreter.path(item, call.value(1)) : item);
  }
  return call.heap().string(out.take());
}

Value length_of(Call& call) {
  if (const auto size = size_of(call.subject)) return Value::integer(*size);
  if (call.subject.is(Kind::native)) {
    if (const auto size = call.subject.as_native().attribute(call.interpreter, "length"))
      return *size;
  }
  raise("a value of type '" + std::string(call.subject.type_name()) + "' has no length");
}

Value first(Call& call) {
  if (call.subject.is(Kind::iterator)) {
    IteratorObject& iterator = call.subject.as_iterator();
    if (iterator.taken < iterator.items.size()) return iterator.items[iterator.taken++];
    return call.heap().undefined("the sequence is empty, so it has no first item");
  }
  const std::vector<Value> items = items_of(call.heap(), call.subject);
  return items.empty() ? call.heap().undefined("the sequence is empty, so it has no first item")
                       : items[0];
}

void require_reversible(const Value& value) {
  if (value.is(Kind::iterator)) raise("a generator has no last item; make a list of it first");
}

Value last(Call& call) {
  require_reversible(call.subject);
  const std::vector<Value> items = items_of(call.heap(), call.subject);
  return items.empty() ? call.heap().undefined("the sequence is empty, so it has no last item")
                       : items.back();
}

Value reverse(Call& call) {
  if (call.subject.is(Kind::string)) {
    return *slice(call.heap(), call.subject, std::nullopt, std::nullopt, -1);
  }
  std::vector<Value> items = items_of(call.heap(), call.subject);
  std::reverse(items.begin(), items.end());
  if (call.subject.is(Kind::iterator)) return call.heap().list(std::move(items));
  return call.heap().iterator(std::move(items),
                              call.subject.is(Kind::list) ? "list_reverseiterator" : "reversed");
}

Value batch(Call& call) {
  const std::int64_t size = call.integer(0);
  const bool fill = call.has(1) && !call.value(1).is(Kind::none);
  std::vector<Value> batches;
  std::vector<Value> current;
  for (const Value& item : items_of(call.heap(), call.subject)) {
    if (static_cast<std::int64_t>(current.size()) == size) {
      batches.push_back(call.heap().list(std::move(current)));
      current.clear();
    }
    current.push_back(item);
  }
  if (!current.empty()) {
    while (fill && static_cast<std::int64_t>(current.size()) < size) {
      call.budget().allocate(sizeof(Value));
      call.budget().step();
      current.push_back(call.value(1));
    }
    batches.push_back(call.heap().list(std::move(current)));
  }
  return call.heap().iterator(std::move(batches), "generator");
}

Value slices(Call& call) {
  const std::vector<Value> items = items_of(call.heap(), call.subject);
  const std::int64_t count = call.integer(0);
  if (count == 0) raise("'slice' cannot make 0 slices");
  const bool fill = call.has(1) && !call.value(1).is(Kind::none);
  std::vector<Value> result;
  std::size_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto size = static_cast<std::int64_t>(items.size());
    const bool extra = i < size % count;
    const auto take = static_cast<std::size_t>(size / count + (extra ? 1 : 0));
    std::vector<Value> part(items.begin() + static_cast<std::ptrdiff_t>(at),
                            items.begin() + static_cast<std::ptrdiff_t>(at + take));
    if (fill && !extra) part.push_back(call.value(1));
    call.budget().step();
    result.push_back(call.heap().list(std::move(part)));
    at += take;
  }
  return call.heap().iterator(std::move(result), "generator");
}

Value dict_items(Call& call) {
  if (call.subject.is(Kind::undefined)) return call.heap().iterator({}, "generator");
  if (!call.subject.is(Kind::dict)) raise("'items' wants a mapping");
  DictViewObject view(call.subject.as_dict(), DictViewObject::Part::items);
  return call.heap().iterator(items_of(call.heap(), Value::object(Kind::dict_view, &view)),
                              "generator");
}

Value with_default(Call& call) {
  const bool absent =
      call.subject.is(Kind::undefined) || (call.boolean(1) && !truthy(call.subject));
  if (!absent) return call.subject;
  return call.has(0) ? call.value(0) : call.heap().string("");
}

// Unlike `subject.name`, does not fall back to the items of a mapping.
Value attribute_only(Call& call) {
  if (auto value = call.interpreter.own_attribute(call.subject, call.text(0))) return *value;
  return call.heap().undefined("there is no attribute '" + std::string(call.text(0)) + "'");
}

constexpr Builtin kFilters[] = {
    {"length", "", length_of},
    {"count", "", length_of},
    {"default", "?default_value ?boolean", with_default},
    {"d", "?default_value ?boolean", with_default},
    {"join", "?d ?attribute", join},
    {"list", "", [](Call& c) { return c.heap().list(items_of(c.heap(), c.subject)); }},
    {"items", "", dict_items},
    {"dictsort", "?case_sensitive ?by ?reverse", dict_sort},
    {"first", "", first},
    {"last", "", last},
    {"reverse", "", reverse},
    {"sort", "?reverse ?case_sensitive ?attribute", sort},
    {"groupby", "attribute ?default ?case_sensitive", group_by},
    {"unique", "?case_sensitive ?attribute", unique},
    {"min", "?case_sensitive ?attribute",
     [](Call& c) { return extreme(c, ComparisonOperator::less); }},
    {"max", "?case_sensitive ?attribute",
     [](Call& c) { return extreme(c, ComparisonOperator::greater); }},
    {"sum", "?attribute ?start", sum},
    {"batch", "linecount ?fill_with", batch},
    {"slice", "slices ?fill_with", slices},
    {"attr", "name", attribute_only},
};

}  // namespace

const Builtin* find_sequence_filter(std::string_view name) {
  return find_in(kFilters, name);
}

}  // namespace halogen::jinja
