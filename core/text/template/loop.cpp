// Attributes and methods of `loop`.
#include "core/text/template/loop.h"

#include "core/text/template/builtins.h"
#include "core/text/template/operators.h"

namespace halogen::jinja {

namespace {

// The subject of these methods is always a Loop: only Loop::attribute hands them out.
Loop& loop_of(Call& call) {
  return static_cast<Loop&>(call.subject.as_native());
}

constexpr Builtin kMethods[] = {
    {"cycle", "*", [](Call& call) { return loop_of(call).cycle(call.rest.positional); }},
    {"changed", "*",
     [](Call& call) {
       return Value::boolean(loop_of(call).changed(call.heap(), call.rest.positional));
     }},
};

}  // namespace

Value Loop::call(Interpreter& interpreter, const Arguments& arguments) {
  if (!statement_.recursive) raise("only a loop marked 'recursive' can be called");
  if (arguments.positional.size() != 1 || !arguments.named.empty()) {
    raise("a recursive loop is called with what to loop over");
  }
  return interpreter.heap().string(interpreter.capture(
      [&] { statement_.run(interpreter, scope_, arguments.positional[0], depth0_ + 1); }));
}

std::optional<Value> Loop::attribute(Interpreter& interpreter, std::string_view name) {
  Heap& heap = interpreter.heap();
  const auto number = [](std::size_t value) {
    return Value::integer(static_cast<std::int64_t>(value));
  };
  if (name == "index") return number(index0_ + 1);
  if (name == "index0") return number(index0_);
  if (name == "revindex") return number(items_.size() - index0_);
  if (name == "revindex0") return number(items_.size() - index0_ - 1);
  if (name == "first") return Value::boolean(index0_ == 0);
  if (name == "last") return Value::boolean(index0_ + 1 == items_.size());
  if (name == "length") return number(items_.size());
  if (name == "depth") return Value::integer(depth0_ + 1);
  if (name == "depth0") return Value::integer(depth0_);
  if (name == "previtem") {
    return index0_ == 0 ? heap.undefined("there is no previous item") : items_[index0_ - 1];
  }
  if (name == "nextitem") {
    return index0_ + 1 >= items_.size() ? heap.undefined("there is no next item")
                                        : items_[index0_ + 1];
  }
  if (const Builtin* method = find_in(kMethods, name)) {
    return heap.native(heap.make<BoundMethod>(heap.native(this), *method));
  }
  return std::nullopt;
}

bool Loop::changed(Heap& heap, const std::vector<Value>& values) {
  bool same = last_changed_ && last_changed_->size() == values.size();
  for (std::size_t i = 0; same && i < values.size(); ++i) {
    same = equal(heap, (*last_changed_)[i], values[i]);
  }
  if (!same) last_changed_ = values;
  return !same;
}

Value Loop::cycle(const std::vector<Value>& values) const {
  if (values.empty()) raise("loop.cycle needs values to cycle through");
  return values[index0_ % values.size()];
}

}  // namespace halogen::jinja
