"""./run: help and lists install, build and download nothing."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "run"

pytestmark = pytest.mark.skipif(not RUN.exists() or not shutil.which("bash"), reason="no source tree, or no bash")

COMMANDS = sorted(set(re.findall(r"^  ([a-z][a-z0-9-]*)", RUN.read_text().split("TEXT")[1], re.MULTILINE)))


@pytest.fixture
def bare(tmp_path):
    """The tree without builds, and a PATH whose cmake, pip and apt-get tell on who calls them."""
    tree, tools = tmp_path / "tree", tmp_path / "tools"
    tree.mkdir()
    tools.mkdir()
    for name in os.listdir(ROOT):
        if name not in ("build", "dist", "run"):
            (tree / name).symlink_to(ROOT / name)
    shutil.copy(RUN, tree / "run")  # it works in its own folder
    for name in ("cmake", "ninja", "pip", "pip3", "apt-get", "sudo", "dpkg-query", "curl", "wget", "git"):
        (tools / name).write_text(f"#!/bin/sh\necho called {name} >> {tmp_path}/called\nexit 1\n")
        (tools / name).chmod(0o755)

    def run(*words):
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        done = subprocess.run([str(tree / "run"), *words], capture_output=True, text=True, env=environment, cwd=tmp_path)
        called = (tmp_path / "called").read_text() if (tmp_path / "called").exists() else ""
        assert called == "" and not (tree / "build").exists(), called
        return done

    return run


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "mutants"])
def test_help(bare, command):
    done = bare(command, "--help")
    assert done.returncode == 0, done.stderr
    assert command in done.stdout or "usage" in done.stdout


@pytest.mark.parametrize("words", [("bench", "--list"), ("explain", "--list"), ("bench", "--version")])
def test_lists_that_need_a_build_say_so(bare, words):
    done = bare(*words)
    assert done.returncode == 2
    assert "it is not built yet" in done.stderr
