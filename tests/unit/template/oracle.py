"""Renders templates with Jinja2 itself, set up as transformers sets it up for chat templates.

usage: oracle.py REQUEST RESPONSE

REQUEST is a JSON file: {"now": [year, month, day, hour, minute, second],
"templates": [source, ...], "cases": [{"template": index, "context": {...}}, ...]}.
RESPONSE becomes a JSON list with, for each case, {"text": ...} or {"error": ...}.
Exits with 77 where Jinja2 is not installed.
"""

import datetime
import json
import sys

try:
    import jinja2
    import jinja2.ext
    import jinja2.sandbox
except ImportError:
    sys.exit(77)


class Generation(jinja2.ext.Extension):
    """The tag that marks what an assistant generated; here it only renders its body."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("render_body"), [], [], body).set_lineno(line)

    def render_body(self, caller):
        return caller()


def make_environment(now):
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(
            value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = now.strftime
    return environment


def main(request_path, response_path):
    with open(request_path, encoding="utf-8") as file:
        request = json.load(file)
    environment = make_environment(datetime.datetime(*request["now"]))
    compiled = {}
    answers = []
    for case in request["cases"]:
        index = case["template"]
        try:
            if index not in compiled:
                compiled[index] = environment.from_string(request["templates"][index])
            answers.append({"text": compiled[index].render(**case["context"])})
        except Exception as error:  # whatever goes wrong is the answer
            answers.append({"error": f"{type(error).__name__}: {error}"})
    with open(response_path, "w", encoding="utf-8") as file:
        json.dump(answers, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
