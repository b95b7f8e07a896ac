"""Writes common/op/<family>.{h,cpp}: the checks of each operator in the order its description gives, the problem struct
they fill, its members, and its case text."""

import re
from typing import Dict, List

from .checks import IDENTIFIER, Checks, call, number_checks, words_of
from .describe import Descriptor, Family, Getter, Operator, Plain, Prose, Scalar, Struct, Tensor, camel


def filled(body: Checks, family: Family) -> str:
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
        for arg in op.args + op.carried:
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
            return f"{body.used(arg)}.data"
        return f"data_of<{pointed}>({body.used(arg)})"

    def scalar(arg: Scalar, ctype: str) -> str:
        if arg.kind == "float":
            return f"args.{arg.name}.value" if ctype == "float" else f"args.{arg.name}.of(args.{op.lead}.desc->dtype)"
        return f"args.{arg.name} ? 1 : 0" if arg.kind == "bool" else f"args.{arg.name}"

    def members(body_: List[tuple], nested: bool = False) -> str:
        return "{" + ", ".join(members(structs[ctype].members(), True) if ctype in structs and name not in op.fill else
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


def members(struct: str, structs: Dict[str, Struct], before: str = "") -> List[str]:
    """Those of nested structs too; an array is one member."""
    found = []
    for ctype, name in structs[struct].members():
        if ctype in structs and "[" not in name:
            found += members(ctype, structs, f"{before}{name}.")
            continue
        inner = structs[ctype].members() if ctype in structs else []
        if any(of.endswith("*") or of in structs for of, _ in inner):
            raise ValueError(f"{struct}: {name}: wanted an array of structs of numbers")
        found.append(before + name.split("[")[0])
    return found


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
    made += "".join(f"  Scalar {field.name} = {{}};\n" for field in op.carried)
    return made + "};\n"


def descriptor_struct(desc: Descriptor) -> str:
    if desc.by_hand:
        return desc.by_hand.strip() + "\n\n"
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
            made += Checks.refusal(None, desc.rules[word], expression) + "\n"
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
    made += "".join(f"Status check_{family.name}_descriptor(const {d.struct}& desc);\n" for d in family.of(Descriptor)
                    if not d.by_hand)
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


def source(family: Family, mark: str, structs: Dict[str, Struct]) -> str:
    """`structs`: those of all families."""
    includes = [f'#include "{include}"\n' for include in
                sorted(["common/case_text.h", "common/members.h", *family.includes, *(["common/op/rois.h"] if any(
                    "batch_indices" in op.order for op in family.of(Operator)) else [])])]
    made = "".join(descriptor_check(d, family) for d in family.of(Descriptor) if not d.by_hand)
    for op in first_of_each(family):
        made += check_functions(op, family)
    for g in getters_of(family):
        made += getter_function(g, family)
    written: Dict[str, Operator] = {}  # the first of those that share a problem
    for op in family.of(Operator):
        written.setdefault(op.problem if op.keys else "", op)
    made += "".join(case_keys(op, family) + "\n" for problem, op in written.items() if problem)
    for problem in dict.fromkeys(op.problem for op in family.of(Operator)):
        places = ", ".join(f"MLUOPS_AT({name})" for name in members(problem, structs))
        made += f"MLUOPS_MEMBERS({problem}, {places})\n\n"
    std = "".join(f"#include <{header}>\n" for header, word in (("algorithm", "std::min"), ("limits", "numeric_limits"))
                  if word in made)
    return (f'{mark}#include "common/op/{family.name}.h"\n\n{std}\n{"".join(includes)}\n'
            f"namespace mluops::op {{\n\n{made}}}  // namespace mluops::op\n")


def check_functions(op: Operator, family: Family) -> str:
    body, made = Checks(op, family), ""
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
    body = Checks(g.of, family)
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
