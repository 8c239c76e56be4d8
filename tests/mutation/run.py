"""Changes the code that privacy rests on, one place at a time, and tells which changes no test sees: ``make mutants``.

    nice .envs/mutants/bin/python tests/mutation/run.py              all modules of modules.toml, two at a time
    nice .envs/mutants/bin/python tests/mutation/run.py rows.py      one of them
    nice .envs/mutants/bin/python tests/mutation/run.py --most 16    of each module 16 mutants, spread over it evenly
    .envs/mutants/bin/python tests/mutation/run.py --report          what is known so far

Mutants are made by cosmic-ray, in copies of the tree. A mutant that lives is a test that is missing, or changes nothing
that can be seen: then justified.toml has it with the reason. A run that was stopped goes on where it was. As long as a
module is the same, only what lived is tried again; --afresh tries all.
"""

import argparse
import hashlib
import os
import queue
import resource
import shutil
import sqlite3
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / ".envs" / "mutants"
SOURCE = "runtime/src"
PYTHON = ROOT / ".venv" / "bin" / "python"
WARM = HERE / "warm.py"
#: Of arithmetic one mutant for each operator, of comparisons the boundary and the opposite: others die with them.
LEFT_OUT = (
    "core/ReplaceBinaryOperator_(?!Add_Sub|Sub_Add|Mul_Add|Div_Mul|FloorDiv_Mul|Mod_FloorDiv|Pow_Mul|LShift_RShift"
    "|RShift_LShift|BitAnd_BitOr)",
    "core/ReplaceComparisonOperator_(?!Eq_NotEq|NotEq_Eq|Lt_(LtE|GtE)|LtE_(Lt|Gt)$|Gt_(GtE|LtE)|GtE_(Gt|Lt)$|Is_IsNot"
    "|IsNot_Is$)",
    "core/ReplaceUnaryOperator_(?!Delete)",
)
MEMORY = 8 << 30
#: The longest that a mutant is waited for. What it may compute is limited too (warm.py).
SECONDS = 600.0


@dataclass(frozen=True)
class Module:
    """A module of the runtime and the tests that are to see its changes.

    Attributes:
        path: From the package on.
        tests: Files, or tests of one, the quickest first.
        most: How many mutants are tried; all if left out.
    """

    path: str
    tests: tuple[str, ...]
    most: int | None

    @property
    def session(self) -> Path:
        """Results of this module as it is now."""
        digest = hashlib.sha256((ROOT / SOURCE / self.path).read_bytes()).hexdigest()
        sample = "" if self.most is None else f"-{self.most}"
        return WORK / "sessions" / f"{self.path.replace('/', '.')}-{digest[:12]}{sample}.sqlite"


@dataclass(frozen=True)
class Mutant:
    """One line of a module, as it was and as it became."""

    module: str
    was: str
    becomes: str

    def __str__(self) -> str:
        return f"module = {self.module!r}\nwas = '''{self.was}'''\nbecomes = '''{self.becomes}'''"


def modules(most: int | None) -> list[Module]:
    """Return the content of ``modules.toml`` with its patterns resolved.

    Raises:
        SystemExit: A pattern of modules, or all patterns of a module's tests, match nothing, as after a rename.
    """
    with open(HERE / "modules.toml", "rb") as file:
        listed = tomllib.load(file)["module"]
    found = []
    for one in listed:
        paths = [path for path in files(ROOT / SOURCE, [one["path"]]) if not path.endswith("__init__.py")]
        tests = files(ROOT, one["tests"])
        if not paths or not tests:
            sys.exit(f"modules.toml: {one['path']}: {'no tests' if paths else 'no such module'}")
        found += [Module(path, tests, most) for path in paths]
    return found


def files(root: Path, patterns: list[str]) -> tuple[str, ...]:
    """Files below a folder that patterns name, each once, in the order of the patterns; ``::`` names a test of one."""
    parted = [each.partition("::") for each in patterns]
    found = [f"{path.relative_to(root)}{mark}{test}" for each, mark, test in parted for path in sorted(root.glob(each))]
    return tuple(dict.fromkeys(found))


def justified() -> dict[Mutant, str]:
    """Mutants that may live, and why."""
    with open(HERE / "justified.toml", "rb") as file:
        listed = tomllib.load(file).get("mutant", [])
    return {Mutant(one["module"], one["was"], one["becomes"]): one["reason"] for one in listed}


def mutant_of(module: Module, diff: str) -> Mutant:
    """Parse a mutant from its diff."""
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    was, becomes = (" ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")
    return Mutant(module.path, was, becomes)


def results(module: Module) -> Iterator[tuple[Mutant, bool]]:
    """Yield the tried mutants of a module, and whether each survived."""
    with sqlite3.connect(module.session) as session:
        for outcome, diff in session.execute(
            "SELECT test_outcome, diff FROM work_results WHERE worker_outcome = 'NORMAL' ORDER BY job_id"
        ):
            yield mutant_of(module, diff), outcome == "SURVIVED"


def is_complete(module: Module) -> bool:
    """Whether all mutants of a module were tried."""
    if module.most is not None or not module.session.exists():
        return False
    with sqlite3.connect(module.session) as session:
        left = "SELECT count(*) FROM work_items WHERE job_id NOT IN (SELECT job_id FROM work_results)"
        return session.execute(left).fetchone() == (0,)


