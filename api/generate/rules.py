"""Writes common/op/<family>.{h,cpp}: the checks of each operator in the order its description gives, the problem struct
they fill, and its case text.

Each word of an order becomes one or more statements, whose expressions may name sizes ("batch"), derived sizes,
`contract`, `strict` and `desc`. Body declares a name in front of the first statement that uses it.
"""

import re
from typing import Dict, List, Tuple

from .describe import Descriptor, Family, Getter, Operator, Plain, Prose, Rule, Scalar, Struct, Tensor, camel

IDENTIFIER = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![\w.>:])[A-Za-z_]\w*')
NHWC = ("kN", "kH", "kW", "kC")
MOST_LINES = 20  # statements in a function


def call(check: str) -> str:
    return f"MLUOPS_RETURN_IF_FINISHED({check});"


def words_of(order: str) -> List[Tuple[str, List[str]]]:
    """ "ranks sizes(a b)" -> [("ranks", []), ("sizes", ["a", "b"])]"""
    found = re.findall(r"([\w|]+)(?:\(([^)]*)\))?", order)
    return [(word, inside.split()) for word, inside in found]


def literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Body:
    """The statements of an operator's check."""

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
            for arg in self.op.args:
                if arg.name == name:
                    plain_int = isinstance(arg, Scalar) and arg.kind == "int"
                    return f"std::int64_t{{args.{name}}}" if plain_int and text.strip() != name else f"args.{name}"
            member = self._field(name)
            if member:
                return f"desc.{member}" if text.strip() == name else f"std::int64_t{{desc.{member}}}"
            return name
        return IDENTIFIER.sub(of, text)

    def _field(self, name: str) -> str:
        for field in self.descriptor.fields if self.descriptor else []:
            if field.name == name and field.kind == "int":
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

    # ---- what words become ----------------------------------------------------------------------

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

    def some(self, names: List[str], tensors=None) -> List[Tensor]:
        """The tensors named, in this order; those but "-x" of all; all."""
        all_ = [t for t in self.op.tensors() if not t.bare]
        if names and not names[0].startswith("-"):
            return [self.op.find(name) for name in names]
        return [t for t in all_ if "-" + t.name not in names]

    def each(self, tensors: List[Tensor], check) -> List[str]:
        """check(tensor) of each, of an optional one where it is given."""
        return [(f"if (args.{t.name}.desc != nullptr) " if t.optional else "") + call(check(t)) for t in tensors]

    def listed(self, tensors) -> str:
        return "{" + ", ".join(f"args.{t.name}" for t in tensors) + "}"

    def _runs(self, tensors: List[Tensor], key, check) -> List[str]:
        """check(key, tensors) of each run of tensors that share a key; of optional ones by themselves."""
        made: List[str] = []
        run: List[Tensor] = []
        for t in tensors + [None]:
            if run and (t is None or t.optional or run[0].optional or key(t) != key(run[0])):
                guard = f"if (args.{run[0].name}.desc != nullptr) " if run[0].optional else ""
                made.append(guard + call(check(key(run[0]), run)))
                run = []
            run.append(t)
        return made

    def rank(self, tensor: Tensor) -> int:
        return len(tensor.dims) or self.rank(self.op.find(tensor.like))

    def refusal(self, rule: Rule, expression=None) -> str:
        expression = expression or self.expression
        parts = [part for part in re.split(r"(\{.*?\})", rule.text) if part]
        text = ", ".join(expression(p[1:-1]) if p[0] == "{" else literal(p) for p in parts)
        test = f"!({expression(rule.condition)})"
        text = text if len(parts) == 1 else f"text_of({text})"
        return (f"if ({'strict && ' if rule.strict else ''}{test}) {{ "
                f"return Status::{rule.status.lower()}({text}); }}")

    def word_descs(self, names):
        return [call(f"have_descs({self.listed(t for t in self.some(names) if names or not t.optional)})")]

    def word_descriptor(self, names):
        return [call(f'not_null("{d.name}", args.{d.name})') for d in self.op.plain("descriptor")]

    def word_fields(self, names):
        return [call(f"check_{self.family.name}_descriptor(desc)")]

    def word_numbers(self, names):
        return [call(check) for arg in self.op.scalars() if (arg.name in names if names else arg.rule)
                for check in number_checks(arg, f"args.{arg.name}")]

    def word_ranks(self, names):
        return self._runs(self.some(names), self.rank, lambda rank, run: f"has_rank(args.{run[0].name}, {rank})"
                          if len(run) == 1 else f"have_rank({rank}, {self.listed(run)})")

    def word_layouts(self, names):
        def check(kind, run):
            if kind == "image" and len(run) == 1:
                return f"has_image_layout(args.{run[0].name}, args.{self.op.image}, contract)"
            if kind == "image":
                return f"have_image_layout({self.listed(run)}, args.{self.op.image}, contract)"
            if kind == "array":
                return f"are_arrays({self.listed(run)})"
            return f"has_layout(args.{run[0].name}, MLUOP_LAYOUT_{kind.upper()})"
        return self._runs([t for t in self.some(names) if t.kind != "any"], lambda t: t.kind, check)

    def word_dtypes(self, names):
        lead = self.op.lead
        if self.op.floats == "FLOAT each":  # whose text names FLOAT for each of them
            return [call(f"are_float({self.listed(self.some(names))}, contract)")]
        first = "is_float" if self.op.floats == "FLOAT" else "has_float_dtype"
        rest = [t for t in self.some(names) if t.name != lead]

        def check(dtype, run):
            one, many = f"args.{run[0].name}", self.listed(run)
            if dtype == "T":
                return f"same_dtype({one}, args.{lead})" if len(run) == 1 else f"have_dtype_of({many}, args.{lead})"
            wanted = f"MLUOP_DTYPE_{dtype}"
            return f"has_dtype({one}, {wanted})" if len(run) == 1 else f"have_dtype({many}, {wanted})"

        checks = self._runs(rest, lambda t: t.dtype, check)
        return checks if names and lead not in names else [call(f"{first}(args.{lead}, contract)"), *checks]

    def word_floats(self, names):
        return [call(f"has_float_dtype(args.{name}, contract)") for name in names]

    def word_sizes(self, names):
        made = []
        for t in self.some(names) if names else [t for t in self._sizes_order() if not t.bare]:
            guard = f"if (args.{t.name}.desc != nullptr) " if t.optional else ""
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
                          f"are_dense({self.listed(run)}, MLUOP_STATUS_{self.op.strided})")

    def word_countable(self, names):
        """countable(BAD_PARAM): with that status."""
        if names == ["BAD_PARAM"]:
            return [f"if (const Status s = all_countable({self.listed(self.some([]))}, contract); s.failed()) {{ "
                    "return Status::bad_param(s.text()); }"]
        return [call(f"all_countable({self.listed(self.some(names))}, contract)")]

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
        guard = ""
        if names and names[0].endswith(":"):
            guard, names = f"if (!is_empty(args.{names[0][:-1]})) ", names[1:]
        return [guard + call(f"have_data({self.listed(t for t in self.some(names) if names or not t.optional)})")]

    def word_desc_pointers(self, names):
        return [call(f'not_null("{name}_desc", args.{name}.desc)') for name in names]

    def word_data_where_needed(self, names):
        return [call(f"have_data_unless_empty({self.listed(self.some(names))})")]

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
        inputs, outputs = memory_of(self.op)
        return [call(f"share_nothing({{{', '.join(inputs)}}}, {{{', '.join(outputs)}}})")]

    def word_batch_indices(self, names):
        guard = ""
        if names[0].endswith(":"):
            guard, names = f"if (!is_empty(args.{names[0][:-1]})) ", names[1:]
        return [guard + call(f"check_batch_indices(args.{name}, batch)") for name in names]

    def word_hook(self, names):
        """hook(f): f(args); hook(f a b): f(args.a, args.b)."""
        given = ", ".join(self.expression(name) for name in names[1:]) or "args"
        return [call(f"{names[0]}({given})")]

    # ---- functions ------------------------------------------------------------------------------

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

    def parts(self) -> List[Tuple[str, List[str]]]:
        """(end of the function's name, statements) of the functions the check is split into."""
        statements = self.statements(self.order)
        if "|" not in statements and len(statements) <= MOST_LINES:
            return [("", statements)]
        at = statements.index("|") if "|" in statements else len(statements) * 2 // 3
        return [("_form", statements[:at]), ("", [s for s in statements[at:] if s != "|"])]


