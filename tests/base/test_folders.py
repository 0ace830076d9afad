"""The one writer: whole or not at all, and nothing lost, whatever comes between."""

import csv
import errno
import json
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
from command_runs import list_commands, run
from fuzz.command import content as tree
from fuzz.faults import room_for
from loops import each
from messages import expect_error

import skewanova as sa
from skewanova.base import folders
from skewanova.base.checks import InputError
from skewanova.base.folders import (
    OutputError,
    check_folder,
    find_free_memory,
    make_provenance,
    read_manifest,
    replace_folder,
)

MADE = make_provenance("test", {"alpha": 0.05}, seed=0)


def write(target, content="new", **options):
    with replace_folder(target, MADE, **options) as output:
        output.write("numbers.csv", content)
        output.write("figures/one.svg", content)


def hidden(place):
    return sorted(path.name for path in place.rglob(".*"))


@pytest.fixture
def earlier(tmp_path):
    write(tmp_path / "out", "old")
    return tmp_path / "out"


def test_the_provenance_counts_its_files(earlier):
    assert set(read_manifest(earlier)) == {"figures/one.svg", "numbers.csv"}
    found = json.loads((earlier / "provenance.json").read_text())
    assert found["tool"] == "skewanova"
    assert found["version"] == sa.__version__ == found["versions"]["skewanova"]
    assert (found["kind"], found["seed"], found["settings"]) == ("test", 0, {"alpha": 0.05})
    assert found["input"] == {"name": None, "sha256": None}


def test_a_part_has_its_provenance_and_numbers_the_same_bytes(tmp_path):
    with replace_folder(tmp_path / "out", MADE) as output:
        part = output.make_subfolder("part-1")
        part.write("a.csv", "a\n")
        part.write_manifest(MADE)
    assert list(read_manifest(tmp_path / "out" / "part-1")) == ["a.csv"]
    assert set(read_manifest(tmp_path / "out")) == {"part-1/a.csv", "part-1/provenance.json"}
    write(tmp_path / "out")  # parts are replaced with the whole
    plain = pd.DataFrame({"model": ["a", "b,c"], "value": [0.1, 1 / 3]})
    assert folders.format_csv(plain) == 'model,value\na,0.1\n"b,c",0.3333333333333333\n'
    assert folders.format_csv(plain, float_format="%.3g").endswith('"b,c",0.333\n')
    torn = folders.format_csv(plain.replace({"model": {"a": "a\rb\n"}}))
    assert [len(row) for row in csv.reader(torn.splitlines(keepends=True))] == [2, 2, 2]
    package = Path(folders.__file__).parents[1]
    calls = re.compile(r"\.to_csv\(|\.write_text\(|\.write_bytes\(")
    found = sorted(path.name for path in package.rglob("*.py") if calls.search(path.read_text()))
    assert found == ["folders.py", "table.py", "values.py"]  # two of them make fingerprints of it


@each("text", ["", "[]", '{"tool": "other"}', '{"tool": "skewanova", "files": [1]}', "[" * 9999])
def test_what_others_wrote_is_not_ours(tmp_path, text):
    (tmp_path / "provenance.json").write_text(text)
    assert read_manifest(tmp_path) == {}
    expect_error(r"holds 'provenance\.json'; move that away", check_folder, tmp_path)


def test_a_file_that_was_edited_is_no_longer_ours(earlier):
    (earlier / "numbers.csv").write_text("mine")
    expect_error(r"holds 'numbers\.csv'; move that away or choose another folder", write, earlier)
    assert (earlier / "numbers.csv").read_text() == "mine"


def test_what_file_managers_leave_is_no_reason_to_stop(earlier):
    (earlier / "figures" / ".DS_Store").write_text("x")
    write(earlier)
    assert set(tree(earlier)) == {"figures", "figures/one.svg", "numbers.csv", "provenance.json"}
    assert hidden(earlier.parent) == []
    (earlier.parent / "Thumbs.db").write_text("x")  # which alone makes no output
    expect_error(r"holds '(out|Thumbs\.db)'", write, earlier.parent)


