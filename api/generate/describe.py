"""The words in which api/operators/<family>.py describe a family of operators; README.md beside them tells how.

A description is data: family(), struct(), operator() and getter() keep what they are given in `current`, which the
writers (rules.py, c_api.py, python.py) read.
"""

import re
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Union

DTYPES = {"INT32": "int32_t", "UINT8": "uint8_t", "BOOL": "uint8_t", "FLOAT": "float"}  # else void: T and the like


@dataclass
class Tensor:
    """A tensor argument: `in NAME[:MEMBER] DTYPE [KIND] [DIMS] | like OTHER`."""

    name: str  # in C
    member: str  # in the problem struct, and in Python unless `python` says otherwise
    out: bool
    dtype: str
    kind: str  # array, image: NHWC or NCHW, any: layout not looked at, or the name of a layout
    dims: List[str]
    like: str
    optional: bool  # descriptor and data may be NULL
    bare: str  # of a pointer without descriptor its C type
    python: str
    ctype: str = ""  # of the data in C, where it is not void
    where: str = ""  # a condition: elsewhere it is not looked at
    meaning: str = ""

    @property
    def pointed(self) -> str:
        return DTYPES.get(self.dtype, "void")

    def declarations(self) -> List[str]:
        if self.bare:
            return [f"{self.bare} {self.name}"]
        return [f"const mluOpTensorDescriptor_t {self.name}_desc", f"{self.ctype or ('void*' if self.out else 'const void*')} {self.name}"]


@dataclass
class Scalar:
    """A number, by its C declaration, and what it may be: `const int k >= 1`, `const int32_t NDim in 3..3`."""

    name: str
    ctype: str
    rule: str
    member: str
    python: str
    meaning: str = ""
    names: List[str] = field(default_factory=list)  # that Python takes for its values: 0, 1, ...

    @property
    def kind(self) -> str:
        words = self.ctype.replace("const ", "")
        return words if words in ("float", "double", "bool") else "int" if "int" in words.split("_")[0] else "enum"

    def declarations(self) -> List[str]:
        return [f"{self.ctype} {self.name}"]


@dataclass
class Plain:
    """Neither tensor nor scalar: a workspace, a count, an operator's own descriptor, an array on the host."""

    word: str  # workspace, count, descriptor, host
    name: str
    text: List[str]  # its C declarations
    member: str
    python: str
    meaning: str = ""

    def declarations(self) -> List[str]:
        return self.text


Argument = Union[Tensor, Scalar, Plain]


@dataclass
class Rule:
    """A rule of an operator's own: `condition` holds, or the call ends with `status` and the text."""

    condition: str
    text: str
    status: str = "BAD_PARAM"
    strict: bool = False  # of the STRICT contract alone
    wrong: str = ""  # changes of the smallest call that break it (test/validation/described.h)


@dataclass
class Struct:
    """A C struct of the problem header: its members line by line."""

    name: str
    body: str
    doc: str = ""

    def members(self) -> List[tuple]:
        """(C type, name) of each member."""
        found = []
        for line in re.sub(r"/\*.*?\*/", "", self.body, flags=re.S).split(";"):
            if not line.strip():
                continue
            first, *others = line.split(",")
            ctype, name = first.strip().rsplit(None, 1)
            found += [(ctype, other.strip()) for other in (name, *others)]
        return found


@dataclass
class Descriptor:
    """The vendor's descriptor of an operator: what mluOp<Create|Set|Destroy><kind>Descriptor handle."""

    kind: str
    argument: str  # its name in prototypes
    struct: str  # the C++ struct behind it
    fields: List[Argument]
    members: Dict[str, str]  # C++ member of a field, where it is called otherwise
    order: str
    rules: Dict[str, Rule]
    docs: Dict[str, str]
    desc: str  # how create and destroy call it
    set_name: str
    by_hand: str = ""  # the C++ struct, where the function that sets it is in api/c/<family>_hooks.cpp
    address: bool = False  # Python gives its address; all of its functions are by hand

    @property
    def args(self) -> List[Argument]:
        return self.fields

    def tensors(self) -> List[Tensor]:
        return []


@dataclass
class Operator:
    name: str
    function: str
    number: int
    doc: str
    args: List[Argument]
    order: str
    shape: str
    problem: str
    own_problem: bool  # whether the struct is written here
    problem_doc: str
    lead: str  # whose dtype is T
    image: str  # whose layout is that of the images
    floats: str  # T: "HALF FLOAT" or "FLOAT"
    say: Dict[str, str]
    derive: Dict[str, str]
    rules: Dict[str, Rule]
    fill: Dict[str, str]
    keys: Optional[str]
    notes: Dict[str, str]
    check: str
    handle: str
    strided: str
    members: Optional[str]
    bind: Dict[str, str]  # size -> the tensor that defines it, where that is not the first of `sizes`
    python: dict = field(default_factory=dict)
    carried: List[Scalar] = field(default_factory=list)  # floats of its descriptor

    def tensors(self) -> List[Tensor]:
        return [arg for arg in self.args if isinstance(arg, Tensor)]

    def find(self, name: str) -> Argument:
        for arg in self.args:
            if arg.name == name:
                return arg
        raise KeyError(f"{self.function}: no argument {name}")

    def plain(self, word: str) -> List[Plain]:
        return [arg for arg in self.args if isinstance(arg, Plain) and arg.word == word]

    def scalars(self) -> List[Scalar]:
        return [arg for arg in self.args if isinstance(arg, Scalar)]

    def smallest(self) -> dict:
        """The sizes of the smallest call that are not 1."""
        sizes = dict(self.python.get("smallest", {}))
        if "batch_indices" in self.order:
            sizes.setdefault("batch", 2)  # ones are batch indices
        return sizes

    def floats_given(self) -> List[Scalar]:
        """Those that mluOpExtSetScalars may give more exactly, in its order."""
        return self.carried + [arg for arg in self.scalars() if arg.kind == "float"]


