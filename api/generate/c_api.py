"""Writes api/include/mluops/op/<family>.h (C prototypes), problem/<family>.h (problem structs) and api/c/<family>.cpp
(the C functions: collect the arguments, check, dispatch)."""

import re
from itertools import groupby
from typing import List

from .checks import IDENTIFIER, arithmetic, memory_of
from .describe import Alias, Descriptor, Family, Getter, Operator, Plain, Prose, Scalar, Struct, Tensor, camel
from .documentation import Documented, documentation, filled, limit, of_getter
from .rules import getter_name

LAYOUT = "of the image tensors: NHWC, or another that the backend's property \"layouts\" names"
EXACT = "{}; in DOUBLE what the caller may have given more exactly"


def comment(doc: str) -> str:
    lines = doc.strip().splitlines()
    return "/** " + "\n".join([lines[0], *(f" *  {line}".rstrip() for line in lines[1:])]) + " */\n"


def guarded(family: Family, folder: str, mark: str, about: str, includes: List[str], text: str) -> str:
    name = f"MLUOPS_{folder.upper()}_{family.name.upper()}_H_"
    lines = "".join(f"#include {include}\n" for include in includes if include[0] == "<")
    quoted = "".join(f"#include {include}\n" for include in includes if include[0] == '"')
    return (f"/* {mark}: {about} */\n#ifndef {name}\n#define {name}\n\n{lines}{chr(10) if lines else ''}{quoted}\n"
            f"#if defined(__cplusplus)\nextern \"C\" {{\n#endif\n\n{text}\n#if defined(__cplusplus)\n}}\n#endif\n\n"
            f"#endif /* {name} */\n")


# ---- prototypes -------------------------------------------------------------------------------------


def declarations(op: Operator) -> List[str]:
    return [op.handle, *(text for arg in op.args for text in arg.declarations())]


def getter_declarations(g: Getter) -> List[str]:
    """Tensors by their descriptors alone."""
    made = [g.handle]
    for name in g.args:
        arg = g.of.find(name)
        made += arg.declarations()[:1] if isinstance(arg, Tensor) else arg.declarations()
    return made + [f"size_t* {g.size}"]


def alias_declarations(a: Alias) -> List[str]:
    made = declarations(a.of) if isinstance(a.of, Operator) else getter_declarations(a.of)
    return [*made[:-1], *a.args, made[-1]]


def descriptor_functions(d: Descriptor) -> dict:
    """create, set, destroy -> (C function, declarations)."""
    ctype = f"mluOp{d.kind}Descriptor_t"
    return {"create": (f"mluOpCreate{d.kind}Descriptor", [f"{ctype}* {d.desc}"]),
            "set": (d.set_name, [f"{ctype} {d.argument}", *(text for f in d.fields for text in f.declarations())]),
            "destroy": (f"mluOpDestroy{d.kind}Descriptor", [f"{ctype} {d.desc}"])}


def prototype(function: str, parameters: List[str]) -> str:
    return f"mluOpStatus_t MLUOP_WIN_API {function}({', '.join(parameters)});\n\n"


def op_header(family: Family, mark: str) -> str:
    text = ""
    for item in family.items:
        if isinstance(item, Prose):
            text += item.text + "\n\n"
        elif isinstance(item, Operator):
            text += comment(documentation(item, family)) + prototype(item.function, declarations(item))
        elif isinstance(item, Getter):
            text += comment(of_getter(item, family)) + prototype(item.function, getter_declarations(item))
        elif isinstance(item, Alias):
            text += (comment(item.doc) if item.doc else "") + prototype(item.function, alias_declarations(item))
        elif isinstance(item, Descriptor):
            for what, (function, parameters) in descriptor_functions(item).items():
                doc = item.docs[what].replace("{fields}", Documented(item, family).parameters())
                text += comment(doc) + prototype(function, parameters)
    includes = (["<stdbool.h>"] if "bool " in text else []) + ['"mlu_op_types.h"']
    return guarded(family, "op", mark, "part of mlu_op.h", includes, text)


# ---- problem structs --------------------------------------------------------------------------------