def test_an_input_is_never_replaced(earlier, tmp_path):
    before = tree(earlier)
    (tmp_path / "scores.csv").symlink_to(earlier / "numbers.csv")
    for held in (*(earlier / name for name in ("numbers.csv", "figures", ".")), tmp_path / "scores.csv"):
        with pytest.raises(InputError, match="`directory` must not be the input or hold it, but is or holds"):
            write(earlier, inputs=[None, held])
    expect_error(r"or a mounted one", check_folder, Path.cwd().anchor)
    assert tree(earlier) == before


@each(("directory", "message"), [
    ("others", r"'others' holds 'a\.csv', 'b\.csv', 'c\.csv', \.\.\.; move that away"),
    ("out", r"holds 'elsewhere', 'empty', 'figures/mine\.png'; move"),
])  # fmt: skip
def test_places_that_are_refused_stay_as_they_are(tmp_path_factory, directory, message):
    place = tmp_path_factory.mktemp("places")
    write(place / "out")
    (place / "others").mkdir()
    others = [f"others/{name}" for name in ("thesis.tex", "a.csv", "b.csv", "c.csv")]
    for name in ("out/figures/mine.png", *others):
        (place / name).write_text("mine")
    (place / "out" / "empty").mkdir()
    (place / "out" / "elsewhere").symlink_to(place)
    before = tree(place)
    expect_error(message, write, place / directory)
    assert tree(place) == before


def test_empty_folders_earlier_outputs_and_links_are_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for text in ("old", "new"):
        write(tmp_path / "link", text)
        assert (tmp_path / "real" / "numbers.csv").read_text() == text
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_failing_second_rename_brings_the_earlier_output_back(earlier, monkeypatch):
    before, rename, failed = tree(earlier.parent), Path.rename, []

    def failing(path, new):
        if Path(new) == earlier and not failed:
            failed.append(path)
            raise OSError("disk on fire")
        return rename(path, new)

    monkeypatch.setattr(Path, "rename", failing)
    expect_error("disk on fire", write, earlier, error=OSError)
    assert tree(earlier.parent) == before


def test_parents_are_made_in_place_and_go_after_an_error(tmp_path):
    thesis = tmp_path / "results" / "thesis.txt"
    with replace_folder(tmp_path / "results" / "deep" / "run1", MADE) as output:
        thesis.write_text("precious")
        output.write("a.csv", "a\n")
    assert thesis.read_text() == "precious"
    assert read_manifest(tmp_path / "results" / "deep" / "run1")
    (base := tmp_path / "empty").mkdir()
    place, ink = base / "results", RuntimeError("no more ink")
    for error in (ink, BrokenPipeError(errno.EPIPE, "Broken pipe")):  # a reader who left is no fault of ours
        with pytest.raises(type(error), match=str(error).split("]")[-1]):
            failing(place / "deep" / "run1", error, lambda: None)
        assert tree(base) == {}
    with pytest.raises(RuntimeError, match="no more ink"):
        failing(place / "deep" / "run1", ink, lambda: (place / "thesis.txt").write_text("precious"))
    assert tree(base) == {"results": None, "results/thesis.txt": b"precious"}


def failing(target, error, meanwhile):
    with replace_folder(target, MADE):
        meanwhile()
        raise error


def intrude(monkeypatch, intruder):
    """Let somebody act right after the last check of the folder by its name."""
    check, names = folders._check_content, []

    def checked(folder, name):
        check(folder, name)
        names.append(name)
        if len(names) == 2:  # the first is before the work begins
            intruder()

    monkeypatch.setattr(folders, "_check_content", checked)


