"""The package itself: which library it loads, what it says when there is none."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mluops

OLDEST = (3, 9)  # requires-python
SOURCES = sorted(Path(mluops.__file__).parent.rglob("*.py"))


def python(code, **variables):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(Path(mluops.__file__).parents[1]), **variables})


def test_missing_library_is_explained():
    result = python("import mluops", MLUOPS_LIBRARY="/nowhere/libmluops.so.1")
    assert result.returncode != 0 and "ImportError" in result.stderr
    assert "/nowhere/libmluops.so.1" in result.stderr and "MLUOPS_LIBRARY" in result.stderr


def test_library_of_an_environment(tmp_path, monkeypatch):
    """conda installs the library into the environment's lib folder, apart from the package."""
    from mluops import _library
    monkeypatch.delenv("MLUOPS_LIBRARY", raising=False)
    monkeypatch.setattr(_library, "__file__", str(tmp_path / "mluops" / "_library.py"))
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert _library._find() == _library._NAME  # the loader looks for it
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / _library._NAME).touch()
    assert _library._find() == str(tmp_path / "lib" / _library._NAME)


def test_library_of_an_editable_install(tmp_path):
    """Such an install leaves the Python files in the checkout and puts the library where packages are installed."""
    from mluops._library import lib
    folder = tmp_path / "mluops" / "lib"
    folder.mkdir(parents=True)
    library = Path(lib._name).resolve()
    (folder / "libmluops.so.1").symlink_to(library)
    bundled = library.parents[2] / "mluops.libs"  # of a wheel: the library looks for it from where it lies
    if bundled.exists():
        (tmp_path / "mluops.libs").symlink_to(bundled)
    source = tmp_path / "source" / "mluops"
    shutil.copytree(Path(mluops.__file__).parent, source, ignore=shutil.ignore_patterns("lib"))
    result = python("import mluops; from mluops._library import lib; print(mluops.__file__, lib._name)",
                    PYTHONPATH=os.pathsep.join([str(source.parent), str(tmp_path)]), MLUOPS_LIBRARY="")
    assert result.stdout.split() == [str(source / "__init__.py"), str(folder / "libmluops.so.1")], result.stderr


def test_backend_variable():
    result = python("import mluops; print(mluops.backend())", MLUOP_BACKEND="mlu_emu")
    assert result.stdout.strip() == "mlu_emu", result.stderr
    result = python("import mluops; mluops.num_threads()", MLUOP_BACKEND="abacus")
    assert "NotInitializedError" in result.stderr and "abacus" in result.stderr


def test_numpy_front_end_does_not_need_torch():
    result = python("import sys; sys.modules['torch'] = None; import mluops; print(len(mluops.backends()) >= 2)")
    assert result.stdout.strip() == "True", result.stderr


def test_public_names_are_documented():
    for name in mluops.__all__:
        assert getattr(mluops, name).__doc__, name


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_syntax_of_the_oldest_python(path):
    ast.parse(path.read_text(), path.name, feature_version=OLDEST)


