"""What the words of an order become: the statements of a check.

Expressions in them may name sizes ("batch"), derived sizes, `contract`, `strict` and `desc`. Names declares a name in
front of the first statement that uses it; Checks has a method for each word.
"""

import re
from typing import Dict, List, Tuple

from .describe import Descriptor, Family, Operator, Plain, Rule, Scalar, Tensor

IDENTIFIER = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![\w.>:])[A-Za-z_]\w*')
NHWC = ("kN", "kH", "kW", "kC")
MOST_LINES = 20  # statements in a function


def call(check: str) -> str:
    return f"MLUOPS_RETURN_IF_FINISHED({check});"


def under(tests: List[str], check: str) -> str:
    """A check where tests hold; an empty one always does."""
    tests = [test for test in tests if test]
    return (f"if ({' && '.join(tests)}) " if tests else "") + call(check)


def words_of(order: str) -> List[Tuple[str, List[str]]]:
    """ "ranks sizes(a b)" -> [("ranks", []), ("sizes", ["a", "b"])]"""
    found = re.findall(r"([\w|]+)(?:\(([^)]*)\))?", order)
    return [(word, inside.split()) for word, inside in found]


def arithmetic(text: str) -> str:
    """A derived size without C++: a * b of dim_product({a, b})."""
    return re.sub(r"dim_product\(\{(.*?)\}\)", lambda m: m[1].replace(", ", " * "), text)


def literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Names:
    """The names that expressions of an operator may use, and what they are in C++."""

    def __init__(self, op: Operator, family: Family) -> None:
        self.op, self.family = op, family
        self.descriptor = next((d for d in family.of(Descriptor)
                                if any(p.name == d.argument for p in op.plain("descriptor"))), None)
        self.names: Dict[str, str] = {}  # what expressions may name -> its declaration
        self.order = words_of(op.order)
        self.names["contract"] = "const mluOpExtContract_t contract = args.handle->contract;"
        self.names["strict"] = "const bool strict = contract != MLUOP_EXT_CONTRACT_EXTENDED;"
        if self.descriptor:
            self.names["desc"] = f"const {self.descriptor.struct}& desc = *args.{self.descriptor.argument};"
        self.places: Dict[str, tuple] = {}  # size -> the tensor and axis it is read from
        self._bind()

    # ---- expressions ----------------------------------------------------------------------------

    def expression(self, text: str) -> str:
        """C++ of an expression over arguments and sizes; ints are std::int64_t, so that sums of them are right."""
        def of(match: re.Match) -> str:
            name = match[0]
            if name[0] == '"' or name in self.names or name in self.places:
                return name
            for arg in self.op.args + self.op.carried:
                if arg.name == name:
                    plain_int = isinstance(arg, Scalar) and arg.kind == "int"
                    return f"std::int64_t{{args.{name}}}" if plain_int and text.strip() != name else f"args.{name}"
            member = self._field(name)
            if member:
                plain = text.strip() == name or text[match.end():match.end() + 1] == "["
                return f"desc.{member}" if plain else f"std::int64_t{{desc.{member}}}"
            return name
        return IDENTIFIER.sub(of, text)

    def _field(self, name: str) -> str:
        for field in self.descriptor.fields if self.descriptor else []:
            if field.name == name and (isinstance(field, Plain) or field.kind == "int"):
                return self.descriptor.members.get(name, name)
        return ""

    def _given(self, size: str) -> bool:
        """Whether a size is known before any tensor is looked at."""
        return (size.isdigit() or size in self.op.derive or bool(self._field(size)) or
                any(isinstance(arg, Scalar) and arg.name == size for arg in self.op.args))

    def _bind(self) -> None:
        for tensor in self._sizes_order():
            for axis, size in enumerate(tensor.dims):
                binds = self.op.bind.get(size, tensor.name) == tensor.name
                if binds and not self._given(size) and size not in self.places and not tensor.optional:
                    self.places[size] = tensor, axis
        for size, (tensor, axis) in self.places.items():
            at = f"Axis::{NHWC[axis]}" if tensor.kind == "image" else str(axis)
            self.names[size] = f"const std::int64_t {size} = size_of(args.{tensor.name}, {at});"
        for name, text in self.op.derive.items():
            self.names[name] = ""  # a name to the expressions of the others
        for name, text in self.op.derive.items():
            self.names[name] = f"const std::int64_t {name} = {self.expression(text)};"

    def _sizes_order(self) -> List[Tensor]:
        listed = next((names for word, names in self.order if word == "sizes" and names), [])
        rest = sorted(self.op.tensors(), key=lambda t: t.name != self.op.lead)
        return [self.op.find(n) for n in listed] + [t for t in rest if t.name not in listed]

    def some(self, names: List[str], tensors=None) -> List[Tensor]:
        """The tensors named, in this order; those but "-x" of all; all."""
        all_ = [t for t in self.op.tensors() if not t.bare]
        if names and not names[0].startswith("-"):
            return [self.op.find(name) for name in names]
        return [t for t in all_ if "-" + t.name not in names]

    def condition(self, tensor: Tensor) -> str:
        """Where a tensor is looked at; "": always."""
        return self.expression(tensor.where) if tensor.where else f"args.{tensor.name}.desc != nullptr" if tensor.optional else ""

    def guard(self, tensor: Tensor) -> str:
        return f"if ({self.condition(tensor)}) " if self.condition(tensor) else ""

    def by_where(self, tensors: List[Tensor]) -> List[Tuple[str, List[Tensor]]]:
        """Tensors that share a condition of their own, each group behind it."""
        return [(self.expression(where) if where else "", [t for t in tensors if t.where == where])
                for where in dict.fromkeys(t.where for t in tensors)]

    def rank(self, tensor: Tensor) -> int:
        return len(tensor.dims) or self.rank(self.op.find(tensor.like))

    def used(self, tensor: Tensor) -> str:
        """A tensor, or nothing where it is not looked at."""
        if not tensor.where:
            return f"args.{tensor.name}"
        name = f"used_{tensor.name}"
        self.names[name] = (f'const TensorArg {name} = {self.condition(tensor)} ? args.{tensor.name} : '
                            f'TensorArg{{"{tensor.name}", nullptr, nullptr}};')
        return name

    def declared(self, statements: List[str]) -> List[str]:
        """The statements, each behind the declarations of what it names first."""
        made: List[str] = []
        known = set()

        def use(text: str) -> None:
            for name in IDENTIFIER.findall(text):
                if name in self.names and name not in known:
                    known.add(name)
                    use(self.names[name])
                    made.append(self.names[name])

        for statement in statements:
            use(statement)
            made.append(statement)
        return made