def memory_of(op: Operator, prefix: str = "args.") -> Tuple[List[str], List[str]]:
    """The tensors that a call reads and writes, as TensorArgs."""
    inputs = [prefix + t.name for t in op.tensors() if not t.out]
    outputs = [prefix + t.name for t in op.tensors() if t.out]
    outputs += [f'TensorArg{{"{c.name}", one_int32(), {prefix}{c.name}}}' for c in op.plain("count")]
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


def filled(body: Body, family: Family) -> str:
    """The statement that fills the problem."""
    op = body.op
    structs = {s.name: s for s in family.of(Struct)}

    def value(ctype: str, name: str, nested: bool) -> str:
        for key in ([f"shape.{name}"] if nested else []) + [name]:
            if key in op.fill:
                return body.expression(op.fill[key])
        if name == "dtype":
            return f"args.{op.lead}.desc->dtype"
        if name == "layout":
            return f"args.{op.image}.desc->layout"
        for arg in op.args:
            if isinstance(arg, (Tensor, Plain)) and arg.member == name and ctype.endswith("*"):
                return pointer(arg, ctype)
            if isinstance(arg, Scalar) and name in (arg.member, "exact_" + arg.member):
                return scalar(arg, ctype)
        if name in body.names:
            return f"static_cast<std::int32_t>({name})" if ctype.startswith("int32") else name
        return body.expression(name)

    def pointer(arg, ctype: str) -> str:
        pointed = ctype.rstrip("*").replace("const ", "").replace("int", "std::int").replace("ustd::", "std::u")
        if isinstance(arg, Plain):
            return f"static_cast<{pointed}*>(args.{arg.name})"
        if pointed == "void" and not arg.out:
            return f"args.{arg.name}.data"
        return f"data_of<{pointed}>(args.{arg.name})"

    def scalar(arg: Scalar, ctype: str) -> str:
        if arg.kind == "float":
            return f"args.{arg.name}.value" if ctype == "float" else f"args.{arg.name}.of(args.{op.lead}.desc->dtype)"
        return f"args.{arg.name} ? 1 : 0" if arg.kind == "bool" else f"args.{arg.name}"

    def members(body_: List[tuple], nested: bool = False) -> str:
        return "{" + ", ".join(members(structs[ctype].members(), True) if ctype in structs else
                               value(ctype, name, nested) for ctype, name in body_) + "}"

    return f"problem = {members(structs[op.problem].members())};"


