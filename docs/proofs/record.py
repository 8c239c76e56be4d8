"""Check that every proof was read against the present code, and record a reading.

    python docs/proofs/record.py                          list functions that changed since their proof was read
    python docs/proofs/record.py --looked-at NAME...      record functions as they are now, after reading the proof
    python docs/proofs/record.py --moved                  find functions that only moved to another module

A proof ends with a table of the functions, classes and constants that carry its claim, and of values in data files
(`textveil.data.rules:numbers` is a key of rules.json). Each row has a hash of the code or the value.
Comments, docstrings, types and layout do not count; names and every other change do. NAME is a function as a table has
it, the part after its colon, or the file of a proof (all of its functions). To cover one more, add a row with any hash.
"""

import argparse
import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Where modules are looked for.
SOURCES = tuple(ROOT / wheel / "src" for wheel in ("runtime", "cli", "export", "server_training"))
PROOFS = Path(__file__).resolve().parent

_ROW = re.compile(r"^\| `(?P<module>[\w.]+):(?P<name>[\w.]+)` \| `(?P<hash>\w+)` \|$", re.M)
_NOT_CODE = {"returns", "annotation", "type_comment", "type_params", "ctx", "kind"}


@dataclass(frozen=True)
class Claim:
    """One row of a proof's table.

    Attributes:
        proof: The file of the proof.
        module: The module of the function, with dots.
        name: The function, class, method (`Class.method`) or constant in it.
        recorded: Hash of its code when the proof was last read.
    """

    proof: Path
    module: str
    name: str
    recorded: str

    @property
    def function(self) -> str:
        """The function as the table has it."""
        return f"{self.module}:{self.name}"


def claims(proofs: Path = PROOFS) -> list[Claim]:
    """Return the rows of all proofs in a folder."""
    return [
        Claim(proof, row["module"], row["name"], row["hash"])
        for proof in sorted(proofs.glob("*.md"))
        for row in _ROW.finditer(proof.read_text("utf-8"))
    ]


def module_file(module: str) -> Path | None:
    """Return the file of a module of one of the packages."""
    stem = module.replace(".", "/")
    files = (source / name for source in SOURCES for name in (f"{stem}.py", f"{stem}/__init__.py"))
    return next((file for file in files if file.is_file()), None)


def data_hash(module: str, name: str) -> str | None:
    """Return the hash of a value in a data file; None if there is no such file or key."""
    paths = (source / f"{module.replace('.', '/')}.json" for source in SOURCES)
    file = next((path for path in paths if path.is_file()), None)
    value = json.loads(file.read_text("utf-8")) if file else None
    for key in name.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return None if value is None else hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def code_hash(source: str, name: str) -> str | None:
    """Return the hash of a function, class, method or constant; None if the source does not define it."""
    nodes: list[ast.stmt] = ast.parse(source).body
    found: ast.stmt | None = None
    for part in name.split("."):
        found = next((node for node in nodes if part in _defined(node)), None)
        if found is None:
            return None
        nodes = getattr(found, "body", [])
    return hashlib.sha256(repr(_plain(found)).encode()).hexdigest()[:12]


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def _plain(node: object) -> object:
    """Return a syntax tree as nested tuples, equal in every version of Python, without docstrings and positions."""
    if isinstance(node, list):
        return tuple(_plain(entry) for entry in node)
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = {name: value for name, value in ast.iter_fields(node) if name not in _NOT_CODE and value not in (None, [])}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
        fields["body"] = node.body[1:]
    return type(node).__name__, tuple((name, _plain(value)) for name, value in sorted(fields.items()))


def current_hash(claim: Claim) -> str | None:
    """Return the hash of a claim's function or value as it is now; None if it is not there."""
    file = module_file(claim.module)
    if file is None:
        return data_hash(claim.module, claim.name)
    return code_hash(file.read_text("utf-8"), claim.name)


def problems(proofs: Path = PROOFS) -> Iterator[str]:
    """Yield one line for each function that is missing, or changed since its proof was read."""
    for claim in claims(proofs):
        now = current_hash(claim)
        if now is None:
            yield f"{claim.proof.name}: no {claim.function}; if it only moved: python docs/proofs/record.py --moved"
        elif now != claim.recorded:
            yield (
                f"{claim.proof.name}: {claim.function} changed. Read the proof again, correct it if need be, then: "
                f"python docs/proofs/record.py --looked-at {claim.function}"
            )


def record(names: list[str], proofs: Path = PROOFS) -> list[Claim]:
    """Write the present hashes of some functions into their proofs.

    Raises:
        ValueError: A name is in no table, or a function is not there.
    """
    chosen = [claim for claim in claims(proofs) if {claim.function, claim.name, claim.proof.name} & set(names)]
    known = {name for claim in chosen for name in (claim.function, claim.name, claim.proof.name)}
    if missing := [name for name in names if name not in known]:
        raise ValueError(f"in no proof's table: {', '.join(missing)}")
    for claim in chosen:
        now = current_hash(claim)
        if now is None:
            raise ValueError(f"there is no {claim.function}")
        _rewrite(claim, claim.function, now)
    return chosen


def follow(proofs: Path = PROOFS) -> Iterator[str]:
    """Corrects the module of functions that are gone from theirs, where exactly one other module defines the name.

    One with the same code comes first. The recorded hash stays: a function that moved and changed must still be
    looked at.
    """
    files = [file for source in SOURCES for file in sorted(source.rglob("*.py"))]
    for claim in [claim for claim in claims(proofs) if current_hash(claim) is None]:
        digests = {file: code_hash(file.read_text("utf-8"), claim.name) for file in files}
        unchanged = [file for file, digest in digests.items() if digest == claim.recorded]
        homes = unchanged or [file for file, digest in digests.items() if digest is not None]
        if len(homes) != 1:
            yield f"{claim.function}: {len(homes)} modules define it now; edit {claim.proof.name} by hand"
            continue
        source = next(source for source in SOURCES if source in homes[0].parents)
        module = ".".join(homes[0].relative_to(source).with_suffix("").parts).removesuffix(".__init__")
        _rewrite(claim, f"{module}:{claim.name}", claim.recorded)
        yield f"{claim.function} -> {module}:{claim.name}"


def _rewrite(claim: Claim, function: str, digest: str) -> None:
    text = claim.proof.read_text("utf-8")
    row = f"| `{claim.function}` | `{claim.recorded}` |"
    claim.proof.write_text(text.replace(row, f"| `{function}` | `{digest}` |"), "utf-8")


def main() -> None:
    """Check or record; exit with status 1 if a proof must be read again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--looked-at", nargs="+", metavar="NAME", help="functions, or proofs (santext.md), that were read"
    )
    parser.add_argument("--moved", action="store_true", help="correct the modules of functions that only moved")
    options = parser.parse_args()
    if options.moved:
        print("\n".join(follow()) or "nothing moved")
    elif options.looked_at:
        try:
            print("\n".join(f"{claim.proof.name}: {claim.function}" for claim in record(options.looked_at)))
        except ValueError as error:
            sys.exit(str(error))
    else:
        sys.exit("\n".join(problems()) or 0)


if __name__ == "__main__":
    main()