class Checks(Names):
    """The statements of an operator's check."""

    def statements(self, order: List[Tuple[str, List[str]]]) -> List[str]:
        made: List[str] = []
        for word, names in order:
            if word in self.op.rules:
                made.append(self.refusal(self.op.rules[word]))
            elif word == "|":
                made.append(word)
            else:
                made += getattr(self, "word_" + word)(names)
        return made

    def each(self, tensors: List[Tensor], check) -> List[str]:
        """check(tensor) of each, of an optional one where it is given."""
        return [self.guard(t) + call(check(t)) for t in tensors]

    def listed(self, tensors) -> str:
        return "{" + ", ".join(f"args.{t.name}" for t in tensors) + "}"

    def of_run(self, run: List[Tensor], check: str, *more) -> str:
        """A check of the only tensor, or of each."""
        return (f"{check}({', '.join([f'args.{run[0].name}', *map(str, more)])})" if len(run) == 1 else
                f"check_each({', '.join([self.listed(run), check, *map(str, more)])})")

    def _runs(self, tensors: List[Tensor], key, check) -> List[str]:
        """check(key, tensors) of each run of tensors that share a key and a condition."""
        made: List[str] = []
        run: List[Tensor] = []
        for t in tensors + [None]:
            if run and (t is None or self.guard(t) != self.guard(run[0]) or key(t) != key(run[0])):
                made.append(self.guard(run[0]) + call(check(key(run[0]), run)))
                run = []
            run.append(t)
        return made

    def refusal(self, rule: Rule, expression=None) -> str:
        expression = expression or self.expression
        parts = [part for part in re.split(r"(\{.*?\})", rule.text) if part]
        text = ", ".join(expression(p[1:-1]) if p[0] == "{" else literal(p) for p in parts)
        test = f"!({expression(rule.condition)})"
        text = text if len(parts) == 1 else f"text_of({text})"
        return (f"if ({'strict && ' if rule.strict else ''}{test}) {{ "
                f"return Status::{rule.status.lower()}({text}); }}")

    def word_descs(self, names):
        if not names:
            return [call(f"have_descs({self.listed(t for t in self.some(names) if not self.guard(t))})")]
        return self._runs(self.some(names), lambda t: "", lambda _, run: f"have_descs({self.listed(run)})")

    def word_descriptor(self, names):
        return [call(f'not_null("{d.name}", args.{d.name})') for d in self.op.plain("descriptor")]

    def word_fields(self, names):
        return [call(f"check_{self.family.name}_descriptor(desc)")]

    def word_numbers(self, names):
        return [call(check) for arg in self.op.scalars() if (arg.name in names if names else arg.rule)
                for check in number_checks(arg, f"args.{arg.name}")]

    def word_ranks(self, names):
        return self._runs(self.some(names), self.rank, lambda rank, run: self.of_run(run, "has_rank", rank))

    def word_layouts(self, names):
        def check(kind, run):
            if kind == "image":
                return self.of_run(run, "has_image_layout", f"args.{self.op.image}", "contract")
            return self.of_run(run, "has_layout", f"MLUOP_LAYOUT_{kind.upper()}")
        return self._runs([t for t in self.some(names) if t.kind != "any"], lambda t: t.kind, check)

    def word_dtypes(self, names):
        lead = self.op.lead
        if self.op.floats == "FLOAT each":  # whose text names FLOAT for each of them
            return [call(f"are_float({self.listed(self.some(names))}, contract)")]
        first = "is_float" if self.op.floats == "FLOAT" else "has_float_dtype"
        rest = [t for t in self.some(names) if t.name != lead or t.dtype != "T"]

        def check(dtype, run):
            of = run[0].like if run[0].where and run[0].like else lead
            return (self.of_run(run, "same_dtype", f"args.{of}") if dtype == "T" else
                    self.of_run(run, "has_dtype", f"MLUOP_DTYPE_{dtype}"))

        checks = self._runs(rest, lambda t: t.dtype, check)
        return checks if self.op.find(lead).dtype != "T" or (names and lead not in names) else [call(f"{first}(args.{lead}, contract)"), *checks]

    def word_floats(self, names):
        return [call(f"has_float_dtype(args.{name}, contract)") for name in names]

    def word_sizes(self, names):
        made = []
        for t in self.some(names) if names else [t for t in self._sizes_order() if not t.bare]:
            guard = self.guard(t)
            if t.like:
                made.append(guard + call(f"same_dims(args.{t.name}, args.{t.like})"))
                continue
            checks = [f"{{{axis}, {self.expression(size)}, {self.meaning(t, axis, size)}}}"
                      for axis, size in enumerate(t.dims) if self.places.get(size, (None, None)) != (t, axis)]
            if checks:
                word = "has_image_sizes" if t.kind == "image" else "has_sizes"
                made.append(guard + call(f"{word}(args.{t.name}, {{{', '.join(checks)}}})"))
        return made

    def meaning(self, tensor: Tensor, axis: int, size: str) -> str:
        for key in (f"{tensor.name}.{size}", f"{tensor.name}.{axis}", size):
            if key in self.op.say:
                return literal(self.op.say[key])
        if any(isinstance(arg, Scalar) and arg.name == size for arg in self.op.args):
            return literal(size)
        raise KeyError(f"{self.op.function}: say what {size} of {tensor.name} is")

    def word_dense(self, names):
        """Dense, and after that countable."""
        return self.word_strides([n for n in names]) + self.word_countable(names)

    def word_strides(self, names):
        return self._runs(self.some(names), lambda t: "", lambda _, run:
                          self.of_run(run, "is_dense", f"MLUOP_STATUS_{self.op.strided}"))

    def word_countable(self, names):
        """countable(BAD_PARAM): with that status."""
        if names == ["BAD_PARAM"]:
            checked = self.of_run(self.some([]), "is_countable", "contract")
            return [f"if (const Status s = {checked}; s.failed()) {{ "
                    "return Status::bad_param(s.text()); }"]
        return [under([where], self.of_run(group, "is_countable", "contract"))
                for where, group in self.by_where(self.some(names))]

    def word_indexable(self, names):
        return [call(f"is_indexable(args.{t}, {axis})") for t, axis in (name.split(".") for name in names)]

    def word_pixels(self, names):
        return [call(f"has_countable_pixels(args.{name})") for name in names]

    def word_not_empty(self, names):
        return self.each(self.some(names), lambda t: f"not_empty(args.{t.name})")

    def word_done_if_empty(self, names):
        test = f"is_empty(args.{names[0]})" if len(names) == 1 else f"any_empty({self.listed(self.some(names))})"
        return [f"if ({test}) return Status::nothing_to_do();"]

    def word_done_if(self, names):
        return [f"if ({self.expression(' '.join(names))}) return Status::nothing_to_do();"]

    def word_data(self, names):
        """data(a b): both; data(a: b c): b and c unless a is empty."""
        first = f"!is_empty(args.{names[0][:-1]})" if names and names[0].endswith(":") else ""
        tensors = self.some(names[1:] if first else names)
        tensors = tensors if names else [t for t in tensors if not self.guard(t)]
        return [under([first, where], self.of_run(group, "has_data")) for where, group in self.by_where(tensors)]

    def word_desc_pointers(self, names):
        return [call(f'not_null("{name}_desc", args.{name}.desc)') for name in names]

    def word_data_where_needed(self, names):
        return [under([where], self.of_run(group, "has_data_unless_empty"))
                for where, group in self.by_where(self.some(names))]

    def word_both(self, names):
        return [call(f"present_or_absent(args.{name})") for name in names]

    def word_both_unless_empty(self, names):
        """An empty tensor may lack its data."""
        return [f"if (args.{n}.desc == nullptr || !is_empty(args.{n})) " + call(f"present_or_absent(args.{n})")
                for n in names]

    def word_workspace(self, names):
        return ['if (args.workspace_size > 0) ' + call('not_null("workspace", args.workspace)')]

    def word_counts(self, names):
        return [call(f'not_null("{count.name}", args.{count.name})') for count in self.op.plain("count")]

    def word_overlap(self, names):
        inputs, outputs = memory_of(self.op, self.used)
        return [call(f"share_nothing({{{', '.join(inputs)}}}, {{{', '.join(outputs)}}})")]

    def word_batch_indices(self, names):
        first = f"!is_empty(args.{names[0][:-1]})" if names[0].endswith(":") else ""
        return [under([first], f"check_batch_indices(args.{name}, batch)") for name in names if not name.endswith(":")]

    def word_hook(self, names):
        """hook(f): f(args); hook(f a b): f(args.a, args.b)."""
        given = ", ".join(self.expression(name) for name in names[1:]) or "args"
        return [call(f"{names[0]}({given})")]

    def parts(self) -> List[Tuple[str, List[str]]]:
        """(end of the function's name, statements) of the functions the check is split into."""
        statements = self.statements(self.order)
        if "|" not in statements and len(statements) <= MOST_LINES:
            return [("", statements)]
        at = statements.index("|") if "|" in statements else len(statements) * 2 // 3
        return [("_form", statements[:at]), ("", [s for s in statements[at:] if s != "|"])]