@dataclass
class Getter:
    """A function that tells the bytes of a workspace."""

    function: str
    of: "Operator"
    args: List[str]  # names of the operator's arguments, and at the end its own: the address of the size
    order: str
    bytes: List[str]  # the arrays, each the factors of its size
    wants: str  # what the bytes are, in words
    more: str
    size: str
    handle: str

    def tensors(self) -> List[Tensor]:
        return [self.of.find(name) for name in self.args if isinstance(self.of.find(name), Tensor)]


@dataclass
class Alias:
    """A C function under which another one is known too."""

    function: str
    of: Union[Operator, Getter]
    doc: str
    args: List[str]  # declarations beyond those of the other one, in front of the last


@dataclass
class Family:
    name: str = ""
    title: str = ""
    source: str = ""
    about: str = ""
    problem_includes: List[str] = field(default_factory=list)  # of the problem header
    problem_prose: str = ""  # C text in front of its structs
    numpy: bool = True  # whether api/python/mluops/op/<family>.py is written
    includes: List[str] = field(default_factory=list)
    hooks: str = ""
    letters: Dict[str, str] = field(default_factory=dict)  # how documentation writes sizes (documentation.py)
    items: list = field(default_factory=list)  # structs, operators, getters, descriptors and prose in their order

    def of(self, kind: type) -> list:
        return [item for item in self.items if isinstance(item, kind)]


@dataclass
class Prose:
    """C text of the operator's header: enums, typedefs, comments."""

    text: str


current = Family()


def start(name: str) -> Family:
    """The family that the next description describes."""
    current.__init__(name=name, items=[], includes=[], problem_includes=[], numpy=True, letters={})
    return current


def end() -> None:
    """Puts the operators in the place of their names."""
    for op in current.of(Operator):
        arguments_ = [p.name for p in op.plain("descriptor")]
        op.carried = [f for d in current.of(Descriptor) if d.argument in arguments_ and not d.by_hand
                      for f in d.fields if f.kind == "float"]
    for item in current.of(Getter):
        item.of = next(op for op in current.of(Operator) if op.check == item.of)
    for item in current.of(Alias):
        item.of = next(of for of in current.of(Operator) + current.of(Getter) if of.function == item.of)


def family(title: str, source: str = "", *, about: str = "", includes: str = "", hooks: str = "",
           problem_includes: str = "", problem_prose: str = "", numpy: bool = True, letters: Dict[str, str] = {}) -> None:
    """`title` names the family in comments; `hooks`: C++ declarations of what common/op/<family>_hooks.cpp defines."""
    current.title, current.source, current.about, current.numpy = title, source, about, numpy
    current.includes, current.hooks, current.letters = includes.split(), hooks.strip(), letters
    current.problem_includes, current.problem_prose = problem_includes.split(), problem_prose


def prose(text: str) -> None:
    current.items.append(Prose(text.strip("\n")))


def struct(name: str, body: str, doc: str = "") -> str:
    current.items.append(Struct(name, body, doc))
    return name


def shape(name: str, members: str, doc: str = "") -> str:
    """The sizes and numbers of a problem, behind its `dtype`: "n, m; float eps /* > 0 */". A size has no type here."""
    lines = ["mluOpDataType_t dtype;"]
    for member in members.split(";"):
        declared, _, note = member.strip().partition(" /*")
        typed = declared.split()[0] in ("float", "double", "int", "int32_t", "mluOpReduceMode_t")
        lines.append(f"{'' if typed else 'int64_t '}{declared};" + (f" /*{note}" if note else ""))
    return struct(name, "".join(f"  {line}\n" for line in lines), doc)


def rule(condition: str, text: str, status: str = "BAD_PARAM", strict: bool = False, wrong: str = "") -> Rule:
    return Rule(condition, text, status, strict, wrong)


def _argument(line: str) -> Argument:
    line, _, python = line.partition(" py=")
    words = line.split()
    if words[0].rstrip("?") in ("in", "out") or words[0] == "bare":
        return _tensor(line.strip(), python)
    if words[0] in ("workspace", "count", "descriptor", "host"):
        return _plain(words[0], line.strip()[len(words[0]):].strip(), python)
    line, _, names = line.partition(" named ")
    match = re.match(r"((?:const )?\w+) (\w+)(?::(\w+))?(.*)", line.strip())
    return Scalar(match[2], match[1], match[4].strip(), match[3] or match[2], python or match[2], names=names.split())


