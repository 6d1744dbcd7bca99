// Global functions: Jinja's own, and the two that transformers adds.
#include <ctime>

#include "core/text/template/builtins.h"
#include "core/text/template/format.h"

namespace halogen::jinja {

namespace {

constexpr std::int64_t kMaxRange = 100'000;  // the limit of Jinja's sandbox

Value range(Call& call) {
  const std::int64_t start = call.has(1) ? call.integer(0) : 0;
  const std::int64_t stop = call.has(1) ? call.integer(1) : call.integer(0);
  const std::int64_t step = call.integer(2, 1);
  if (step == 0) raise("the step of 'range' cannot be 0");
  const std::int64_t low = step > 0 ? start : stop;
  const std::int64_t high = step > 0 ? stop : start;
  std::uint64_t size = 0;
  if (high > low) {
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    const std::uint64_t stride =
        step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
    size = (span - 1) / stride + 1;
  }
  if (size > static_cast<std::uint64_t>(kMaxRange)) {
    raise("a range may have at most " + std::to_string(kMaxRange) + " items");
  }
  return Value::object(Kind::range, call.heap().make<RangeObject>(start, stop, step,
                                                                  static_cast<std::int64_t>(size)));
}

// The arguments that dict() and namespace() share: a mapping or pairs, and names.
DictObject* make_dict(Call& call) {
  Heap& heap = call.heap();
  auto* dict = heap.make<DictObject>();
  if (call.rest.positional.size() > 1)
    raise("'" + std::string(call.builtin.name) + "' takes one mapping");
  for (const Value& source : call.rest.positional) {
    if (source.is(Kind::dict)) {
      for (const auto& entry : source.as_dict().entries) dict->set(entry.key, entry.value);
      continue;
    }
    for (const Value& pair : items_of(heap, source)) {
      const auto parts = items_of(heap, pair);
      if (parts.size() != 2) raise("'" + std::string(call.builtin.name) + "' wants pairs");
      heap.budget().allocate(2 * sizeof(DictObject::Entry));
      dict->set(parts[0], parts[1]);
    }
  }
  for (const auto& [name, value] : call.rest.named) dict->set(heap.string(name), value);
  heap.budget().allocate(dict->entries.size() * sizeof(DictObject::Entry));
  return dict;
}

class Namespace final : public NativeObject {
 public:
  explicit Namespace(DictObject& attributes) : attributes_(attributes) {}
  std::string_view type_name() const override { return "Namespace"; }
  DictObject* assignable() override { return &attributes_; }
  std::optional<Value> attribute(Interpreter&, std::string_view name) override {
    const Value* value = attributes_.find(name);
    if (value == nullptr) return std::nullopt;
    return *value;
  }

 private:
  DictObject& attributes_;
};

// joiner(", "): empty at the first call, the separator at every other.
class Joiner final : public NativeObject {
 public:
  explicit Joiner(const Value& separator) : separator_(separator) {}
  std::string_view type_name() const override { return "Joiner"; }
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, const Arguments&) override {
    return std::exchange(used_, true) ? separator_ : interpreter.heap().string("");
  }

 private:
  Value separator_;
  bool used_ = false;
};

class Cycler final : public NativeObject {
 public:
  explicit Cycler(std::vector<Value> items) : items_(std::move(items)) {}
  std::string_view type_name() const override { return "Cycler"; }
  std::optional<Value> attribute(Interpreter& interpreter, std::string_view name) override;

 private:
  static Cycler& of(Call& call) { return static_cast<Cycler&>(call.subject.as_native()); }
  static Value next(Call& call) {
    Cycler& cycler = of(call);
    const Value item = cycler.items_[cycler.at_];
    cycler.at_ = (cycler.at_ + 1) % cycler.items_.size();
    return item;
  }
  static Value reset(Call& call) {
    of(call).at_ = 0;
    return Value::none();
  }
  static constexpr Builtin kMethods[] = {{"next", "", next}, {"reset", "", reset}};

  std::vector<Value> items_;
  std::size_t at_ = 0;
};

std::optional<Value> Cycler::attribute(Interpreter& interpreter, std::string_view name) {
  if (name == "current") return items_[at_];
  Heap& heap = interpreter.heap();
  const Builtin* method = find_in(kMethods, name);
  if (method == nullptr) return std::nullopt;
  return heap.native(heap.make<BoundMethod>(heap.native(this), *method));
}

Value make_cycler(Call& call) {
  if (call.rest.positional.empty() || !call.rest.named.empty())
    raise("'cycler' wants items to cycle through");
  return call.heap().native(call.heap().make<Cycler>(call.rest.positional));
}

Value raise_exception(Call& call) {
  raise(to_text(call.budget(), call.value(0)));
}

std::tm machine_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return local;
}

// Only single conversions go to the C library, and only ones without a width, which could be huge.
Value strftime_now(Call& call) {
  const std::tm time = call.interpreter.local_time().value_or(machine_time());
  const std::string_view format = call.text(0);
  TextBuilder out(call.budget());
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      out.append(1, format[at]);
      continue;
    }
    std::string conversion = "%";
    if (++at < format.size() &&
        std::string_view("-_0^#").find(format[at]) != std::string_view::npos) {
      conversion += format[at++];
    }
    constexpr std::string_view kConversions = "aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%";
    if (at >= format.size() || kConversions.find(format[at]) == std::string_view::npos) {
      raise("'strftime_now' got an unknown conversion in '" + std::string(format.substr(0, 60)) +
            "'");
    }
    conversion += format[at];
    char buffer[128];
    out.append({buffer, std::strftime(buffer, sizeof buffer, conversion.c_str(), &time)});
  }
  return call.heap().string(out.take());
}

constexpr Builtin kFunctions[] = {
    {"range", "start ?stop ?step", range},
    {"dict", "*", [](Call& c) { return c.heap().dict(make_dict(c)); }},
    {"namespace", "*",
     [](Call& c) { return c.heap().native(c.heap().make<Namespace>(*make_dict(c))); }},
    {"joiner", "?sep",
     [](Call& c) {
       return c.heap().native(c.heap().make<Joiner>(c.has(0) ? c.value(0) : c.heap().string(", ")));
     }},
    {"cycler", "*", make_cycler},
    {"raise_exception", "message", raise_exception},
    {"strftime_now", "format", strftime_now},
};

}  // namespace

const Builtin* find_function(std::string_view name) {
  return find_in(kFunctions, name);
}

}  // namespace halogen::jinja