def case_keys(op: Operator, family: Family) -> str:
    """"n h k=kernel offset?": a size, one under another key, whether a pointer is given; key={C++} by itself."""
    structs = {s.name: s for s in family.of(Struct)}
    in_shape = {name: ctype for ctype, name in structs[op.shape].members()}
    members = {name: ctype for ctype, name in structs[op.problem].members()}
    made = "CaseKeys()"
    for key, text in re.findall(r"([\w?]+)(?:=(\{.*?\}|\w+))?", op.keys):
        name = text or key.rstrip("?")
        if name[0] == "{":
            made += f'("{key}", {name[1:-1]})'
        elif key.endswith("?"):
            made += f'("{key[:-1]}", p.{name} != nullptr ? 1 : 0)'
        elif "exact_" + name in members or members.get(name) == "double":
            exact = name if name in members else "exact_" + name
            made += f'.scalar("{key}", p.{exact}, p.shape.dtype)'
        else:
            made += f'("{key}", p.{"shape." if name in in_shape else ""}{name})'
    return (f"std::string case_keys(const {op.problem}& p) {{\n  return {made}.text();\n}}\n")


def args_struct(op: Operator) -> str:
    name = camel(op.check) + "Args"
    made = f"struct {name} {{\n  mluOpHandle_t handle = {{}};\n"
    for arg in op.args:
        if isinstance(arg, Tensor):
            made += f"  TensorArg {arg.name} = {{}};\n"
        elif isinstance(arg, Scalar):
            made += f"  {'Scalar' if arg.kind == 'float' else arg.ctype.replace('const ', '')} {arg.name} = {{}};\n"
        else:
            for text in arg.text:
                text = re.sub(r"^const (?=size_t|mluOp)", "", text).replace("[]", "")
                if arg.word == "host":
                    text = re.sub(r"^(const \w+) (\w+)$", r"\1* \2", text)
                made += f"  {text} = {{}};\n"
    return made + "};\n"


def descriptor_struct(desc: Descriptor) -> str:
    fields = "".join(f"  {f.ctype.replace('const ', '')} {desc.members.get(f.name, f.name)} = {{}};\n"
                     for f in desc.fields)
    return f"/// What mluOp{desc.kind}Descriptor_t points to; all zero until set.\nstruct {desc.struct} {{\n{fields}}};\n\n"


def descriptor_check(desc: Descriptor, family: Family) -> str:
    names = {f.name: f"std::int64_t{{desc.{desc.members.get(f.name, f.name)}}}" for f in desc.fields}

    def expression(text: str) -> str:
        return IDENTIFIER.sub(lambda m: names.get(m[0], m[0]), text)

    made = f"Status check_{family.name}_descriptor(const {desc.struct}& desc) {{\n"
    for word, _ in words_of(desc.order):
        if word in desc.rules:
            made += Body.refusal(None, desc.rules[word], expression) + "\n"
            continue
        arg = next(f for f in desc.fields if f.name == word)
        made += "".join(call(check) + "\n" for check in number_checks(arg, f"desc.{desc.members.get(word, word)}"))
    return made + "return Status::go_on();\n}\n\n"


def getter_name(g: Getter) -> str:
    """check_<operator>_workspace, or with an end where an operator has several."""
    return f"check_{g.of.check}_workspace" + ("_v2" if g.function.endswith("_v2") else "")


