"""Every command in the documents exists and has its output, and long sentences are reported."""

import csv
import re
from pathlib import Path

import pytest
from scripts import ROOT, load_script
from tiny_training import write_encoder

build = load_script("docs/build.py")


@pytest.mark.parametrize("page", build.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_exist_and_show_their_output(page: Path) -> None:
    assert list(build.problems(page.read_text("utf-8"), markers=build.needs_markers(page))) == []


@pytest.mark.full
@pytest.mark.parametrize(
    "page",
    [
        "papers/README.md",
        "papers/santext.md",
        "papers/fbdd.md",
        "papers/adept.md",
        "guides/audit.md",
        "guides/vectors.md",
    ],
)
def test_the_commands_of_the_papers_end_as_their_pages_state(page: str) -> None:
    """They train, sample and audit: from a CSV to a released vector, a figure of each paper, and refuted claims."""
    assert list(build.problems(build.build((ROOT / "docs" / page).read_text("utf-8")))) == []


@pytest.mark.full
def test_the_guide_leads_from_a_csv_to_a_topic_on_the_server_in_a_small_form(tmp_path: Path) -> None:
    """With a tiny encoder and one epsilon: each command ends, and each block reads what the one before it wrote."""
    page = (ROOT / "docs" / "guides" / "vectors.md").read_text("utf-8")
    small = f"--num-epochs 1 --encoder {write_encoder(tmp_path)} --max-tokens 32 --levels 8 --no-compare"
    assert page.count("--num-epochs 2") == 1
    built = build.build(page.replace("--num-epochs 2", small))
    assert list(build.problems(built)) == []
    trained, _, used = built.partition("## On the device")
    assert re.search(r"^content hash [0-9a-f]{64}$", trained, re.MULTILINE)
    device, _, server = used.partition("## On the server")
    assert "textveil: l1, 4 coordinates: epsilon 8 for the whole text (any two texts)\n" in device
    with (ROOT / "docs" / "examples" / "messages.csv").open(encoding="utf-8", newline="") as rows:
        topics = {row["topic"] for row in csv.DictReader(rows)}
    classified = re.search(r"```text\n(.+)\t\d\.\d{4}\n```", server)
    assert classified is not None
    assert classified[1] in topics


def test_the_pages_with_commands_are_found() -> None:
    names = {str(page.relative_to(ROOT)) for page in build.pages()}
    assert names >= {"README.md", "export/README.md", "docs/levels.md", "docs/results/nlp.md", "artifacts/README.md"}
    assert "artifacts/english-v4/README.md" not in names


SAMPLES = sorted(file.name for file in (ROOT / "docs" / "examples").iterdir())
SHELL_BLOCK = re.compile(r"^<!-- run\b[^\n]*\n```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", build.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_that_reads_a_sample_first_states_how_to_copy_it(page: Path) -> None:
    """Pages are built beside the samples; a reader's folder has none, so the command would find no file."""
    text = page.read_text("utf-8")
    uses = [block.start() for block in SHELL_BLOCK.finditer(text) if any(name in block[1] for name in SAMPLES)]
    copied = text.find("cp docs/examples/")
    assert not uses or 0 <= copied < uses[0]


def test_a_page_is_built_and_then_has_no_problem() -> None:
    page = "\n<!-- run, first 2 lines -->\n```sh\nseq 9 > nine.txt\ncat nine.txt\n```\n\nand\n\n"
    page += "<!-- run, exit 1 -->\n```sh\nls nine.txt\nfalse\n```\n"
    assert len(list(build.problems(page))) == 2
    built = build.build(page)
    assert "```\n\n```text\n1\n2\n...\n```\n\nand\n" in built
    assert built.endswith("```\n\n```text\nnine.txt\n```\n")
    assert list(build.problems(built)) == []
    assert build.build(built) == built
    changed = built.replace("seq 9", "seq 8")
    assert [problem for problem in build.problems(changed) if "make docs" in problem]


@pytest.mark.parametrize("commands", ["false", "true", "cat nothing-here"])
def test_a_command_that_fails_or_is_silent_is_not_written(commands: str) -> None:
    with pytest.raises(ValueError, match=r"exit status|print nothing"):
        build.build(f"<!-- run -->\n```sh\n{commands}\n```\n")


def test_what_is_not_run_stays_as_it_is() -> None:
    page = "<!-- output of 2026-11-22: half an hour -->\n```sh\ntextveil info\n```\n\n```text\nby hand\n```\n"
    assert build.build(page) == page
    assert list(build.problems(page)) == []


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ("```sh\nls\n```\n", "does not say whether it is run"),
        ("<!-- later -->\n```sh\nls\n```\n", "does not say whether it is run"),
        ("<!-- not run: -->\n```sh\nls\n```\n", "does not say whether it is run"),
        ("```\ntextveil info\n```\n", "without a language"),
        ("<!-- not run: x -->\n```sh\ntextveil guess\n```\n", "no command guess"),
        ("<!-- not run: x -->\n```sh\ncat a | textveil sanitize --levle strict > b\n```\n", "--levle"),
        ("<!-- not run: x -->\n```sh\nVAR=1 textveil-train evaluate a b --data c --format sst2\n```\n", "argument b"),
        ("<!-- not run: x -->\n```sh\npython benchmarks/nothing.py\n```\n", "no benchmarks/nothing.py"),
        ("<!-- not run: x -->\n```sh\npython benchmarks/misleading.py --dat a\n```\n", "no --dat"),
        ("<!-- output of 2026-11-22: x -->\n```sh\nls\n```\n\n```text\nValueError: 1\n```\n", "failure"),
    ],
)
def test_what_is_wrong_with_a_block_is_told(block: str, problem: str) -> None:
    found = list(build.problems(block))
    assert len(found) == 1
    assert problem in found[0]


def test_commands_of_pages_that_are_not_run_must_exist_too() -> None:
    page = "# Title\n\n```sh\ntextveil info\n```\n"
    assert list(build.problems(page, markers=False)) == []
    assert list(build.problems(page.replace("info", "inof"), markers=False)) != []
    assert not build.needs_markers(ROOT / "docs" / "results" / "nlp.md")
    assert build.needs_markers(ROOT / "docs" / "levels.md")


def test_shell_blocks_are_split_into_commands() -> None:
    text = """
A=1 .venv/bin/textveil info  # it's a comment
for l in a b; do
  textveil sanitize -t "a | b" < in.txt 2>&1 2> log | sort > out.txt
done
"""
    assert list(build.split_commands(text)) == [
        [".venv/bin/textveil", "info"],
        ["for", "l", "in", "a", "b"],
        ["textveil", "sanitize", "-t", "a | b"],
        ["sort"],
        ["done"],
    ]