def copied(module: Module) -> Path:
    """Make a copy of the tree in which a module may change, compiled so that changes always take effect."""
    tree = WORK / "trees" / module.path
    shutil.rmtree(tree, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if not (ROOT / name).exists():
            continue
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
    compiling = [PYTHON, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", SOURCE]
    subprocess.run(compiling, cwd=tree, check=True)
    return tree


def environment(tree: Path) -> dict[str, str]:
    """Return the environment for tests of a copy: its own runtime comes first, and nothing is compiled anew."""
    own = {"PYTHONPATH": str(tree / SOURCE), "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return {**os.environ, **own}


def try_module(module: Module, tree: Path) -> None:
    """Try all mutants of a module that were not tried yet.

    Raises:
        SystemExit: The tests fail without any mutant.
    """
    place, config = str(tree / "warm"), module.session.with_suffix(".toml")
    config.parent.mkdir(exist_ok=True)
    config.write_text(
        f'[cosmic-ray]\nmodule-path = "{SOURCE}/{module.path}"\ntimeout = {SECONDS}\nexcluded-modules = []\n'
        f"test-command = '{PYTHON} {WARM} run {place}'\n[cosmic-ray.distributor]\nname = 'local'\n"
        f"[cosmic-ray.filters.operators-filter]\nexclude-operators = {list(LEFT_OUT)}\n"
    )
    if module.session.exists():
        with sqlite3.connect(module.session) as session:
            session.execute("DELETE FROM work_results WHERE test_outcome = 'SURVIVED'")
    tool = Path(sys.executable).parent
    if not module.session.exists():
        for first in (["cosmic-ray", "init", config, module.session], ["cr-filter-operators", module.session, config]):
            subprocess.run([tool / first[0], *first[1:]], cwd=tree, check=True)
        if module.most is not None:
            keep_some(module.session, module.most)
    trying = [tool / "cosmic-ray", "exec", config, module.session]
    serving = [PYTHON, WARM, "serve", place, *module.tests]
    with subprocess.Popen(serving, cwd=tree, env=environment(tree), stdout=subprocess.PIPE, text=True) as warm:
        assert warm.stdout is not None
        try:
            if warm.stdout.readline() != "passes\n":
                sys.exit(f"{module.path}: the tests fail without any mutant")
            subprocess.run(trying, cwd=tree, env=environment(tree), check=True)
        finally:
            warm.kill()


def keep_some(path: Path, most: int) -> None:
    """Leaves so many mutants of a new session, as evenly spread over the lines of the module as they can be."""
    listed = (
        "SELECT job_id FROM mutation_specs WHERE job_id NOT IN (SELECT job_id FROM work_results) "
        "ORDER BY start_pos_row, start_pos_col, operator_name, occurrence"
    )
    with sqlite3.connect(path) as session:
        every = [job for (job,) in session.execute(listed)]
        kept = {every[number * len(every) // most] for number in range(min(most, len(every)))}
        gone = [(job,) for job in every if len(every) > most and job not in kept]
        for table in ("mutation_specs", "work_items"):
            session.executemany(f"DELETE FROM {table} WHERE job_id = ?", gone)


def try_all(chosen: list[Module]) -> None:
    """Try the mutants of some modules, two modules at a time, each in a copy of the tree."""
    waiting: queue.SimpleQueue[Module] = queue.SimpleQueue()
    for module in chosen:
        waiting.put(module)

    def lane() -> None:
        while not waiting.empty():
            module = waiting.get()
            try_module(module, copied(module))

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    lanes = [threading.Thread(target=lane) for _ in range(min(2, len(chosen)))]
    for thread in lanes:
        thread.start()
    for thread in lanes:
        thread.join()


def report(chosen: list[Module]) -> int:
    """Print survivors and counts; return the number of survivors without a reason and of reasons without a survivor."""
    reasons, wrong = justified(), 0
    for module in chosen:
        tried = list(results(module)) if module.session.exists() else []
        lived = [mutant for mutant, alive in tried if alive]
        unknown = [mutant for mutant in lived if mutant not in reasons]
        ours = [mutant for mutant in reasons if mutant.module == module.path]
        stale = [mutant for mutant in ours if mutant not in lived] if is_complete(module) else []
        print(
            f"{module.path}: {len(tried)} mutants, {len(tried) - len(lived)} killed, {len(lived)} lived, "
            f"{len(lived) - len(unknown)} of them justified"
        )
        for heading, mutants in (("lived", unknown), ("justified, and killed or gone", stale)):
            for mutant in dict.fromkeys(mutants):
                print(f"\n# {heading}\n[[mutant]]\n{mutant}\n")
        wrong += len(unknown) + len(stale)
    return wrong


def main() -> None:
    """Try and report; exit with status 1 if a survivor lacks a reason or a reason lacks a survivor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="ends of modules' paths; all if there are none")
    parser.add_argument("--afresh", action="store_true", help="try what was killed before, too")
    parser.add_argument("--most", type=int, help="how many mutants of each module are tried")
    parser.add_argument("--report", action="store_true", help="try nothing, print what is known")
    given = parser.parse_args()
    chosen = [one for one in modules(given.most) if not given.names or one.path.endswith(tuple(given.names))]
    if not given.report:
        if given.afresh:
            for module in chosen:
                module.session.unlink(missing_ok=True)
        try_all(chosen)
    sys.exit(1 if report(chosen) else 0)


if __name__ == "__main__":
    main()
