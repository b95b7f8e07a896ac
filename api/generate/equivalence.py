"""./run generate --against COMMIT FAMILY ...: do the C functions of a family answer as they did at that commit?

Both are compiled into one program, those of the commit under other names, with a dispatch that keeps the problem
instead of running it. The program makes random arguments from the description: mostly right, some of them broken in one
or two places. It compares statuses, texts, problems and their case text, the tensors noted for MLUOP_CAPTURE, and what
workspace getters tell.
"""

import re
import subprocess
from pathlib import Path
from typing import List

from . import c_api
from .checks import IDENTIFIER, Checks
from .describe import Alias, Descriptor, Family, Getter, Operator, Plain, Prose, Scalar, Tensor

ROOT = Path(__file__).resolve().parents[2]
SHARED = ["check", "rois", "indice_pairs"]
COMMON = ["status", "trust", "tensor_desc", "dtype", "case_text", "scalars", "verbose", "env", "system"]


def run(rounds: int, commit: str, family: Family) -> bool:
    folder = ROOT / "build/equivalence" / family.name
    folder.mkdir(parents=True, exist_ok=True)
    functions = c_functions(family)
    renames = [f"-D{name}=before_{name}" for name in functions]
    renames += [f"-D{d.struct}=before_{d.struct}" for d in family.of(Descriptor)] + ["-Dop=op_before"]
    files = take_out(commit, family, folder / "before")
    (folder / "main.cpp").write_text(program(family))
    (folder / "after.cpp").write_text("".join(f'#include "{file}"\n' for file in sources(family)))
    (folder / "before.cpp").write_text('#include "mlu_op.h"\n#include "mluops/problem.h"\n' + "".join(f'#include "{file}"\n' for file in [*files, "common/case_text.cpp"]))
    flags = ["-std=c++20", "-O1", "-w", f"-I{ROOT / 'test/equivalence'}"]
    tree = [f"-I{ROOT}", f"-I{ROOT / 'api/include'}"]
    build("before.cpp", folder, [*flags, f"-I{folder / 'before'}", *tree, *renames])
    build("after.cpp", folder, [*flags, *tree])
    build("main.cpp", folder, [*flags, *tree])
    shared = ROOT / "build/equivalence/common.cpp"
    shared.write_text("".join(f'#include "common/{name}.cpp"\n' for name in COMMON))
    if not shared.with_suffix(".o").exists():
        build("common.cpp", shared.parent, [*flags, *tree, '-DMLUOPS_VERSION=""', '-DMLUOPS_PART=""'])
    program_ = folder / "compare"
    subprocess.run(["g++", "-o", program_, *(folder / f"{name}.o" for name in ("before", "after", "main")),
                    shared.with_suffix(".o"), "-ldl", "-lpthread"], check=True)
    return subprocess.run([program_, str(rounds)]).returncode == 0


def build(name: str, folder: Path, flags: List[str]) -> None:
    subprocess.run(["g++", *flags, "-c", name, "-o", Path(name).with_suffix(".o")], cwd=folder, check=True)


def sources(family: Family) -> List[str]:
    names = [f"common/op/{name}.cpp" for name in (*SHARED, family.name, f"{family.name}_hooks")]
    names += [f"api/c/{name}.cpp" for name in (family.name, f"{family.name}_hooks")]
    return [name for name in names if (ROOT / name).exists()]