def test_standard_library_of_the_oldest_python():
    pytest.importorskip("vermin", reason="vermin is not installed")
    wanted = ".".join(map(str, OLDEST))
    result = subprocess.run([sys.executable, "-c", "from vermin import main; main()", f"-t={wanted}-", "--no-tips", "--violations",
                             "--eval-annotations", *map(str, SOURCES)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_probes_are_not_told_as_failures():
    """What the package tries out to find what is supported is none of the program's faults."""
    tried = subprocess.run([sys.executable, "-m", "mluops", "--json"], capture_output=True, text=True, env={
        **os.environ, "PYTHONPATH": str(Path(mluops.__file__).parents[1]), "MLUOP_VERBOSE": "2"})
    assert json.loads(tried.stdout)["operators"]
    assert [line for line in tried.stderr.splitlines() if "BAD_PARAM" in line or "SUCCESS" in line] == []
    asked = python("import mluops\nmluops.set_backend('mlu_emu,cpu')\nmluops.query('isa')", MLUOP_VERBOSE="1")
    assert asked.returncode == 0 and "BAD_PARAM" not in asked.stderr, asked.stderr
    wrong = python("import mluops\nmluops.query('no_such_key')", MLUOP_VERBOSE="1")
    assert "mluops: MLUOP_STATUS_BAD_PARAM mluOpExtQuery: key: " in wrong.stderr


@pytest.mark.parametrize("word, said", [("--help", "usage: python -m mluops"), ("--version", mluops.version())])
def test_help_and_version(word, said):
    done = subprocess.run([sys.executable, "-m", "mluops", word], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(Path(mluops.__file__).parents[1])})
    assert done.returncode == 0 and done.stdout.startswith(said) and done.stderr == ""


def test_report():
    result = python("import runpy, sys; sys.argv = ['mluops', '--json']; runpy.run_module('mluops', run_name='__main__')")
    assert result.returncode == 0, result.stderr
    facts = json.loads(result.stdout)
    assert facts["mluops"] == mluops.__version__ and os.path.exists(facts["library"])
    assert facts["backends"]["cpu"]["unusable"] == "" and facts["isa"] and facts["threads"] >= 1
    assert facts["operators"]["carafe"]["numpy"] == ["float16", "float32"]
    assert facts["operators"]["psa_mask"]["numpy"] == ["float32"]
    assert "float64" in facts["operators"]["psa_mask"]["numpy, extended"]
    if facts["torch"]:
        assert facts["operators"]["carafe"]["torch"] == ["float16", "bfloat16", "float32", "float64"]
    result = python("import runpy, sys; sys.argv = ['mluops']; runpy.run_module('mluops', run_name='__main__')")
    assert result.returncode == 0 and "carafe" in result.stdout and facts["library"] in result.stdout


def test_the_table_of_operators():
    result = python("import runpy, sys; sys.argv = ['mluops', '--operators'];"
                    "runpy.run_module('mluops', run_name='__main__')")
    assert result.returncode == 0, result.stderr
    heading, *rows = result.stdout.splitlines()
    assert heading.split()[:2] == ["operator", "C"] and {"cpu", "mlu_emu", "numpy", "torch", "mmcv"} <= set(heading.split())
    assert [row.split()[0] for row in rows] == mluops.query("operators", "cpu").split()


@pytest.mark.parametrize("module", ["mluops", "mluops.mmcv"])
def test_a_reader_may_have_enough(module):
    """python -m mluops | head"""
    if module == "mluops.mmcv":
        pytest.importorskip("torch")
    code = f"import runpy, sys; sys.argv = ['x']; print(1, flush=True); runpy.run_module('{module}', run_name='__main__')"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0 and "Broken" not in error and "Traceback" not in error, error


def test_report_says_why_a_backend_cannot_be_used():
    code = ("import mluops._report as r; import mluops._settings as s\n"
            "real = s.backends\n"
            "s.backends = lambda: {**real(), 'absent': 'a backend that does not exist'}\n"
            "r.operators = lambda: {}\n"
            "print(r.text(r.report()))")
    result = python(code)
    assert result.returncode == 0, result.stderr
    assert "absent" in result.stdout and "unusable: " in result.stdout and '"absent" is unknown' in result.stdout


def test_settings_for_a_while():
    before = mluops.backend(), mluops.num_threads(), mluops.options()
    with mluops.using(backend="mlu_emu", num_threads=1):
        assert mluops.backend() == "mlu_emu" and mluops.num_threads() == 1
        assert mluops.query("arch") and "unknown" not in mluops.query("report", "mlu_emu")
        with pytest.raises(mluops.BadParamError):
            mluops.query("isa")
    assert (mluops.backend(), mluops.num_threads(), mluops.options()) == before
    with pytest.raises(RuntimeError, match="ours"):
        with mluops.using(contract="extended", deterministic=False, options={("cpu", "scatter"): "owner"}):
            assert mluops.options() == {("cpu", "scatter"): "owner"} and mluops.query("scatter") == "owner"
            raise RuntimeError("ours")
    assert mluops.options() == before[2] and mluops.query("scatter") != "owner"
    with pytest.raises(mluops.NotInitializedError):
        with mluops.using(num_threads=1, backend="abacus"):
            pass
    assert (mluops.backend(), mluops.num_threads()) == before[:2]
    with pytest.raises(ValueError, match='door: wanted "numpy" or "torch", got .mmcv'):
        mluops.last_run_backend("mmcv")


def test_c_program_compiles_with_the_flags_that_the_package_prints(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    flags = printed("--cflags", "--libs").split()
    assert flags == [*printed("--cflags").split(), *printed("--libs").split()]
    source = tmp_path / "version.c"
    source.write_text('#include <stdio.h>\n#include "mlu_op.h"\n#include "mlu_op_ext.h"\n'
                      'int main(void) { return printf("%zu\\n", mluOpGetVersion()) < 0; }\n')
    program = tmp_path / "version"
    subprocess.run([compiler, str(source), *flags, "-o", str(program)], check=True)
    assert int(subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout) > 0


def printed(*options):
    return subprocess.run([sys.executable, "-m", "mluops", *options], check=True, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(Path(mluops.__file__).parents[1])}).stdout