def memory_of(op: Operator, used) -> Tuple[List[str], List[str]]:
    """The tensors that a call reads and writes, as TensorArgs: used(tensor)."""
    inputs = [used(t) for t in op.tensors() if not t.out]
    outputs = [used(t) for t in op.tensors() if t.out]
    outputs += [f'TensorArg{{"{c.name}", one_int32(), args.{c.name}}}' for c in op.plain("count")]
    return inputs, outputs


def number_checks(arg: Scalar, value: str) -> List[str]:
    """The checks that "in 0..1", ">= 1", "> 0" and "number" stand for."""
    rule = arg.rule.replace("INT_MAX", "std::numeric_limits<int>::max()")
    if arg.kind == "float":
        exact = f"{value}.{'exact' if ' exact' in rule else 'value'}"
        return [f'is_positive("{arg.name}", {value})' if rule.startswith("> 0") else
                f'is_not_negative("{arg.name}", {exact})' if rule.startswith(">= 0") else
                f'is_number("{arg.name}", {exact})']
    if rule.startswith("in "):
        low, high = rule[3:].split("..")
        return [f'in_range("{arg.name}", {value}, {low}, {high})']
    if rule.startswith(">= "):
        return [f'at_least("{arg.name}", {value}, {rule[3:]})']
    raise ValueError(f"{arg.name}: no rule {arg.rule!r}")
