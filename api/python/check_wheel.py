"""Checks a finished wheel: tag, contents, and that every library it names is in it or on every Linux system.

Usage: check_wheel.py WHEEL (needs pyelftools, which auditwheel brings)
"""

import io
import re
import sys
import zipfile

from elftools.elf.elffile import ELFFile

# Libraries that every manylinux system has (PEP 600); all others must be in the wheel.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6",
          "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def dynamic(data: bytes, tag: str) -> list:
    section = ELFFile(io.BytesIO(data)).get_section_by_name(".dynamic")
    names = {"DT_NEEDED": "needed", "DT_SONAME": "soname", "DT_RUNPATH": "runpath", "DT_RPATH": "rpath"}
    return [getattr(entry, names[tag]) for entry in section.iter_tags(tag)]


def check(path: str) -> None:
    wheel = zipfile.ZipFile(path)
    level = re.search(r"-py3-none-.*\bmanylinux_2_(\d+)_", path)
    assert level and int(level[1]) <= 28, f"{path}: not a py3-none wheel of manylinux_2_28 or older"
    objects = {name: wheel.read(name) for name in wheel.namelist() if ".so" in name.rsplit("/", 1)[-1]}
    assert "mluops/lib/libmluops.so.1" in objects, "the library is missing"
    assert b"RegisterCustomOps" in objects["mluops/lib/libmluops_ort.so"], "onnxruntime's operators are missing"
    assert "mluops/py.typed" in wheel.namelist(), "py.typed is missing"
    inside = {name.rsplit("/", 1)[-1] for name in objects}
    for name, data in objects.items():
        missing = set(dynamic(data, "DT_NEEDED")) - SYSTEM - inside
        assert not missing, f"{name} needs {sorted(missing)}, which the wheel lacks"
    compiler = wheel.getinfo("mluops/neuware/home/bin/cncc")
    assert compiler.external_attr >> 16 & 0o111, "cncc is not executable"
    assert "mluops/neuware/home/lib64/libcnrt.so" in objects and "mluops/neuware/home/include/bang.h" in wheel.namelist()
    entries = next(wheel.read(name).decode() for name in wheel.namelist() if name.endswith("/entry_points.txt"))
    assert "cncc" in entries, "the command cncc is missing"
    licences = {name.rsplit("/", 1)[-1] for name in wheel.namelist() if "/licenses/" in name}
    assert {"LICENSE", "libgomp1.copyright.txt", "libhwy1.copyright.txt", "libc6.copyright.txt"} <= licences, f"licences: {sorted(licences)}"
    main = objects["mluops/lib/libmluops.so.1"]
    assert "libgomp.so.1" in dynamic(main, "DT_NEEDED"), "libgomp must keep its name, to be shared with PyTorch"
    paths = ":".join(dynamic(main, "DT_RUNPATH") + dynamic(main, "DT_RPATH")).split(":")
    assert paths and all(p.startswith("$ORIGIN") for p in paths), f"library search path {paths}"
    print(f"{path}: {len(objects)} libraries, complete")


if __name__ == "__main__":
    check(sys.argv[1])
