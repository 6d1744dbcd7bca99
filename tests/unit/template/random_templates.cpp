#include "tests/unit/template/random_templates.h"

namespace halogen::test {
namespace {

// What follows a filter belongs to the filter's name or arguments, so it goes in parentheses.
std::string closed(const std::string& expression) {
  return expression.find('|') == std::string::npos ? expression : "(" + expression + ")";
}

}  // namespace

std::string RandomTemplates::text(int depth) {
  return closed(make_text(depth));
}

std::string RandomTemplates::list(int depth) {
  return closed(make_list(depth));
}

std::string RandomTemplates::variable() {
  return any_of({"a", "b", "c", "x", "missing", "messages[0].content", "messages[-1].role", "n",
                 "flag", "nothing", "words", "pairs"});
}

// Numbers stay small: Python's have no bound, halogen's have 64 bits.
std::string RandomTemplates::number(int depth) {
  if (depth <= 0) {
    return any_of(
        {"0", "1", "2", "3", "7", "-1", "-4", "2.5", "0.1", "-0.75", "1e3", "1e16", "true", "n"});
  }
  switch (below(12)) {
    case 0:
    case 1:
    case 2: {
      const std::string left = number(depth - 1);
      const char* symbol = any_of({" + ", " - ", " * ", " / ", " // ", " % ", "+", "-"});
      return "(" + left + symbol + number(depth - 1) + ")";
    }
    case 3:
      return "(" + number(0) + " ** " + any_of({"0", "1", "2", "3", "-1"}) + ")";
    case 4:
      return text(depth - 1) + "|length";
    case 5:
      return list(depth - 1) +
             any_of({"|length", "|count", "|sum", "|first", "|last", "|min", "|max"});
    case 6: {
      const std::string subject = "(" + number(depth - 1) + ")";
      return subject + any_of({"|abs", "|int", "|float", "|round", "|round(1)",
                               "|round(2, 'floor')", "|round(0, 'ceil')", "|round(-1)"});
    }
    case 7:
      return text(depth - 1) +
             any_of({"|int", "|float", "|int(5)", "|int(0, 16)", "|float(1.5)", "|wordcount"});
    case 8:
      return text(depth - 1) +
             any_of({".count('a')", ".find('b')", ".rfind('l')", ".find('o', 2)", ".count('')"});
    case 9:
      return "-" + number(depth - 1);
    case 10:
      return list(depth - 1) + "[" + any_of({"0", "1", "-1", "-2"}) + "]";
    default:
      return "(" + number(depth - 1) + " if " + condition(depth - 1) + " else " +
             number(depth - 1) + ")";
  }
}

std::string RandomTemplates::make_text(int depth) {
  if (depth <= 0) {
    return any_of({"''", "'a'", "'Hello World'", "\"it's\"", "' b  c '", "'é😀ß'", "'1.5'", "'42'",
                   "'a-b-c'", "'x\\ny\\n\\nz'", "'<&\">'", "'The quick brown fox jumps'",
                   "'ǅ ÀÉ straße'", "'\\t'", "words", "messages[0].content"});
  }
  switch (below(16)) {
    case 0:
    case 1:
      return "(" + anything(depth - 1) + " ~ " + anything(depth - 1) + ")";
    case 2:
      return "(" + text(depth - 1) + " + " + text(depth - 1) + ")";
    case 3:
    case 4: {
      const std::string subject = text(depth - 1);
      return subject + any_of({"|upper",
                               "|lower",
                               "|title",
                               "|capitalize",
                               "|trim",
                               "|string",
                               "|e",
                               "|urlencode",
                               "|reverse",
                               "|trim('a ')",
                               "|indent(2)",
                               "|indent(1, true)",
                               "|indent(3, false, true)",
                               "|center(15)",
                               "|truncate(9)",
                               "|truncate(7, true)",
                               "|truncate(8, false, '…', 0)",
                               "|safe",
                               "|forceescape",
                               "|default('d')",
                               "|default('d', true)"});
    }
    case 5:
      return text(depth - 1) + "|replace(" + text(0) + ", " + text(0) + any_of({")", ", 1)"});
    case 6:
    case 7: {
      const std::string subject = text(depth - 1);
      return subject + any_of({"[1:]", "[:-1]", "[::-1]", "[1:4]", "[-3:]", "[::2]", "[4:1:-1]",
                               "[0]", "[-1]", "[9]", "[:99]"});
    }
    case 8:
    case 9: {
      const std::string subject = text(depth - 1);
      return subject + any_of({".strip()", ".lstrip()", ".rstrip('c ')", ".upper()", ".lower()",
                               ".title()", ".capitalize()", ".swapcase()", ".center(9, '*')",
                               ".ljust(7)", ".rjust(7, '-')", ".zfill(6)", ".removeprefix('a')",
                               ".removesuffix('c')", ".replace('l', 'L')", ".replace('a', '', 1)",
                               ".partition('-')[2]", ".rpartition(' ')[0]"});
    }
    case 10:
      return anything(depth - 1) +
             any_of({"|string", "|tojson", "|tojson(indent=2)", "|tojson(sort_keys=true)",
                     "|tojson(ensure_ascii=true)", "|tojson(separators=(',', ':'))"});
    case 11:
      return list(depth - 1) + any_of({"|join", "|join(', ')", "|join('')", "|tojson", "|string"});
    case 12:
      return "(" + std::string(any_of({"'%s'", "'[%5s]'", "'[%-5s]'", "'%r'", "'%.2s'"})) + " % (" +
             anything(depth - 1) + ",))";
    case 13:
      return "(" +
             std::string(any_of({"'%d'", "'%5.1f'", "'%05d'", "'%x'", "'%e'", "'%g'", "'%+d'"})) +
             " % (" + number(depth - 1) + "))";
    case 14: {
      const char* pattern =
          any_of({"'{}'", "'{:>8}'", "'{!r}'", "'[{0:^9}]'", "'{0}{0}'", "'{:.2}'", "'{:*<6}'"});
      return std::string(pattern) + ".format(" + anything(depth - 1) + ")";
    }
    default:
      return "(" + text(depth - 1) + " * " + any_of({"0", "1", "3", "-1"}) + ")";
  }
}

std::string RandomTemplates::make_list(int depth) {
  if (depth <= 0) {
    return any_of({"[]", "[1, 2, 3]", "['b', 'A', 'c']", "[3, 1.5, -2]", "(1, 'x')", "range(4)",
                   "[none, true]", "[[1, 2], [0]]", "pairs", "messages", "['a', 'a', 'B', 'b']",
                   "[{'k': 2}, {'k': 1}, {}]"});
  }
  switch (below(13)) {
    case 0:
    case 1:
      return "[" + anything(depth - 1) + ", " + anything(depth - 1) + "]";
    case 2:
      return "(" + list(depth - 1) + " + " + list(depth - 1) + ")";
    case 3:
    case 4: {
      const std::string subject = list(depth - 1);
      return subject +
             any_of({"|sort", "|sort(reverse=true)", "|sort(case_sensitive=true)", "|reverse|list",
                     "|unique|list", "|list", "|batch(2)|list", "|batch(2, 'f')|list",
                     "|slice(2)|list", "|slice(3, 'f')|list", "|sort(attribute='k')"});
    }
    case 5: {
      const std::string subject = list(depth - 1);
      return subject +
             any_of({"|map('string')|list", "|map('upper')|list", "|map(attribute='role')|list",
                     "|map(attribute='k', default=0)|list", "|map('default', 'd')|list",
                     "|map('length')|list", "|map('int', 7)|list", "|map('tojson')|list"});
    }
    case 6: {
      const std::string subject = list(depth - 1);
      return subject +
             any_of({"|select|list", "|reject|list", "|select('string')|list",
                     "|reject('number')|list", "|select('odd')|list", "|select('gt', 1)|list",
                     "|selectattr('k')|list", "|selectattr('k', 'eq', 1)|list",
                     "|rejectattr('role', 'in', ['user'])|list", "|selectattr('k', 'defined')|list",
                     "|select('in', [1, 'a'])|list"});
    }
    case 7:
      return list(depth - 1) + any_of({"[1:]", "[:-1]", "[::-1]", "[::2]", "[-2:]"});
    case 8:
      return text(depth - 1) + any_of({"|list", ".split()", ".split('-')", ".split(' ', 1)",
                                       ".rsplit(' ', 1)", ".splitlines()", ".partition('b')"});
    case 9:
      return dict(depth - 1) +
             any_of({"|list", ".items()|list", ".keys()|list", ".values()|list", "|dictsort",
                     "|dictsort(by='value')", "|dictsort(reverse=true)", "|items|list"});
    case 10:
      return "(" + list(depth - 1) + " * 2)";
    case 11:
      return "range(" + std::string(any_of({"3", "1, 4", "5, 0, -2", "0", "-1"})) + ")" +
             any_of({"", "|list"});
    default:
      return "(" + list(depth - 1) + ", " + anything(depth - 1) + ")";
  }
}

std::string RandomTemplates::dict(int depth) {
  if (depth <= 0) {
    return any_of({"{}", "{'a': 1, 'b': [2]}", "{'k': 'v', 'B': none}", "messages[0]",
                   "dict(a=1, b='x')", "{1: 'one', 'two': 2.0}", "{'é': 'ü', 'n': {'m': true}}",
                   "dict([('p', 1)])"});
  }
  return "{" + std::string(any_of({"'a'", "'b'", "1", "words"})) + ": " + anything(depth - 1) +
         ", 'z': " + anything(depth - 1) + "}";
}

std::string RandomTemplates::condition(int depth) {
  if (depth <= 0)
    return any_of({"true", "false", "flag", "missing", "words", "n", "nothing is none"});
  switch (below(10)) {
    case 0:
      return "(" + anything(depth - 1) + any_of({" == ", " != "}) + anything(depth - 1) + ")";
    case 1:
      return "(" + number(depth - 1) + any_of({" < ", " <= ", " > ", " >= ", " == "}) +
             number(depth - 1) + ")";
    case 2:
      return "(" + text(depth - 1) + any_of({" < ", " in ", " not in ", " == "}) + text(depth - 1) +
             ")";
    case 3:
      return "(" + anything(depth - 1) + any_of({" in ", " not in "}) + list(depth - 1) + ")";
    case 4:
      return "(not " + condition(depth - 1) + ")";
    case 5:
      return "(" + anything(depth - 1) + any_of({" and ", " or "}) + anything(depth - 1) + ")";
    case 6:
    case 7: {
      const std::string subject = anything(depth - 1);
      return "(" + subject +
             any_of({" is defined", " is undefined", " is none", " is not none", " is string",
                     " is number", " is integer", " is float", " is boolean", " is mapping",
                     " is sequence", " is iterable", " is true", " is false", " is callable",
                     " is eq 1", " is in [1, 'a']", " is sameas none", " is not string"}) +
             ")";
    }
    case 8:
      return "(" + number(depth - 1) +
             any_of({" is odd", " is even", " is divisibleby 3", " is gt 1", " is le(2)"}) + ")";
    default:
      return text(depth - 1) + any_of({".startswith('a')", ".endswith(('c', 'd'))", ".isdigit()",
                                       ".isalpha()", ".isspace()", ".isupper()", ".islower()",
                                       ".isalnum()", " is lower", " is upper"});
  }
}

std::string RandomTemplates::anything(int depth) {
  switch (below(8)) {
    case 0:
    case 1:
      return number(depth);
    case 2:
    case 3:
      return text(depth);
    case 4:
      return list(depth);
    case 5:
      return dict(depth);
    case 6:
      return condition(depth);
    default:
      return variable();
  }
}

// A tag with the blanks and signs that decide what becomes of the white space around it.
std::string RandomTemplates::tag(const std::string& inside) {
  const char* before = any_of({"", "", "", "  ", "\n", " \n ", "t "});
  const char* open = any_of({"{% ", "{% ", "{%- ", "{%+ "});
  const char* close = any_of({" %}", " %}", " -%}", " +%}"});
  const char* after = any_of({"", "", "\n", "  \n", " u"});
  return std::string(before) + open + inside + close + after;
}

std::string RandomTemplates::body(int depth) {
  std::string all;
  for (std::size_t parts = 1 + below(3); parts > 0; --parts) all += statement(depth);
  return all;
}

std::string RandomTemplates::statement(int depth) {
  const char* name = any_of({"a", "b", "c", "x"});
  if (depth <= 0) {
    const char* print[][2] = {
        {"{{ ", " }}"}, {"{{- ", " }}"}, {" {{ ", " -}} "}, {"\n{{ ", " }}\n"}};
    const auto& [open, close] = print[below(4)];
    return open + anything(2) + close;
  }
  switch (below(12)) {
    case 0:
    case 1:
      return tag(std::string("for ") + name + " in " + list(1) +
                 any_of({"", "", " if not loop", ""})) +
             body(depth - 1) + (below(3) == 0 ? tag("else") + "none" : "") + tag("endfor");
    case 2:
      return tag(std::string("for ") + name + " in " + list(1) + " if " + condition(1)) +
             "{{ loop.index }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex0 "
             "}}" +
             body(depth - 1) + tag("endfor");
    case 3:
      return tag("for k, v in " + dict(1) + any_of({".items()", "|dictsort", "|items"})) +
             "{{ k }}={{ v }};" +
             (below(3) == 0
                  ? tag("if loop.index > 1") + tag(any_of({"break", "continue"})) + tag("endif")
                  : "") +
             "{{ loop.previtem }}" + tag("endfor");
    case 4:
      return tag("if " + condition(2)) + body(depth - 1) +
             (below(2) == 0 ? tag("elif " + condition(1)) + body(depth - 1) : "") +
             (below(2) == 0 ? tag("else") + body(depth - 1) : "") + tag("endif");
    case 5:
      return tag(std::string("set ") + name + " = " + anything(2));
    case 6:
      return tag(std::string("set ") + name + any_of({"", " | upper", " | trim | length"})) +
             body(depth - 1) + tag("endset");
    case 7:
      return tag(std::string("macro m(p, q=") + anything(1) + ")") + "{{ p }},{{ q }};" +
             body(depth - 1) + tag("endmacro") + "{{ m(" + anything(1) +
             any_of({") }}", ", 1) }}", ", q='Q') }}", ")|upper }}"});
    case 8:
      return tag(std::string("filter ") +
                 any_of({"upper", "indent(2)", "replace('a', 'b')", "trim", "e"})) +
             body(depth - 1) + tag("endfilter");
    case 9:
      return tag("set ns = namespace(t=" + anything(1) + ")") + tag("for i in range(3)") +
             tag("set ns.t = " + std::string(any_of({"i", "[ns.t, i]", "ns.t ~ i", "ns.t"}))) +
             tag("endfor") + "{{ ns.t }}";
    case 10:
      return tag(std::string("with ") + name + " = " + anything(1)) + body(depth - 1) +
             tag("endwith");
    default:
      return any_of({"text", "\n", "  lines\n  of text\n", "{# comment #}", "  {#- comment -#}  \n",
                     "{% raw %}{{ raw }}{% endraw %}\n"}) +
             body(depth - 1);
  }
}

std::string RandomTemplates::next() {
  return below(2) == 0 ? "{{ " + anything(3) + " }}" : body(2);
}

}  // namespace halogen::test
