// The parts of values that do not depend on the interpreter: identity, keys, ownership.
#include "core/text/template/value.h"

#include <cmath>

namespace halogen::jinja {

namespace {

constexpr std::size_t kScanLimit = 16;  // entries up to which a scan beats the index

int key_rank(Kind kind) {
  switch (kind) {
    case Kind::undefined:
      return 0;
    case Kind::none:
      return 1;
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
      return 2;
    case Kind::string:
      return 3;
    case Kind::tuple:
      return 4;
    default:
      return 5;
  }
}

int compare_numbers(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) {
    return (a.as_integer() > b.as_integer()) - (a.as_integer() < b.as_integer());
  }
  const auto left = a.is_integral() ? static_cast<long double>(a.as_integer()) : a.as_real();
  const auto right = b.is_integral() ? static_cast<long double>(b.as_integer()) : b.as_real();
  if (std::isnan(left) || std::isnan(right)) return int{std::isnan(right)} - int{std::isnan(left)};
  return (left > right) - (left < right);
}

int compare_keys(const Value& a, const Value& b) {
  const int rank = key_rank(a.kind());
  if (rank != key_rank(b.kind())) return rank < key_rank(b.kind()) ? -1 : 1;
  if (rank == 2) return compare_numbers(a, b);
  if (rank == 3) return a.as_text().compare(b.as_text());
  if (rank != 4) return 0;
  const auto& left = a.as_sequence().items;
  const auto& right = b.as_sequence().items;
  for (std::size_t i = 0; i < left.size() && i < right.size(); ++i) {
    if (const int order = compare_keys(left[i], right[i]); order != 0) return order;
  }
  return (left.size() > right.size()) - (left.size() < right.size());
}

// Tuples are finite and small as keys; the depth keeps comparing them off the end of the stack.
void require_hashable(const Value& key, int depth) {
  if (depth > 16) raise("a dictionary key nests too deeply");
  switch (key.kind()) {
    case Kind::list:
    case Kind::dict:
    case Kind::dict_view:
      raise("unhashable type: '" + std::string(key.type_name()) + "'");
    case Kind::range:
    case Kind::iterator:
    case Kind::native:
      raise("a value of type '" + std::string(key.type_name()) +
            "' cannot be a dictionary key here");
    case Kind::tuple:
      for (const Value& item : key.as_sequence().items) require_hashable(item, depth + 1);
      return;
    default:
      return;
  }
}

}  // namespace

std::string_view Value::as_text() const {
  return as<StringObject>(Kind::string, Kind::string).text;
}

bool Value::is_markup() const {
  return kind_ == Kind::string && static_cast<StringObject*>(object_)->markup;
}

bool Value::same_as(const Value& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::none:
      return true;
    case Kind::boolean:
    case Kind::integer:
      return integer_ == other.integer_;
    case Kind::real:
      return real_ == other.real_;
    case Kind::string:
      return object_ == other.object_ || as_text() == other.as_text();
    default:
      return object_ == other.object_;
  }
}

std::string Value::undefined_reason() const {
  assert(kind_ == Kind::undefined);
  return object_ ? static_cast<UndefinedObject*>(object_)->reason : "the value is undefined";
}

std::string_view Value::type_name() const {
  switch (kind_) {
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::real:
      return "float";
    case Kind::string:
      return is_markup() ? "Markup" : "str";
    case Kind::list:
      return "list";
    case Kind::tuple:
      return "tuple";
    case Kind::dict:
      return "dict";
    case Kind::dict_view: {
      constexpr std::string_view names[] = {"dict_keys", "dict_values", "dict_items"};
      return names[static_cast<std::size_t>(as_view().part)];
    }
    case Kind::range:
      return "range";
    case Kind::iterator:
      return as_iterator().type_name;
    case Kind::native:
      return as_native().type_name();
  }
  return "object";
}

int KeyOrder::compare(const Value& a, const Value& b) {
  return compare_keys(a, b);
}

std::optional<std::size_t> DictObject::position(const Value& key) const {
  if (index_.empty()) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (KeyOrder::compare(entries[i].key, key) == 0) return i;
    }
    return std::nullopt;
  }
  const auto at = index_.find(key);
  if (at == index_.end()) return std::nullopt;
  return at->second;
}

const Value* DictObject::find(const Value& key) const {
  require_hashable(key, 0);
  const auto at = position(key);
  return at ? &entries[*at].value : nullptr;
}

const Value* DictObject::find(std::string_view key) const {
  if (!index_.empty()) {
    StringObject text(std::string(key), false);
    return find(Value::object(Kind::string, &text));
  }
  for (const Entry& entry : entries) {
    if (entry.key.is(Kind::string) && entry.key.as_text() == key) return &entry.value;
  }
  return nullptr;
}

void DictObject::set(const Value& key, const Value& value) {
  require_hashable(key, 0);
  if (const auto at = position(key)) {
    entries[*at].value = value;
    return;
  }
  entries.push_back({key, value});
  if (entries.size() <= kScanLimit) return;
  if (index_.empty()) {
    for (std::size_t i = 0; i < entries.size(); ++i) index_.emplace(entries[i].key, i);
  } else {
    index_.emplace(key, entries.size() - 1);
  }
}

Value NativeObject::call(Interpreter&, const Arguments&) {
  raise("'" + std::string(type_name()) + "' object is not callable");
}

std::optional<Value> NativeObject::attribute(Interpreter&, std::string_view) {
  return std::nullopt;
}

std::string NativeObject::representation() const {
  return "<" + std::string(type_name()) + ">";
}

Heap::~Heap() {
  while (owned_ != nullptr) {
    Object* next = owned_->next_owned;
    delete owned_;
    owned_ = next;
  }
}

Value Heap::undefined(std::string reason) {
  budget_.allocate(reason.size());
  return Value::object(Kind::undefined, make<UndefinedObject>(std::move(reason)));
}

Value Heap::string(std::string text, bool markup) {
  budget_.allocate(text.size());
  return Value::object(Kind::string, make<StringObject>(std::move(text), markup));
}

Value Heap::list(std::vector<Value> items) {
  budget_.allocate(items.size() * sizeof(Value));
  return Value::object(Kind::list, make<SequenceObject>(std::move(items)));
}

Value Heap::tuple(std::vector<Value> items) {
  budget_.allocate(items.size() * sizeof(Value));
  return Value::object(Kind::tuple, make<SequenceObject>(std::move(items)));
}

Value Heap::iterator(std::vector<Value> items, std::string_view type_name) {
  budget_.allocate(items.size() * sizeof(Value));
  return Value::object(Kind::iterator, make<IteratorObject>(std::move(items), type_name));
}

}  // namespace halogen::jinja