def problem_members(op: Operator, family: Family) -> str:
    """The shape; pointers in the order of the arguments; the layout of images; floats that were more exact."""
    if op.members is not None and "\n" in op.members:
        return op.members
    shape = {name for _, name in next(s for s in family.of(Struct) if s.name == op.shape).members()}
    lines = [(f"{op.shape} shape", "shape")]
    for arg in op.args:
        if isinstance(arg, Tensor):
            lines.append((f"{'' if arg.out else 'const '}{arg.pointed}* {arg.member}", arg.member))
        elif isinstance(arg, Plain) and arg.word == "count":
            lines.append((f"int32_t* {arg.member}", arg.member))
    if op.image:
        lines.append(("mluOpTensorLayout_t layout", "layout"))
    lines += [(f"double exact_{arg.member}", f"exact_{arg.member}") for arg in op.floats_given()
              if arg.kind == "float" and arg.member in shape]
    lines += [(f"double {arg.member}", arg.member) for arg in op.floats_given()
              if arg.kind == "float" and arg.member not in shape]
    if op.members is not None:
        follows = {name: line for line, name in lines}
        lines = [(follows.get(member, member), member.split()[-1].lstrip("*")) for member in op.members.split(", ")]
    notes = {"layout": LAYOUT, **op.notes}
    first = True
    for _, name in lines:
        if name.startswith("exact_") and name not in notes:
            notes[name], first = EXACT.format(name[len("exact_"):]) if first else "likewise", False
    return "".join(f"  {line};{f' /* {notes[name]} */' if name in notes else ''}\n" for line, name in lines)


def fields_of(op: Operator, family: Family) -> List[Scalar]:
    """Those of its own descriptor."""
    described = [d for d in family.of(Descriptor) if any(p.name == d.argument for p in op.plain("descriptor"))]
    return [field for d in described for field in d.fields if isinstance(field, Scalar)]


def shape_of(op: Operator, family: Family) -> Struct:
    """The sizes of its tensors, then its numbers: of a shape that the description does not declare."""
    numbers = {s.name: s for s in fields_of(op, family) + op.scalars()}
    told = [size for t in op.tensors() for size in t.dims if not size.isdigit() and size not in op.derive]
    sizes = list(dict.fromkeys(numbers[size].member if size in numbers else size for size in told))
    lines = [f"int64_t {', '.join(sizes)};"]
    ranges = {s.name: op.notes.get(s.name) or ("0 or 1" if s.kind == "bool" else limit(s.rule)) for s in numbers.values()}
    lines += [f"{'float' if s.kind == 'float' else 'int32_t'} {s.member};{f' /* {ranges[s.name]} */' if ranges[s.name] else ''}"
              for s in numbers.values() if s.member not in sizes and s.kind != "enum"]
    return Struct(op.shape, "".join(f"  {line}\n" for line in ["mluOpDataType_t dtype;", *lines]))


def shapes_told(op: Operator, s: Struct, family: Family) -> str:
    """ "input [n,h,w,c], output and argmax [n,c].", where the sizes are members of the shape."""
    members = {name for _, name in s.members()}
    called = {number.name: number.member for number in fields_of(op, family) + op.scalars()}
    called.update((text.replace("args.", ""), member) for member, text in op.fill.items())

    def size(name: str) -> str:
        if name in members or name not in op.derive:
            return called.get(name, name)
        return IDENTIFIER.sub(lambda m: size(m[0]), arithmetic(op.derive[name])).replace(" ", "")

    def dims(t: Tensor) -> str:
        return dims(op.find(t.like)) if t.like else ",".join(size(dim) for dim in t.dims)

    found = [([t.member for t in alike], shape) for shape, alike in groupby(op.tensors(), dims)]
    if {name for _, shape in found for name in IDENTIFIER.findall(shape)} - members:
        return ""
    return ", ".join(f"{', '.join(names[:-1])}{' and ' if names[1:] else ''}{names[-1]} [{shape}]" for names, shape in found) + "."