def test_a_file_that_comes_between_check_and_rename_is_kept(earlier, monkeypatch):
    intrude(monkeypatch, lambda: (earlier / "precious.txt").write_text("mine"))
    before = tree(earlier)
    expect_error(r"holds 'precious\.txt'", write, earlier)
    assert (tree(earlier), hidden(earlier.parent)) == ({**before, "precious.txt": b"mine"}, [])


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_takes_the_place_of_a_new_folder_is_kept(tmp_path, monkeypatch, kind):
    target = tmp_path / "out"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious.txt").write_text("mine")
    acts = {
        "file": lambda: target.write_text("mine"),
        "link": lambda: target.symlink_to(tmp_path / "mine"),
        "folder": lambda: (tmp_path / "mine").rename(target),
    }
    intrude(monkeypatch, acts[kind])
    expect_error(r"is a file|holds 'precious\.txt'", write, target)
    assert (target if kind == "file" else target / "precious.txt").read_text() == "mine"
    assert hidden(tmp_path) == []


def test_an_old_output_that_cannot_come_back_gets_a_name_that_shows(earlier, monkeypatch):
    rename = Path.rename

    def taken(old, new):
        if new == earlier and not new.exists():
            new.mkdir()
            (new / "precious.txt").write_text("mine")
        return rename(old, new)

    monkeypatch.setattr(Path, "rename", taken)
    expect_error("'out' cannot be written", write, earlier, error=OutputError)
    (copy,) = earlier.parent.glob("out-kept-*")
    assert (copy / "numbers.csv").read_text() == "old"
    assert (tree(earlier), hidden(earlier.parent)) == ({"precious.txt": b"mine"}, [])


def test_an_earlier_output_survives_interrupts_and_files_too_large(earlier, monkeypatch):
    rename = Path.rename

    def interrupted(old, new):
        if new == earlier:
            raise KeyboardInterrupt
        return rename(old, new)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(earlier)
    (old,) = earlier.parent.glob(".skewanova-*/old")
    assert ((old / "numbers.csv").read_text(), list(old.parent.iterdir())) == ("old", [old])
    before = tree(earlier.parent)
    message = r"'out' cannot be written \(File too large\)"
    with room_for(8192), pytest.raises(OutputError, match=message) as told:
        write(earlier, "x" * 10000)
    assert told.value.errno == errno.EFBIG
    assert tree(earlier.parent) == before


@pytest.mark.parametrize("names", ["ab", "aaab"])
def test_runs_at_once_under_a_parent_that_is_missing(tmp_path, names):
    for attempt in range(15):
        place, start = tmp_path / str(attempt), threading.Barrier(len(names))

        def work(name, place=place, start=start):
            start.wait()
            try:
                write(place / "res" / name)
            except (InputError, OSError) as refusal:
                return refusal
            return None

        with ThreadPoolExecutor(len(names)) as pool:
            errors = list(pool.map(work, names))
        assert all(error is None or isinstance(error, InputError | OutputError) for error in errors), errors
        assert all(read_manifest(place / "res" / name) for name in names)
        assert hidden(place) == []
        assert names != "ab" or errors == [None, None]


def test_names_that_are_too_long_or_no_utf8_are_refused(tmp_path):
    expect_error(r"^names must hold text .* has '\\ud800'; rename it", write, tmp_path / "out", "B\ud800")
    assert tree(tmp_path) == {}
    expect_error("File name too long", write, tmp_path / ("a" * 300), error=OutputError)
    write(tmp_path / ("a" * 255))  # hidden names beside it are short
    assert tree(tmp_path).keys() == {"a" * 255 + end for end in (
        "", "/figures", "/figures/one.svg", "/numbers.csv", "/provenance.json")}  # fmt: skip


