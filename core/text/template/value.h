// The values a template computes with: Python's, as far as templates can tell the difference.
//
// A Value is a small tagged union that is copied freely. Whatever does not fit in it is an Object
// that belongs to the render's Heap and dies with it, so values may share and even contain each
// other (a namespace can hold itself) without counting references.
#pragma once

#include <cassert>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/template/budget.h"

namespace halogen::jinja {

enum class Kind : std::uint8_t {
  undefined,
  none,
  boolean,
  integer,
  real,
  string,
  list,
  tuple,
  dict,
  dict_view,
  range,
  iterator,
  native,
};

struct Object {
  Object() = default;
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  Object* next_owned = nullptr;  // the Heap's list of everything it owns
};

struct UndefinedObject;
struct StringObject;
struct SequenceObject;
struct DictObject;
struct DictViewObject;
struct RangeObject;
struct IteratorObject;
class NativeObject;

class Value {
 public:
  Value() = default;  // undefined, of unknown origin
  static Value none() { return Value(Kind::none); }
  static Value boolean(bool value) {
    Value result(Kind::boolean);
    result.integer_ = value ? 1 : 0;
    return result;
  }
  static Value integer(std::int64_t value) {
    Value result(Kind::integer);
    result.integer_ = value;
    return result;
  }
  static Value real(double value) {
    Value result(Kind::real);
    result.real_ = value;
    return result;
  }
  static Value object(Kind kind, Object* object) {
    Value result(kind);
    result.object_ = object;
    return result;
  }

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_number() const { return is_integral() || kind_ == Kind::real; }
  bool is_integral() const { return kind_ == Kind::integer || kind_ == Kind::boolean; }
  bool is_sequence() const { return kind_ == Kind::list || kind_ == Kind::tuple; }

  // Each accessor below requires the matching kind.
  std::int64_t as_integer() const {
    assert(is_integral());
    return integer_;
  }
  double as_real() const {
    assert(is_number());
    return kind_ == Kind::real ? real_ : static_cast<double>(integer_);
  }
  std::string_view as_text() const;
  bool is_markup() const;
  SequenceObject& as_sequence() const { return as<SequenceObject>(Kind::list, Kind::tuple); }
  DictObject& as_dict() const { return as<DictObject>(Kind::dict, Kind::dict); }
  DictViewObject& as_view() const { return as<DictViewObject>(Kind::dict_view, Kind::dict_view); }
  RangeObject& as_range() const { return as<RangeObject>(Kind::range, Kind::range); }
  IteratorObject& as_iterator() const { return as<IteratorObject>(Kind::iterator, Kind::iterator); }
  NativeObject& as_native() const { return as<NativeObject>(Kind::native, Kind::native); }

  // Identity, as Python's `is`: the same object, or the same None or boolean.
  bool same_as(const Value& other) const;

  // Why this value is undefined: "'x' is undefined".
  std::string undefined_reason() const;

  // Python's name of the type: "str", "list", "NoneType".
  std::string_view type_name() const;

 private:
  explicit Value(Kind kind) : kind_(kind) {}
  template <typename T>
  T& as([[maybe_unused]] Kind first, [[maybe_unused]] Kind second) const {
    assert(kind_ == first || kind_ == second);
    return *static_cast<T*>(object_);
  }

  Kind kind_ = Kind::undefined;
  union {
    std::int64_t integer_;
    double real_;
    Object* object_ = nullptr;
  };
};

struct UndefinedObject : Object {
  explicit UndefinedObject(std::string why) : reason(std::move(why)) {}
  std::string reason;
};

struct StringObject : Object {
  StringObject(std::string bytes, bool is_markup) : text(std::move(bytes)), markup(is_markup) {}
  std::string text;
  bool markup;  // marked `safe`: joining it with other text escapes that text for HTML
};

struct SequenceObject : Object {
  explicit SequenceObject(std::vector<Value> values) : items(std::move(values)) {}
  std::vector<Value> items;
  bool is_group = false;  // a result of `groupby`, whose two items also have names
};

// Orders dictionary keys: numbers by value whatever their type, strings by bytes, tuples by items.
struct KeyOrder {
  bool operator()(const Value& a, const Value& b) const { return compare(a, b) < 0; }
  static int compare(const Value& a, const Value& b);
};

// Keeps the order of insertion, as Python does.
struct DictObject : Object {
  struct Entry {
    Value key;
    Value value;
  };
  // Null when absent; throws Failure for a key that Python cannot hash.
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  // Throws Failure as `find` does.
  void set(const Value& key, const Value& value);

  std::vector<Entry> entries;

 private:
  std::optional<std::size_t> position(const Value& key) const;

  std::map<Value, std::size_t, KeyOrder> index_;  // filled once a scan would take too long
};

struct DictViewObject : Object {
  enum class Part : std::uint8_t { keys, values, items };
  DictViewObject(DictObject& of, Part which) : dict(of), part(which) {}
  DictObject& dict;
  Part part;
};

struct RangeObject : Object {
  RangeObject(std::int64_t first, std::int64_t end, std::int64_t by, std::int64_t count)
      : start(first), stop(end), step(by), size(count) {}
  std::int64_t start;
  std::int64_t stop;  // as it was given; the last item is start + (size - 1) * step
  std::int64_t step;
  std::int64_t size;
};

// What Python's generators and iterators are to a template: items that can be taken once.
struct IteratorObject : Object {
  IteratorObject(std::vector<Value> values, std::string_view type)
      : items(std::move(values)), type_name(type) {}
  std::vector<Value> items;
  std::size_t taken = 0;
  std::string_view type_name;  // static storage
};

class Interpreter;
struct Arguments;

// A value with behaviour of its own: macros, functions, methods, namespaces, `loop`.
class NativeObject : public Object {
 public:
  virtual std::string_view type_name() const = 0;
  virtual bool callable() const { return false; }
  virtual Value call(Interpreter& interpreter, const Arguments& arguments);
  virtual std::optional<Value> attribute(Interpreter& interpreter, std::string_view name);
  virtual std::string representation() const;
  // The attributes of a namespace, which templates may set; null for everything else.
  virtual DictObject* assignable() { return nullptr; }
};

// What a call passes.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

// Owns every object of one render and charges the budget for it.
class Heap {
 public:
  explicit Heap(Budget& budget) : budget_(budget) {}
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  Budget& budget() { return budget_; }

  template <typename T, typename... Args>
  T* make(Args&&... args) {
    budget_.allocate(sizeof(T));
    auto object = std::make_unique<T>(std::forward<Args>(args)...);
    object->next_owned = owned_;
    T* raw = object.release();
    owned_ = raw;
    return raw;
  }

  Value undefined(std::string reason);
  Value string(std::string text, bool markup = false);
  Value string(std::string_view text) { return string(std::string(text)); }
  Value string(const char* text) { return string(std::string(text)); }
  Value list(std::vector<Value> items);
  Value tuple(std::vector<Value> items);
  Value iterator(std::vector<Value> items, std::string_view type_name);
  Value dict(DictObject* dict) { return Value::object(Kind::dict, dict); }
  Value native(NativeObject* object) { return Value::object(Kind::native, object); }

 private:
  Budget& budget_;
  Object* owned_ = nullptr;
};

}  // namespace halogen::jinja