def header(family: Family, mark: str) -> str:
    source = f" Source: {family.source}" if family.source else ""
    made = f"{mark}// Every rule of {family.title}'s arguments.{source}\n#pragma once\n\n"
    made += '#include "common/op/check.h"\n'
    made += f'#include "mluops/op/{family.name}.h"\n' if "typedef" in "".join(p.text for p in family.of(Prose)) else ""
    made += f'#include "mluops/problem/{family.name}.h"\n\n'
    made += "".join(descriptor_struct(d) for d in family.of(Descriptor))
    made += "namespace mluops::op {\n\n"
    checked = first_of_each(family)
    made += "".join(args_struct(op) + "\n" for op in checked)
    made += "".join(f"Status check_{family.name}_descriptor(const {d.struct}& desc);\n" for d in family.of(Descriptor))
    for op in checked:
        made += f"Status check_{op.check}(const {camel(op.check)}Args& args, {op.problem}& problem);\n"
    for g in getters_of(family):
        made += f"Status {getter_name(g)}(const {camel(g.of.check)}Args& args, std::size_t* size);\n"
    if family.hooks:
        made += f"\n// In {family.name}_hooks.cpp.\n{family.hooks}\n"
    return made + "\n}  // namespace mluops::op\n"


def first_of_each(family: Family) -> List[Operator]:
    """An operator for each check: C functions of one may differ in nothing but their names."""
    return list({op.check: op for op in reversed(family.of(Operator))}.values())[::-1]


def getters_of(family: Family) -> List[Getter]:
    return list({getter_name(g): g for g in reversed(family.of(Getter))}.values())[::-1]


def source(family: Family, mark: str) -> str:
    includes = [f'#include "{include}"\n' for include in
                sorted(["common/case_text.h", *family.includes, *(["common/op/rois.h"] if any(
                    "batch_indices" in op.order for op in family.of(Operator)) else [])])]
    made = f'{mark}#include "common/op/{family.name}.h"\n\n#include <limits>\n\n{"".join(includes)}\n'
    made += "namespace mluops::op {\n\n"
    made += "".join(descriptor_check(d, family) for d in family.of(Descriptor))
    for op in first_of_each(family):
        made += check_functions(op, family)
    for g in getters_of(family):
        made += getter_function(g, family)
    written = []
    for op in family.of(Operator):
        if op.keys is not None and op.problem not in written:
            written.append(op.problem)
            made += case_keys(op, family) + "\n"
    made += "}  // namespace mluops::op\n"
    if "std::min" in made:
        made = made.replace("#include <limits>", "#include <algorithm>\n#include <limits>", 1)
    if "numeric_limits" not in made and "std::min" in made:
        made = made.replace("#include <limits>\n", "", 1)
    elif "numeric_limits" not in made:
        made = made.replace("#include <limits>\n\n", "")
    return made


def check_functions(op: Operator, family: Family) -> str:
    body, made = Body(op, family), ""
    args = camel(op.check) + "Args"
    handle = call('not_null("handle", args.handle)')
    parts = body.parts()
    for end, statements in parts:
        if end or len(parts) == 1:
            statements = [handle, *statements]
        else:
            statements = [call(f"check_{op.check}_form(args)"), *statements]
        if not end:
            statements.append(filled(body, family))
        lines = "\n".join(body.declared(statements))
        problem = "" if end else f", {op.problem}& problem"
        text = f"Status check_{op.check}{end}(const {args}& args{problem}) {{\n{lines}\nreturn Status::go_on();\n}}\n\n"
        made += f"namespace {{\n\n{text}}}  // namespace\n\n" if end else text
    return made


def getter_function(g: Getter, family: Family) -> str:
    """The word `form` is the operator's own order up to its "|"; `size` is the address of the size."""
    body = Body(g.of, family)
    statements: List[str] = []
    for word, names in words_of(g.order):
        if word == "handle":
            statements.append(call('not_null("handle", args.handle)'))
        elif word == "size":
            statements.append(call(f'not_null("{g.size}", size)'))
        elif word == "form":
            statements.append(call(f"check_{g.of.check}_form(args)"))
        else:
            statements += body.statements([(word, names)])
    if g.bytes:
        arrays = ", ".join("{" + ", ".join(body.expression(f) for f in array.split(",")) + "}" for array in g.bytes)
        statements.append(f"return tell_workspace({{{arrays}}}, size);")
    else:
        statements += ["*size = 0;", "return Status::go_on();"]
    lines = "\n".join(body.declared(statements))
    return f"Status {getter_name(g)}(const {camel(g.of.check)}Args& args, std::size_t* size) {{\n{lines}\n}}\n\n"