KILLS = """
import os, random, shutil, signal, sys, time
from pathlib import Path
from skewanova.base.folders import read_manifest, make_provenance, replace_folder, _unknown_files
from skewanova.cli.options import _raised_signals

place, signals = Path(sys.argv[1]), sys.argv[2].split(",")
made = make_provenance("test", {})

def write(content):
    with replace_folder(place / "res" / "out", made) as output:
        for number in range(10):
            output.write(f"part/{number}.txt", content * 2000)

def work():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with _raised_signals():
        for number in range(10**6):
            write(str(number))

draw = random.Random(7)
for attempt in range(12):
    number = getattr(signal, signals[attempt % len(signals)])
    child = os.fork()
    if not child:
        try:
            work()
        except (KeyboardInterrupt, SystemExit):
            pass  # as any program ends: what it held open is closed
        finally:
            os._exit(0)
    time.sleep(draw.uniform(0.02, 0.4))
    os.kill(child, number)
    os.waitpid(child, 0)
    if number == signal.SIGKILL:
        write("next run")
    out = place / "res" / "out"
    assert not out.exists() or (len(read_manifest(out)) == 10 and not _unknown_files(out)), attempt
    for leftover in place.rglob(".*"):  # of a run that was killed, or asked to end while it tidied up
        assert leftover.name.startswith(".skewanova-")
        shutil.rmtree(leftover)
print("done")
"""


@pytest.mark.slow
@pytest.mark.parametrize("signals", ["SIGTERM,SIGHUP,SIGINT", "SIGKILL"])
def test_runs_that_are_ended_at_any_moment(tmp_path, signals):
    command = [sys.executable, "-c", KILLS, str(tmp_path), signals]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "done\n", done.stderr[-2000:]


@pytest.fixture
def scores(tmp_path):
    table = sa.load_satellite_scores().frame
    one = table[table["fold"] == table["fold"].iloc[0]].copy()
    one["model"] = one["model"].astype(str).replace({"B": "b\rad\n=1+1"})
    one = one.assign(y_true=one["y_true"].astype(int))
    (tmp_path / "scores.csv").write_text(folders.format_csv(one), newline="")
    return tmp_path / "scores.csv"