def add_problems(family: Family) -> None:
    """Puts the struct of each operator's problem among the family's items, where it is not shared, and its shape, where
    that is not declared."""
    for op in family.of(Operator):
        if op.members is None and op.shape not in [s.name for s in family.of(Struct)]:
            family.items.insert(next(at for at, item in enumerate(family.items) if item is op), shape_of(op, family))
    for s in family.of(Struct):
        user = next((op for op in family.of(Operator) if op.shape == s.name), None)
        if user and user.tensors() and not re.search(r" \[[a-z]", s.doc):
            s.doc = f"{shapes_told(user, s, family)} {s.doc}".strip()
    for at in reversed(range(len(family.items))):
        op = family.items[at]
        if isinstance(op, Operator) and op.own_problem:
            family.items.insert(at, Struct(op.problem, problem_members(op, family), op.problem_doc))


def problem_header(family: Family, mark: str) -> str:
    text = family.problem_prose + "\n\n" if family.problem_prose else ""
    for s in family.of(Struct):
        body = "\n".join(line if "*/" in line or not line.strip() or line.rstrip().endswith(";") else line + ";"
                         for line in s.body.strip("\n").splitlines())
        text += (comment(filled(s.doc, 0)) if s.doc else "") + f"typedef struct {s.name} {{\n{body}\n}} {s.name};\n\n"
    return guarded(family, "problem", mark, family.about or "problem structs (see mluops/problem.h)", ["<stdint.h>", '"mlu_op_types.h"', *(f'"{include}"' for include in family.problem_includes)], text)


# ---- C functions ------------------------------------------------------------------------------------


def entries(family: Family, mark: str) -> str:
    made = f'{mark}#include "common/op/{family.name}.h"\n\n#include "api/c/boundary.h"\n#include "common/dispatch.h"\n'
    if any(op.strided == "copied" for op in family.of(Operator)):
        made += '#include "common/op/strided.h"\n'
    made += f'#include "mluops/op/{family.name}.h"\n\n'
    made += "using namespace mluops;\n\n"
    for item in family.items:
        if isinstance(item, Operator):
            made += operator_entry(item)
        elif isinstance(item, Getter):
            made += getter_entry(item)
        elif isinstance(item, Descriptor):
            made += descriptor_entries(item, family)
        elif isinstance(item, Alias):
            made += alias_entry(item)
    return made


def unused(op: Operator, parameters: List[str]) -> List[str]:
    """Parameters, without the names of those that no check uses, such as an unused workspace."""
    if not op.plain("workspace") or "workspace" in op.order:
        return parameters
    return [p.rsplit(None, 1)[0] if p.split()[-1] in ("workspace", "workspace_size") else p for p in parameters]


def collected(op: Operator, given: List[str], data: bool) -> str:
    """The designated initializers of the arguments named."""
    floats = [arg.name for arg in op.floats_given()]
    made = [".handle = handle"]
    for arg in op.args:
        if arg.name not in given:
            continue
        if isinstance(arg, Tensor) and arg.bare:
            like = f"like_{arg.name}"
            made.append(f'.{arg.name} = {{"{arg.name}", {arg.name} == nullptr ? nullptr : &{like}, {arg.name}}}')
        elif isinstance(arg, Tensor):
            made.append(f'.{arg.name} = {{"{arg.name}", {arg.name}_desc, {arg.name if data else "nullptr"}}}')
        elif isinstance(arg, Scalar):
            is_float = arg.kind == "float"
            made.append(f".{arg.name} = " + (f"scalars[{floats.index(arg.name)}]" if is_float and data else
                                             f"{{{arg.name}, {arg.name}}}" if is_float else arg.name))
        elif arg.word == "workspace" and "workspace" in op.order:
            names = [text.split()[-1] for text in arg.text]
            made += [f".{name} = {name.lstrip('*')}" for name in names]
        elif arg.word != "workspace":
            made.append(f".{arg.name} = {arg.name}")
    made += [f".{field.name} = scalars[{floats.index(field.name)}]" for field in op.carried if data]
    return "{" + ", ".join(made) + "}"