def take_out(commit: str, family: Family, folder: Path) -> List[str]:
    """The family's rules and C functions as they were, and the headers of rules."""
    listed = subprocess.run(["git", "ls-tree", "-r", "--name-only", commit, "common/op", "api/c"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split()
    mine = [*SHARED, family.name, f"{family.name}_hooks", *family.before]
    files = []
    for path in listed:
        is_mine = Path(path).stem in mine and path.endswith(".cpp")
        if not is_mine and not path.endswith(".h"):
            continue
        text = subprocess.run(["git", "show", f"{commit}:{path}"], cwd=ROOT, check=True, capture_output=True).stdout
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text)
        files += [path] if is_mine else []
    return files


def c_functions(family: Family) -> List[str]:
    made = [item.function for item in family.items if isinstance(item, (Operator, Getter, Alias))]
    for d in family.of(Descriptor):
        made += [function for function, _ in c_api.descriptor_functions(d).values()]
    made += [name for item in family.of(Prose) for name in re.findall(r"MLUOP_WIN_API\s+(\w+)\(", item.text)]
    return made


# ---- the program ------------------------------------------------------------------------------------


def program(family: Family) -> str:
    made = f'#include "compare.h"\n\n#include "common/op/{family.name}.h"\n\n'
    for item in family.items:
        if isinstance(item, Operator):
            made += prototype(item.function, c_api.declarations(item))
        elif isinstance(item, Getter):
            made += prototype(item.function, c_api.getter_declarations(item))
        elif isinstance(item, Descriptor):
            made += "".join(prototype(*each) for each in c_api.descriptor_functions(item).values())
    made += "\nusing namespace mluops::op;\n"
    made += "#define windows(size, kernel, pad, dilation, stride) ((stride) < 1 ? 0 : windows(size, kernel, pad, dilation, stride))\n\n"
    calls = []
    for item in family.items:
        if isinstance(item, Operator):
            getters = [g for g in family.of(Getter) if g.of is item]
            name = f"compare_{item.function}"
            made += comparison(name, item, getters, family)
            calls.append(f'  compare.run("{item.function}", {name}, rounds);\n')
    return made + f"int main(int, char** argv) {{\n  const long rounds = std::atol(argv[1]);\n  Comparison compare;\n{''.join(calls)}  return compare.end();\n}}\n"


def prototype(function: str, parameters: List[str]) -> str:
    return f'extern "C" mluOpStatus_t before_{function}({", ".join(parameters)});\n'


def comparison(name: str, op: Operator, getters: List[Getter], family: Family) -> str:
    body = Checks(op, family)
    lines: List[str] = []
    descriptor = body.descriptor
    lines.append("const bool extended = random_.chance(2); random_.handle(extended); compare_.single = random_.single();")
    if descriptor:
        lines += [field(f) for f in descriptor.fields]
    for arg in op.scalars():
        if arg.kind in ("float", "double"):
            lines.append(f"const float {arg.name} = random_.real();")
        elif arg.kind == "bool":
            lines.append(f"const bool {arg.name} = random_.chance(2);")
        else:
            ctype = arg.ctype.replace("const ", "")
            lines.append(f"const std::int64_t {arg.name} = random_.fits<{ctype}>({number(arg)});")
    names = [a.name for a in op.args]
    scalars = [a.name for a in op.scalars()]
    wanted = {size: "random_.size()" for size in body.places}
    wanted.update({n: t for n, t in op.derive.items() if n not in op.sample})
    wanted.update({n: t for n, t in op.sample.items() if n not in names or n in body.places})
    while wanted:  # each behind those it names
        size = next(n for n, t in wanted.items() if not set(IDENTIFIER.findall(t)) & (set(wanted) - {n}))
        text = wanted.pop(size)
        if size not in scalars:
            lines.append(f"const std::int64_t size_{size} = {text}; const std::int64_t& {size} = size_{size};")
    lines.append(f"random_.dtype({str(op.floats != 'HALF FLOAT').lower()}); random_.layout();")
    tensors = [t for t in op.tensors() if not t.bare]
    lines.append(f"Tensor tensors_[{len(tensors)}];")
    for i, t in enumerate(tensors):
        source = t
        while source.like:
            source = op.find(source.like)
        dims = ", ".join(f"std::int64_t{{size_{d}}}" if d in names and d not in scalars else f"std::int64_t{{{d}}}"
                         for d in source.dims)
        dims = op.sample.get(t.name, f"{{{dims}}}")
        kind = t.kind if t.kind in ("image", "array", "any") else f"MLUOP_LAYOUT_{t.kind.upper()}"
        dtype = "random_.T" if t.dtype in ("T", "S") else f"MLUOP_DTYPE_{t.dtype}"
        layout = {"image": "random_.images", "array": "MLUOP_LAYOUT_ARRAY", "any": "random_.any_layout()"}.get(t.kind, kind)
        lines.append(f"tensors_[{i}] = random_.tensor({dims}, {layout}, {dtype}, {str(t.optional or bool(t.where)).lower()}, {i});")
    lines.append(f"random_.spoil(tensors_, {len(tensors)});")
    index = {t.name: i for i, t in enumerate(tensors)}
    lines.append("random_.plain();")
    if descriptor:
        d = c_api.descriptor_functions(descriptor)
        values = ", ".join(field_value(f) for f in descriptor.fields)
        ctype = f"mluOp{descriptor.kind}Descriptor_t"
        lines.append(f"{ctype} desc_before = nullptr, desc_after = nullptr;")
        lines.append(f"if (!random_.chance(64)) {{ before_{d['create'][0]}(&desc_before); {d['create'][0]}(&desc_after); }}")
        lines.append(f"if (!random_.chance(64)) compare_.same(\"{d['set'][0]}\", [&] {{ return before_{d['set'][0]}(desc_before, {values}); }}, "
                     f"[&] {{ return {d['set'][0]}(desc_after, {values}); }});")

    def values_of(names: List[str], side: str, data: bool) -> str:
        made = ["random_.handle_"]
        for n in names:
            arg = op.find(n)
            if isinstance(arg, Tensor) and arg.bare:
                made.append("static_cast<%s>(random_.bare(%d))" % (arg.bare, op.args.index(arg)))
            elif isinstance(arg, Tensor):
                made.append(f"tensors_[{index[n]}].desc()" + (f", static_cast<{arg.ctype or 'void*'}>(tensors_[{index[n]}].data)" if data else ""))
            elif isinstance(arg, Scalar):
                ctype = arg.ctype.replace("const ", "")
                made.append(f"static_cast<{ctype}>({n})")
            elif arg.word == "workspace":
                made += ["random_.workspace" if "*" in text else "random_.workspace_size" for text in arg.text]
            elif arg.word == "count":
                ctype = arg.text[0].rsplit(None, 1)[0]
                made.append(f"static_cast<{ctype}>(random_.count)")
            elif arg.word == "descriptor":  # one written by hand is the same on both sides; problems may point into it
                made.append("desc_after" if descriptor.by_hand else "desc_" + side)
            else:
                made.append("random_.host(tensors_)")
        return ", ".join(made)

    for g in getters:
        lines.append(f'compare_.same_size("{g.function}", [&](std::size_t* size) {{ return before_{g.function}({values_of(g.args, "before", False)}, size); }}, '
                     f'[&](std::size_t* size) {{ return {g.function}({values_of(g.args, "after", False)}, size); }}, random_.chance(20));')
    names = [arg.name for arg in op.args]
    lines.append(f'compare_.same("{op.function}", [&] {{ random_.give_scalars(); return before_{op.function}({values_of(names, "before", True)}); }}, '
                 f'[&] {{ random_.give_scalars(); return {op.function}({values_of(names, "after", True)}); }});')
    if descriptor:
        lines.append(f"if (desc_before) before_{d['destroy'][0]}(desc_before); if (desc_after) {d['destroy'][0]}(desc_after);")
    text = "\n  ".join(lines)
    return f"static void {name}(Random& random_, Comparison& compare_) {{\n  {text}\n}}\n\n"


def field(f) -> str:
    """A variable for a descriptor's field."""
    if isinstance(f, Plain):
        return f"int {f.name}[8]; for (int& each : {f.name}) each = static_cast<int>(random_.number(1, 2)); " \
            f"const int* const {f.name}_given = random_.breaks(40) ? nullptr : {f.name};"
    if f.kind in ("float", "double"):
        return f"const float {f.name} = random_.real();"
    return f"const std::int64_t {f.name} = {number(f)};"


def field_value(f) -> str:
    if isinstance(f, Plain):
        return f"{f.name}_given"
    return f"static_cast<{f.ctype.replace('const ', '')}>({f.name})"


def number(arg: Scalar) -> str:
    """A number that keeps the rule, mostly."""
    rule = arg.rule.replace("INT_MAX", "5")
    if rule.startswith("in "):
        low, high = rule[3:].split("..")
        return f"random_.number({low}, {high} < {low} + 4 ? {high} : {low} + 4)"
    if rule.startswith(">= "):
        return f"random_.number({rule[3:]}, {rule[3:]} + 3)"
    return "random_.number(0, 2)" if arg.kind == "enum" else "random_.number(0, 4)"
