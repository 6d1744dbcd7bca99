// Length, iteration, indexing and slicing of everything that has items.
#include <algorithm>
#include <limits>

#include "core/text/template/operators.h"
#include "core/text/template/unicode.h"

namespace halogen::jinja {

namespace {

std::vector<Value> characters(Heap& heap, std::string_view text) {
  std::vector<Value> items;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = code_point_size(text, at);
    items.push_back(heap.string(text.substr(at, size)));
    at += size;
  }
  return items;
}

std::vector<Value> view_items(Heap& heap, const DictViewObject& view) {
  std::vector<Value> items;
  items.reserve(view.dict.entries.size());
  for (const auto& entry : view.dict.entries) {
    switch (view.part) {
      case DictViewObject::Part::keys:
        items.push_back(entry.key);
        break;
      case DictViewObject::Part::values:
        items.push_back(entry.value);
        break;
      case DictViewObject::Part::items:
        items.push_back(heap.tuple({entry.key, entry.value}));
        break;
    }
  }
  return items;
}

std::string slice_text(std::string_view text, std::int64_t start, std::int64_t step,
                       std::int64_t count) {
  if (step == 1) {
    const std::size_t from = byte_offset(text, static_cast<std::size_t>(start));
    const std::string_view rest = text.substr(from);
    return std::string(rest.substr(0, byte_offset(rest, static_cast<std::size_t>(count))));
  }
  std::vector<std::size_t> offsets;
  for (std::size_t at = 0; at < text.size(); at += code_point_size(text, at)) offsets.push_back(at);
  std::string result;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t at = offsets[static_cast<std::size_t>(start + i * step)];
    result.append(text.substr(at, code_point_size(text, at)));
  }
  return result;
}

}  // namespace

std::optional<std::int64_t> size_of(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
      return 0;
    case Kind::string:
      return static_cast<std::int64_t>(length(value.as_text()));
    case Kind::list:
    case Kind::tuple:
      return static_cast<std::int64_t>(value.as_sequence().items.size());
    case Kind::dict:
      return static_cast<std::int64_t>(value.as_dict().entries.size());
    case Kind::dict_view:
      return static_cast<std::int64_t>(value.as_view().dict.entries.size());
    case Kind::range:
      return value.as_range().size;
    default:
      return std::nullopt;
  }
}

bool is_iterable(const Value& value) {
  switch (value.kind()) {
    case Kind::none:
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
    case Kind::native:
      return false;
    default:
      return true;
  }
}

std::vector<Value> items_of(Heap& heap, const Value& iterable) {
  if (!is_iterable(iterable)) {
    raise("a value of type '" + std::string(iterable.type_name()) + "' cannot be iterated over");
  }
  if (const auto size = size_of(iterable)) {
    heap.budget().allocate(static_cast<std::uint64_t>(*size) * sizeof(Value));
  }
  switch (iterable.kind()) {
    case Kind::string:
      return characters(heap, iterable.as_text());
    case Kind::list:
    case Kind::tuple:
      return iterable.as_sequence().items;
    case Kind::dict:
      return view_items(heap, DictViewObject(iterable.as_dict(), DictViewObject::Part::keys));
    case Kind::dict_view:
      return view_items(heap, iterable.as_view());
    case Kind::range: {
      const RangeObject& range = iterable.as_range();
      std::vector<Value> items;
      for (std::int64_t i = 0; i < range.size; ++i) {
        items.push_back(Value::integer(range.start + i * range.step));
      }
      return items;
    }
    case Kind::iterator: {
      IteratorObject& iterator = iterable.as_iterator();
      std::vector<Value> rest(iterator.items.begin() + static_cast<std::ptrdiff_t>(iterator.taken),
                              iterator.items.end());
      heap.budget().allocate(rest.size() * sizeof(Value));
      iterator.taken = iterator.items.size();
      return rest;
    }
    default:
      return {};
  }
}

std::optional<Value> item_at(Heap& heap, const Value& sequence, std::int64_t index) {
  const std::int64_t size = size_of(sequence).value_or(0);
  heap.budget().step(sequence.is(Kind::string) ? static_cast<std::uint64_t>(size) / 64 : 0);
  if (index < 0) index += size;
  if (index < 0 || index >= size) return std::nullopt;
  switch (sequence.kind()) {
    case Kind::string:
      return heap.string(slice_text(sequence.as_text(), index, 1, 1), sequence.is_markup());
    case Kind::list:
    case Kind::tuple:
      return sequence.as_sequence().items[static_cast<std::size_t>(index)];
    case Kind::range:
      return Value::integer(sequence.as_range().start + index * sequence.as_range().step);
    default:
      return std::nullopt;
  }
}

std::optional<Value> slice(Heap& heap, const Value& object, std::optional<std::int64_t> start,
                           std::optional<std::int64_t> stop, std::int64_t step) {
  if (!object.is(Kind::string) && !object.is_sequence() && !object.is(Kind::range)) {
    return std::nullopt;
  }
  if (step == 0) raise("slice step cannot be zero");
  const std::int64_t size = size_of(object).value_or(0);
  step = std::clamp(step, -std::numeric_limits<std::int64_t>::max() / 2,
                    std::numeric_limits<std::int64_t>::max() / 2);
  const auto bound = [&](std::optional<std::int64_t> at, std::int64_t absent) {
    if (!at) return absent;
    const std::int64_t position = *at < 0 ? *at + size : *at;
    return step > 0 ? std::clamp<std::int64_t>(position, 0, size)
                    : std::clamp<std::int64_t>(position, -1, size - 1);
  };
  const std::int64_t from = bound(start, step > 0 ? 0 : size - 1);
  const std::int64_t to = bound(stop, step > 0 ? size : -1);
  std::int64_t count = 0;
  if (step > 0 && to > from) count = (to - from - 1) / step + 1;
  if (step < 0 && from > to) count = (from - to - 1) / -step + 1;
  heap.budget().step(static_cast<std::uint64_t>(size) / 16);
  if (step != 1) heap.budget().allocate(static_cast<std::uint64_t>(size) * sizeof(std::size_t));
  if (object.is(Kind::string)) {
    return heap.string(slice_text(object.as_text(), from, step, count), object.is_markup());
  }
  if (object.is(Kind::range)) {
    // A bound one step past the range may not fit in 64 bits; it only matters when printed.
    const RangeObject& range = object.as_range();
    const auto bound_at = [&range](std::int64_t index) {
      std::int64_t offset = 0;
      std::int64_t result = 0;
      if (__builtin_mul_overflow(index, range.step, &offset) ||
          __builtin_add_overflow(range.start, offset, &result)) {
        return range.stop;
      }
      return result;
    };
    return Value::object(Kind::range,
                         heap.make<RangeObject>(bound_at(from), bound_at(to),
                                                count > 1 ? range.step * step : range.step, count));
  }
  heap.budget().allocate(static_cast<std::uint64_t>(count) * sizeof(Value));
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    items.push_back(object.as_sequence().items[static_cast<std::size_t>(from + i * step)]);
  }
  return object.is(Kind::list) ? heap.list(std::move(items)) : heap.tuple(std::move(items));
}

}  // namespace halogen::jinja
