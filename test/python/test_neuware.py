"""The BANG C toolchain that comes with the package."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

import pytest

import mluops
from mluops import neuware
from mluops.neuware import __main__

PAGE = Path(__file__).parents[2] / "docs" / "kernel_author.md"
COMMANDS = {path.stem.replace("_", "-") for path in (Path(mluops.__file__).parent / "neuware" / "command").glob("[a-z]*.py")}
INSIDE = Path(mluops.__file__).parent / "neuware" / "home"  # of a wheel


NULL_KERNEL = """#include <mlu.h>
__mlu_entry__ void null(int *p) {
  *p = 1;
}
int main() {
  cnrtQueue_t queue;
  int *volatile nothing = nullptr;  // where the compiler does not see it
  CNRT_CHECK(cnrtQueueCreate(&queue));
  null<<<cnrtDim3_t{1, 1, 1}, cnrtFuncTypeBlock, queue>>>(nothing);
  CNRT_CHECK(cnrtQueueSync(queue));
}
"""


def run(*command, **options):
    environment = {**os.environ, "PYTHONPATH": str(Path(mluops.__file__).parents[1]), **options.pop("env", {})}
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", env=environment,
                          **options)


def module(*arguments, **options):
    return run(sys.executable, "-m", "mluops.neuware", *arguments, **options)


@pytest.fixture(scope="module")
def home():
    try:
        return neuware.home()
    except FileNotFoundError as error:
        pytest.skip(str(error))


def first_kernel(folder, cncc):
    """Compiled and run as docs/kernel_author.md says; what it prints."""
    (folder / "scale.mlu").write_text(re.search(r"```cpp\n(.*?)```", PAGE.read_text(), re.DOTALL)[1])
    compiled = run(cncc, "-O1", "scale.mlu", "-o", "scale", cwd=folder)
    assert compiled.returncode == 0, compiled.stderr
    return run(folder / "scale", cwd=folder).stdout


def test_home_is_printed(home):
    assert module().stdout.split("\n") == [str(home), ""] == module("home").stdout.split("\n")
    assert {"bin", "include", "lib64", "cmake"} <= {entry.name for entry in home.iterdir()}
    assert neuware.cncc() == home / "bin" / "cncc" and os.access(neuware.cncc(), os.X_OK)


def test_a_shell_finds_it(home):
    environment = module("env").stdout
    result = run("sh", "-ec", f"{environment}\necho $NEUWARE_HOME; command -v cncc; cncc --version")
    assert result.stdout.splitlines()[:2] == [str(home), str(home / "bin" / "cncc")], result.stderr
    assert "BANG C" in result.stdout


def test_commands_are_listed():
    text = module("help").stdout
    assert COMMANDS == {line.split()[0] for line in text.splitlines()[1:]} and len(COMMANDS) >= 2
    assert all(len(line.split()) > 2 for line in text.splitlines()[1:]), text
    unknown = module("abacus")
    assert unknown.returncode == 2 and unknown.stdout == "" and unknown.stderr == text


def test_an_absent_toolchain_is_explained(monkeypatch, capsys):
    monkeypatch.setattr(neuware, "_places", lambda: iter([Path("/nowhere")]))
    assert __main__.main([]) == 1
    out, err = capsys.readouterr()
    assert out == "" and "install the mluops wheel" in err
    with pytest.raises(SystemExit, match="cncc: error: .*NEUWARE_HOME"):
        neuware.run_cncc()


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
def test_first_kernel_of_the_documentation(home, tmp_path):
    command = Path(sys.executable).parent / "cncc"  # of an installed wheel
    assert command.exists() or not INSIDE.exists(), f"{command}: the wheel has no command cncc"
    assert first_kernel(tmp_path, command if INSIDE.exists() else neuware.cncc()) == "6\n"


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
def test_the_toolchain_may_be_moved(home, tmp_path):
    moved, work = tmp_path / "a folder, moved", tmp_path / "my kernels"
    shutil.copytree(home, moved)
    work.mkdir()
    assert first_kernel(work, moved / "bin" / "cncc") == "6\n"
    needed = run("ldd", work / "scale").stdout
    assert str(moved / "lib64" / "libcnrt.so") in needed, needed
    page = run(work / "scale", cwd=work, env={"MLUOP_EMU_REPORT": "page.html"})
    assert page.returncode == 0 and "__bang_mul_scalar" in (work / "page.html").read_text()
    (work / "null.mlu").write_text(NULL_KERNEL)
    assert run(moved / "bin" / "cncc", "-O1", work / "null.mlu", "-o", work / "null").returncode == 0
    assert f"{work}/null.mlu:3: in null(" in run(work / "null").stderr or not shutil.which("addr2line")


DEBUGGED = """#include <mlu.h>
__nram__ float x[64];
__mlu_entry__ void scale(float *out, int n) {
  float factor = 2.5f;
  for (int i = 0; i < n; ++i) {
    x[i] = factor * i;
    factor += 1;
  }
  __memcpy(out, x, n * sizeof(float), NRAM2GDRAM);
}
int main() {
  void *out = nullptr;
  cnrtQueue_t queue;
  cnrtMalloc(&out, 256);
  cnrtQueueCreate(&queue);
  cnrtDim3_t dim = {1, 1, 1};
  scale<<<dim, cnrtFuncTypeBlock, queue>>>(static_cast<float *>(out), 4);
  return cnrtQueueSync(queue);
}
"""


@pytest.mark.skipif(not shutil.which("gdb"), reason="no gdb")
def test_a_debugger_knows_variables(home, tmp_path):
    """With the author's -g; a place in NRAM can be watched."""
    (tmp_path / "scale.mlu").write_text(DEBUGGED)
    built = run(neuware.cncc(), "-O0", "-g", "scale.mlu", "-o", "scale", cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    steps = ["break scale.mlu:7", "run", "print i", "print factor", "print n", "watch -l x[2]", "delete 1", "continue"]
    done = run("gdb", "-q", "-nx", "-batch", *(word for step in steps for word in ("-ex", step)), "./scale", cwd=tmp_path)
    if "ptrace" in done.stderr:
        pytest.skip("no process may be traced here")
    values = re.findall(r"^(?:\$\d|New value) = (.*)$", done.stdout, re.M)
    assert values == ["0", "2.5", "4", "9"], done.stdout + done.stderr


def test_a_wrong_launch_is_told_at_its_line(home, tmp_path):
    """Beside the other errors of the file."""
    text = DEBUGGED.replace("out), 4);", "out));\n  undeclared = 3;")
    (tmp_path / "scale.mlu").write_text(text)
    said = run(neuware.cncc(), "-c", "scale.mlu", "-o", "scale.o", cwd=tmp_path).stderr
    errors = [int(line) for line in re.findall(r"^scale\.mlu:(\d+):\d+: error:", said, re.M)]
    launch = DEBUGGED.partition("scale<<<")[0].count("\n") + 1
    assert sorted(errors) == [launch, launch + 1], said


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
@pytest.mark.skipif(not shutil.which("addr2line"), reason="no addr2line names the file")
@pytest.mark.skipif(sys.platform == "darwin", reason="file names there are UTF-8")
def test_findings_in_files_of_any_name(home, tmp_path):
    """Of a source whose name is no UTF-8, with what means something in a URI and on a terminal."""
    name = b"a b#%\xe9\x1b[2J.mlu"
    source = os.path.join(os.fsencode(tmp_path), name)
    with open(source, "w") as file:
        file.write(NULL_KERNEL)
    built = subprocess.run([neuware.cncc(), "-O1", "-g", source, "-o", tmp_path / "null"], capture_output=True)
    assert built.returncode == 0, built.stderr
    found = [tmp_path / f"found{ending}" for ending in (".json", ".sarif", ".txt")]
    done = run(tmp_path / "null", env={"MLUOP_EMU_FINDINGS": ":".join(map(str, found)),
                                       "MLUOP_EMU_REPORT": str(tmp_path / "report.json")})
    assert r"a b#%\xe9\x1b[2J.mlu:3" in done.stderr.partition("\n")[0], done.stderr
    assert Path(json.loads(found[0].read_text(encoding="utf-8"))[0]["file"]).name == "a b#%\ufffd\x1b[2J.mlu"
    json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    sarif = json.loads(found[1].read_text(encoding="utf-8"))
    uri = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert os.path.basename(uri) == "a%20b%23%25%e9%1b%5b2J.mlu"
    assert urllib.parse.unquote_to_bytes(uri) == source
    assert r"a b#%\xe9\x1b[2J.mlu:3: error: " in found[2].read_text()


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make a setuid program for others")
@pytest.mark.parametrize("variable", ["MLUOP_EMU_FINDINGS", "MLUOP_EMU_REPORT"])
def test_a_setuid_program_writes_no_file_of_its_callers_choice(home, variable):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        folder.chmod(0o777)
        (folder / "null.mlu").write_text(NULL_KERNEL)
        assert run(neuware.cncc(), "-O1", folder / "null.mlu", "-o", folder / "null").returncode == 0

        def as_nobody():
            os.setgid(65534)
            os.setuid(65534)

        wanted = folder / "written.json"
        (folder / "null").chmod(0o4755)
        subprocess.run([folder / "null"], env={variable: str(wanted)}, preexec_fn=as_nobody, stderr=subprocess.PIPE)
        assert not wanted.exists()
        (folder / "null").chmod(0o755)
        subprocess.run([folder / "null"], env={variable: str(wanted)}, preexec_fn=as_nobody, stderr=subprocess.PIPE)
        assert wanted.exists(), "with the caller's own rights it does"


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
def test_reports_that_cannot_be_written_are_said_at_the_start(home, tmp_path):
    first_kernel(tmp_path, neuware.cncc())
    for variable in ("MLUOP_EMU_REPORT", "MLUOP_EMU_FINDINGS"):
        done = run(tmp_path / "scale", env={variable: str(tmp_path / "absent" / "page.html")}, cwd=tmp_path)
        first = done.stderr.splitlines()[0]
        assert first == (f"[cnrt] [Error] {variable}: cannot write {tmp_path}/absent/page.html: No such file or directory"), \
            done.stderr


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
def test_times_of_a_run_and_of_two(home, tmp_path):
    first_kernel(tmp_path, neuware.cncc())
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    for report, rates in ((before, "launch_us=1"), (after, "gdram_latency_ns=9000")):
        run(tmp_path / "scale", env={"MLUOP_EMU_REPORT": str(report), "MLUOP_EMU_RATES": rates}, cwd=tmp_path)
    one = module("times", before)
    assert one.returncode == 0, one.stderr
    for part in ("modelled time", "of the card's, nine of ten within x", "roofline of mlu370-x4: ", "scale, UNION1 4 x 1 x 1"):
        assert part in one.stdout, one.stdout
    lines = [line for line in one.stdout.splitlines() if "GDRAM2NRAM);" in line or "__bang_mul_scalar(x" in line]
    assert [line.split("  ")[-2].strip() for line in lines] == ["11", "12"], one.stdout  # beside their numbers in the file
    assert re.search(r"\d+ % of the time \(.* us\) waits for loads from GDRAM, __memcpy in scale.mlu:11; ", one.stdout), one.stdout
    told = {line.strip() for line in one.stdout.splitlines()}
    shown = re.search(r"```text\n(  time.*?)```", PAGE.read_text(), re.DOTALL)[1].splitlines()
    assert len(shown) > 5 and not [line for line in shown if line.strip() not in told], one.stdout
    both = module("times", before, after).stdout.splitlines()
    assert both[0].startswith("kernel") and both[2].split()[0] == "scale"
    assert float(both[2].split()[-2].lstrip("x")) > 2 and both[2].split()[-1] == "x1.00", both
    same = module("times", before, before).stdout.splitlines()
    assert same[1].split()[-2:] == ["x1.00", "x1.00"]
    (tmp_path / "other.json").write_text("[]")
    for bad in (tmp_path / "other.json", tmp_path / "none.json"):
        told = module("times", bad)
        assert told.returncode == 1 and bad.name in told.stderr


def test_other_systems_have_no_toolchain(monkeypatch):
    monkeypatch.setattr(neuware, "_places", lambda: iter(()))
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(FileNotFoundError, match="is for Linux alone: there is none for win32"):
        neuware.home()