COMMANDS = {
    "intervals": (["--prior", "0.2"], {"intervals.csv", "intervals.md"}),
    "threshold": (["--recall", "0.8", "--at-priors", "0.2"], {"threshold.csv", "threshold.md"}),
    "plan": (["--difference", "0.05"], {"plans.csv", "plans.txt"}),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_writes_a_folder(scores, tmp_path, command):
    options, files = COMMANDS[command]
    out = tmp_path / "res" / "out"
    done = run(command, scores, *options, "--out", out)
    assert done.exit_code == 0, done.output
    assert set(read_manifest(out)) == files
    found = json.loads((out / "provenance.json").read_text())
    assert (found["tool"], found["kind"]) == ("skewanova", command)
    assert found["input"] == {"name": "scores.csv", "sha256": sa.read_scores(scores).sha256()}
    (table,) = out.glob("*.csv")
    with table.open(newline="") as file:
        assert len({len(row) for row in csv.reader(file)}) == 1
    assert any("b\rad" in str(name) for name in pd.read_csv(table).iloc[:, :2].to_numpy().ravel())
    text = next(path for path in out.iterdir() if path.suffix in {".md", ".txt"})
    assert run("report", out).output == f"{text}\n"
    before = scores.read_bytes()
    for place in (scores, scores.parent):
        refused = run(command, scores, *options, "--out", place)
        assert refused.exit_code == 2
        assert refused.stderr.startswith("Error: --out must be")
        assert refused.stderr.count("\n") == 1
    assert (scores.read_bytes(), hidden(tmp_path)) == (before, [])


def fail_with(error):
    def fail(*_args, **_options):
        raise error

    return fail


@each(("error", "text"), [
    (MemoryError(),
     "not enough memory; keep fewer rows, or compare them with Dask (pip install 'skewanova[dask]')"),
    (OSError(errno.EIO, "Input/output error", "/tmp/a\nb"), "Input/output error: '/tmp/a\\nb'"),
    (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
    (OutputError("'out' cannot be written"), "'out' cannot be written"),
])  # fmt: skip
def test_what_the_system_refuses_is_one_line_and_exit_status_1(scores, monkeypatch, error, text):
    monkeypatch.setattr(sa.inference, "interval_table", fail_with(error))
    done = run("intervals", scores, "--prior", "0.2")
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", f"Error: {text}\n")
    with monkeypatch.context() as patch:
        patch.setattr(sa, "read_scores", fail_with(error))
        unread = run("intervals", scores, "--prior", "0.2")
        assert (unread.exit_code, unread.stdout, unread.stderr.count("\n")) == (2, "", 1)
        assert unread.stderr.startswith("Error: 'scores.csv' ")


def start(code, **options):
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, **options)


HELP = "import sys; from skewanova.cli.__main__ import main; sys.argv[1:] = ['compare', '--help']; main()"


def test_a_full_standard_output_is_one_line_and_a_closed_pipe_quiet():
    with open("/dev/full", "w") as full, start(HELP, stdout=full) as process:
        assert process.communicate(timeout=60)[1] == "Error: No space left on device\n"
    assert process.returncode == 1
    reader, writer = os.pipe()
    os.close(reader)
    with start(HELP, stdout=writer) as process:
        os.close(writer)
        assert process.communicate(timeout=60)[1] == ""


def test_an_interrupt_while_the_command_loads_is_quiet():
    code = (
        "import sys, time\n"
        "class Slow:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'skewanova.cli.commands':\n"
        "            print('loading', flush=True)\n"
        "            time.sleep(60)\n"
        "from skewanova.cli.__main__ import main\n"
        "sys.meta_path.insert(0, Slow())\n"
        "main()\n"
    )
    with start(code, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == "loading\n"
        process.send_signal(2)
        assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == -2


def test_help_cuts_no_sentence_and_a_closed_pipe_has_another_number_on_windows(monkeypatch):
    texts = {path: run(*path, "--help").output for path in list_commands()}
    assert not any("\\b" in text or "\b" in text for text in texts.values())
    examples = [text for text in texts.values() if "xample" in text]
    assert len(examples) == len(texts) - 1  # every command has one, the group has none
    assert all(line.strip() in {"Example:", "For example, in ~/.bashrc:"} for text in examples
               for line in text.split("\n") if "xample" in line)  # fmt: skip
    listed = re.split(r"\n(?=  \S)", texts[()].split("Commands:\n")[1].rstrip("\n"))
    sentence = re.compile(r"[^.]+(\([^)]+\))?[^.]*\.")  # neither cut ("...") nor ended early
    assert all(sentence.fullmatch(line) and "et al." not in line for line in listed), listed
    closed = OSError(errno.EINVAL, "Invalid argument")
    assert folders.is_closed_pipe(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert not folders.is_closed_pipe(closed)
    monkeypatch.setattr(sys, "platform", "win32")
    assert folders.is_closed_pipe(closed)


@each("figures", [5, [5], "gif", ["svg", None]])
def test_other_formats_of_figures_are_refused(figures):
    expect_error(r"^`figures` must be one of svg, png, pdf, none; but got '", folders.check_formats, figures)


@pytest.fixture
def system(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(folders, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(folders, "_CGROUP", tmp_path)
    (tmp_path / "meminfo").write_text("MemTotal: 4000 kB\nMemFree: 10 kB\nMemAvailable: 2000 kB\n\n")
    return tmp_path


def test_the_limits_of_a_system_and_a_container(system):
    assert find_free_memory() == 2000 * 1024
    (system / "memory.current").write_text("400\n")
    (system / "memory.max").write_text("max\n")
    assert find_free_memory() == 2000 * 1024
    (system / "memory.max").write_text("1000\n")
    assert find_free_memory() == 600
    (system / "memory").mkdir()  # cgroup v1
    (system / "memory" / "memory.limit_in_bytes").write_text("700\n")
    (system / "memory" / "memory.usage_in_bytes").write_text("200\n")
    assert find_free_memory() == 500


def test_systems_that_tell_less(system, monkeypatch):
    (system / "meminfo").unlink()
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 10}.__getitem__, raising=False)
    assert find_free_memory() == 40960
    monkeypatch.delattr(os, "sysconf")
    assert find_free_memory() is None
