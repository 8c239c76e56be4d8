"""Counts lines, files and imports of a checkout: how its wheels are divided.

    python benchmarks/structure.py [ROOT]

An arrow goes from one module to another that it imports, counted once, in a function's body as well. A package is a
folder below the wheel's own, or a module that lies beside such folders. The wheel's face, its `__init__.py`, is left
out of the arrows: it imports from everywhere by design. "Names from others" are names of other wheels that a wheel
imports, and the modules or packages that it takes them from.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

WHEELS = {
    "runtime": "textveil",
    "cli": "textveil_cli",
    "export": "textveil_export",
    "server_training": "textveil_training",
}
OTHERS = ("tests", "benchmarks", "docs")


def modules(root: Path) -> dict[str, Path]:
    """Returns the modules of all wheels by dotted name."""
    found: dict[str, Path] = {}
    for wheel in WHEELS:
        source = root / wheel / "src"
        for file in sorted(source.rglob("*.py")):
            found[".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__")] = file
    return found


def imports(module: str, file: Path, known: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """Yields the modules of the wheels that a module imports, each with the name that it takes."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((name.name, name.name) for name in node.names if name.name in known)
        elif isinstance(node, ast.ImportFrom):
            here = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
            base = ".".join([*here[: len(here) - node.level + 1], *filter(None, [node.module])])
            origin = base if node.level else node.module or ""
            for name in node.names:
                if (full := f"{origin}.{name.name}") in known:
                    yield full, full
                elif origin in known:
                    yield origin, full


def package(module: str) -> str:
    """Returns the first part of a module's name below its wheel."""
    return ".".join(module.split(".")[:2])


def lines(files: list[Path]) -> str:
    """Returns the number of files and of their lines."""
    return f"{len(files)} | {sum(len(file.read_text('utf-8').splitlines()) for file in files):,}"


def main(root: Path) -> None:
    """Prints the counts of a checkout as a table in Markdown."""
    known = modules(root)
    print("| wheel | files | lines | packages | arrows between modules | between packages | names from others |")
    print("|---|---|---|---|---|---|---|")
    for wheel, face in WHEELS.items():
        own = [module for module in known if module.split(".")[0] == face]
        taken = {(module, *found) for module in own for found in imports(module, known[module], known)}
        arrows = {(module, to) for module, to, _ in taken if module != face and to in own and to not in (module, face)}
        between = {(package(first), package(to)) for first, to in arrows if package(first) != package(to)}
        others = {(name, to) for _, to, name in taken if to not in own}
        rooms = {package(module) for module in own} - {face}
        names = f"{len({name for name, _ in others})} from {len({to for _, to in others})}" if others else "none"
        print(
            f"| {wheel} | {lines([known[module] for module in own])} | {len(rooms)} | {len(arrows)} | {len(between)} |"
            f" {names} |"
        )
    for folder in OTHERS:
        print(f"| {folder} | {lines(sorted((root / folder).rglob('*.py')))} | | | | |")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1])