def _tensor(line: str, python: str) -> Tensor:
    bare = ""
    line, _, where = line.partition(" where ")
    line, _, ctype = line.partition(" as ")
    if line.startswith("bare "):
        bare, line = re.match(r"bare ([\w ]+\*) (.*)", line).groups()
    match = re.match(r"(in|out)(\?)? (\w+)(?::(\w+))? +(\w+) *(?:(\w+) *)?(?:\[(.*)\]|like (\w+))$", line)
    if match is None:
        match = re.match(r"(in|out)(\?)? (\w+)(?::(\w+))? +(\w+) *()()like (\w+)$", line)
    way, optional, name, member, dtype, kind, dims, like = match.groups()
    return Tensor(name, member or name, way == "out", dtype, kind or ("" if like else "array"),
                  [dim.strip() for dim in dims.split(",")] if dims else [], like or "", bool(optional), bare,
                  python or member or name, ctype.strip(), where)


def _plain(word: str, text: str, python: str) -> Plain:
    if word == "workspace":
        text = text or "void* workspace, size_t workspace_size"
        return Plain(word, "workspace", [part.strip() for part in text.split(",")], "", "")
    if word == "count":
        ctype, name = text.rsplit(None, 1) if " " in text else ("void*", text)
        name, _, member = name.partition(":")
        return Plain(word, name, [f"{ctype} {name}"], member or name, python or member or name)
    ctype, name = text.rsplit(None, 1)
    name, _, member = name.partition(":")
    bare = re.sub(r"\W", "", name)
    return Plain(word, bare, [f"{ctype} {name}"], member or bare, python or bare)


def arguments(text: str) -> List[Argument]:
    args = []
    for line in re.sub(r"\s*\n\s+-- ", " -- ", text).strip().splitlines():
        declared, *meaning = line.split(" -- ")
        if declared.strip():
            args.append(_argument(declared.rstrip()))
            args[-1].meaning = " ".join(meaning)
    named = {arg.name: arg for arg in args}
    for arg in args:
        if isinstance(arg, Tensor) and arg.like and not arg.kind:
            arg.kind = named[arg.like].kind
    return args


def camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def operator(name: str, function: str, number: int, doc: str, args: str, order: str, *, keys: Optional[str],
             shape: str = "", problem: str = "", lead: str = "", image: str = "", floats: str = "HALF FLOAT",
             say: Dict[str, str] = {}, derive: Dict[str, str] = {}, rules: Dict[str, Rule] = {},
             fill: Dict[str, str] = {}, notes: Dict[str, str] = {}, check: str = "",
             handle: str = "mluOpHandle_t handle", problem_doc: str = "", strided: str = "NOT_SUPPORTED",
             members: Optional[str] = None, bind: Dict[str, str] = {}, **python) -> Operator:
    """One C function that runs an operator; README.md has the meaning of each part."""
    made = arguments(args)
    problem = problem or f"mluops{camel(name)}Problem"
    own = problem not in [op.problem for op in current.of(Operator)]
    tensors = [arg for arg in made if isinstance(arg, Tensor)]
    lead = lead or next((t.name for t in tensors if t.dtype == "T"), tensors[0].name)
    images = [t.name for t in tensors if t.kind == "image"]
    image = image or (lead if lead in images else images[0] if images else "")
    shape = shape or f"mluops{camel(current.name)}Shape"
    op = Operator(name, function, number, doc, made, order, shape, problem, own, problem_doc, lead, image, floats, say,
                  derive, rules, fill, keys, notes, check or name, handle, strided, members, bind, python)
    current.items.append(op)
    return op


def getter(function: str, of: str, args: str, order: str, bytes: str = "", wants: str = "", *, more: str = "",
           size: str = "workspace_size", handle: str = "mluOpHandle_t handle") -> None:
    """`of`: the check of the operator that takes the workspace. `bytes`: arrays, one a line, the factors of each between
    commas; "": none. `wants` says what they are, `more` ends the documentation."""
    arrays = [line.strip() for line in bytes.strip().splitlines() if line.strip()]
    current.items.append(Getter(function, of, args.split(), order, arrays, wants, more, size, handle))


def alias(function: str, of: str, doc: str, *args: str) -> None:
    current.items.append(Alias(function, of, doc, list(args)))


def descriptor(kind: str, argument: str, struct: str, fields: str, order: str, docs: Dict[str, str], *,
               members: Dict[str, str] = {}, rules: Dict[str, Rule] = {}, desc: str = "",
               set_name: str = "", by_hand: str = "", address: bool = False) -> Descriptor:
    docs = {"create": "Creates an empty descriptor. BAD_PARAM: NULL. ALLOC_FAILED.",
            "destroy": "Destroys a descriptor. BAD_PARAM: NULL.", **docs}
    made = Descriptor(kind, argument, struct, arguments(fields), members, order, rules, docs, desc or argument,
                      set_name or f"mluOpSet{kind}Descriptor", by_hand, address)
    current.items.append(made)
    return made