def operator_entry(op: Operator) -> str:
    floats = op.floats_given()
    descriptor_ = op.plain("descriptor")[0].name if op.carried else ""
    fields = "".join(f"const float {f.name} = {descriptor_} != nullptr ? {descriptor_}->{f.name} : 0;\n" for f in op.carried)
    listed = ", ".join(f'{{"{arg.name}", {arg.name}}}' for arg in floats)
    guard = f"handle, {{{listed}}}, [&](const auto& scalars)" if floats else "handle, [&]()"
    inputs, outputs = memory_of(op, lambda t: f'op::TensorArg{{"{t.name}", {t.name}_desc, problem.{t.member}}}' if t.where
                                else f"args.{t.name}")
    bare = "".join(f"mluOpTensorStruct like_{t.name};\nop::describe_like(like_{t.name}, {t.like}_desc, MLUOP_DTYPE_{t.dtype});\n"
                   for t in op.tensors() if t.bare)
    names = [arg.name for arg in op.args]
    dispatch = "mluops::dispatch" if "dispatch" in names else "dispatch"
    outputs = [text.replace("one_int32", "op::one_int32").replace("TensorArg", "op::TensorArg").replace("op::op::", "op::")
               for text in outputs]
    return (f"mluOpStatus_t {op.function}({', '.join(unused(op, declarations(op)))}) {{\n"
            f"{fields}return guard_operator(__func__, {guard} -> Status {{\n{bare}"
            f"const op::{camel(op.check)}Args args = {collected(op, names, True)};\n"
            f"{op.problem} problem;\n"
            f"MLUOPS_RETURN_IF_FINISHED(op::check_{op.check}(args, problem));\n"
            + (densely(op) if op.strided == "copied" else
               f"op::note_tensors({{{', '.join(inputs)}}}, {{{', '.join(outputs)}}});\n"
               f'return {dispatch}(*handle, "{op.name}", problem, &mluopsBackend::{op.name});\n') + "});\n}\n\n")


def densely(op: Operator) -> str:
    """The call on dense tensors in place of those that have strides."""
    tensors = op.tensors()
    data = [f"problem.{t.member} = " + (f"op::data_of<void>(dense[{i}])" if t.out else f"dense[{i}].data") + ";\n"
            for i, t in enumerate(tensors)]
    inputs, output = [f"dense[{i}]" for i in range(len(tensors) - 1)], f"dense[{len(tensors) - 1}]"
    return (f"const op::DenseTensors dense({{{', '.join('args.' + t.name for t in tensors)}}});\n{''.join(data)}"
            f"op::note_tensors({{{', '.join(inputs)}}}, {{{output}}});\n"
            f'return dense.write_back(dispatch(*handle, "{op.name}", problem, &mluopsBackend::{op.name}));\n')


def getter_entry(g: Getter) -> str:
    return (f"mluOpStatus_t {g.function}({', '.join(getter_declarations(g))}) {{\n"
            f"return guard(__func__, [&] {{\n"
            f"return op::{getter_name(g)}({collected(g.of, g.args, False)}, {g.size});\n}});\n}}\n\n")


def alias_entry(a: Alias) -> str:
    parameters = alias_declarations(a)
    given = [p.split()[-1].lstrip("*").replace("[]", "") for p in parameters if p not in a.args]
    shown = [p.rsplit(None, 1)[0] if p in a.args else p for p in parameters]
    return f"mluOpStatus_t {a.function}({', '.join(shown)}) {{\nreturn {a.of.function}({', '.join(given)});\n}}\n\n"


def descriptor_entries(d: Descriptor, family: Family) -> str:
    functions = descriptor_functions(d)
    written = [] if d.address else ["create", "destroy"] if d.by_hand else list(functions)
    values = ", ".join(f.name for f in d.fields)
    bodies = {"create": f"{{\n*{d.desc} = new {d.struct};\n}}", "destroy": f"{{\ndelete {d.desc};\n}}",
              "set": f"() -> Status {{\nconst {d.struct} wanted = {{{values}}};\n"
                     f"MLUOPS_RETURN_IF_FINISHED(op::check_{family.name}_descriptor(wanted));\n*{d.argument} = wanted;\n"
                     "return Status::go_on();\n}"}
    given = {"create": d.desc, "set": d.argument, "destroy": d.desc}
    return "".join(f"mluOpStatus_t {function}({', '.join(parameters)}) {{\n"
                   f'return guard(__func__, {{{{"{given[what]}", {given[what]}}}}}, [&] {bodies[what]});\n}}\n\n'
                   for what, (function, parameters) in functions.items() if what in written)
