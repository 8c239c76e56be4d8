"""Rename modules and identifiers across the repository, as a table says.

    python tools/rename.py tools/renames/server_training.toml --modules   move modules, their tests and their imports
    python tools/rename.py tools/renames/server_training.toml             rename identifiers
    python tools/rename.py tools/renames/server_training.toml --check     print what would change, and write nothing

A table has up to three sections. Its keys are the names of before, also after an earlier run has applied some of them:

    [modules]
    "package.old_module" = "package.new_module"     # several modules may become one: see below

    [names]
    "package.old_module.Class" = "NewClass"
    "package.old_module.Class.method" = "new_method" # also an attribute, a field of a dataclass, a property
    "package.old_module.function" = "new_function"
    "package.old_module.function(name)" = "new_name" # a parameter or a local variable of the function
    "package.old_module.Class.method(name)" = "new_name"

    [words]
    old_word = "new_word"                           # each identifier of this spelling, in the whole repository

Pyright's language server resolves identifiers, from one snapshot of the tree, and this script changes the text at the
places that it reports. Formatting stays as it is: run `ruff format` and `ruff check --select I --fix` afterwards, since
names change in length. Texts follow: dotted names and paths of files anywhere, and names in backquotes if every
definition of that name in the repository gets the same new name and no string is equal to it. Strings of
`setattr(module, "name")` follow too.

Nothing is written if the table is ambiguous: a name that is not found, that has a new name already taken in its scope,
or two new names for one place. Uses that cannot be resolved (attributes of untyped objects, strings) are printed with
file and line: put the name into the table's `[words]` if it is unique, or change them by hand.

Modules move by `git mv`. If several modules become one, merge them by hand first and put only the moves into the table:
a file that is missing is not moved, but imports of it are changed.
"""

import argparse
import ast
import io
import json
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

ROOT = Path(__file__).resolve().parents[1]
#: Texts in which dotted names and paths are changed.
SUFFIXES = {".py", ".pyi", ".md", ".toml", ".cfg", ".in", ".yml", ".ipynb", ".sh", ""}
#: Not changed: what records the past, and the tables themselves.
EXCLUDED = ("tools/renames/", "tests/repo/test_rename.py", "CHANGELOG.md", "LICENSE")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_BACKQUOTED = re.compile(r"(`+)[^`\n]+\1(?!`)")


class RenameError(Exception):
    """A table that cannot be applied; nothing was written."""


@dataclass(frozen=True, order=True)
class Place:
    """Where an identifier is: path below the root, line from 0, column in UTF-16 units, and its old name."""

    path: str
    line: int
    column: int
    old: str


@dataclass
class Tree:
    """The text files of a repository that git tracks, as they are and as they become.

    Attributes:
        root: Folder of the repository.
        texts: Path below the root to text, changed by the methods.
    """

    root: Path
    texts: dict[str, str] = field(default_factory=dict)
    _written: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, root: Path) -> "Tree":
        """Read the tracked text files below a folder."""
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
        tree = cls(root)
        for path in filter(None, listed.split("\0")):
            file = root / path
            if file.suffix in SUFFIXES and not path.startswith(EXCLUDED) and file.is_file() and not file.is_symlink():
                try:
                    tree.texts[path] = file.read_bytes().decode()
                except UnicodeDecodeError:
                    continue
        tree._written = dict(tree.texts)
        return tree

    def python(self) -> Iterator[tuple[str, str]]:
        """Yield path and text of each Python file."""
        return ((path, text) for path, text in self.texts.items() if path.endswith(".py"))

    def changed(self) -> list[str]:
        """Return the paths whose text differs from what is on disk."""
        return [path for path, text in self.texts.items() if text != self._written.get(path)]

    def write(self) -> None:
        """Write each changed file."""
        for path in self.changed():
            (self.root / path).write_bytes(self.texts[path].encode())
            self._written[path] = self.texts[path]

    def module_path(self, module: str) -> str | None:
        """Return the path of a module's file, None if no package has it."""
        stem = module.replace(".", "/")
        names = (f"{stem}.py", f"{stem}/__init__.py")
        return next(
            (path for path in self.texts for name in names if path == name or path.endswith(f"/src/{name}")), None
        )


# ---- modules -------------------------------------------------------------------------------------------------------


def move_modules(tree: Tree, moves: dict[str, str], *, dry: bool = False) -> list[str]:
    """Move modules and their tests, and change imports and mentions of them.

    Args:
        tree: The repository.
        moves: Old dotted name to new dotted name of modules or packages.
        dry: Whether files stay where they are.

    Returns:
        What was done, a line for each moved file.

    Raises:
        RenameError: If a name imported from a package hides a moved module, or a new file exists already.
    """
    lines: list[str] = []
    paths: dict[str, str] = {}
    for old, new in moves.items():
        source = tree.module_path(old)
        if source is None:
            if tree.module_path(new) is None:
                raise RenameError(f"neither {old} nor {new} is a module")
            continue
        if source.endswith("/__init__.py"):
            source = source.removesuffix("/__init__.py")
            target = source.removesuffix(old.replace(".", "/")) + new.replace(".", "/")
            found = [path for path in tree.texts if path.startswith(f"{source}/")]
            paths |= {path: target + path.removeprefix(source) for path in found}
        else:
            target = source.removesuffix(old.replace(".", "/") + ".py") + new.replace(".", "/") + ".py"
            paths[source] = target
        old_test, new_test = _test_path(source), _test_path(target)
        paths |= {
            path: new_test + path.removeprefix(old_test)
            for path in list(tree.texts)
            if old_test and new_test and (path == old_test or path.startswith(f"{old_test}/"))
        }
    for old, new in paths.items():
        if new in tree.texts and new not in paths:
            raise RenameError(f"{new} exists: merge {old} into it by hand")
        lines.append(f"{old} -> {new}")
    exported = {old for old in moves if _exports(tree, *old.rpartition(".")[::2])}
    for path, text in list(tree.python()):
        tree.texts[path] = _change_imports(path, text, moves, exported)
    _change_texts(tree, {**moves, **_path_names(tree, paths), **_path_names(tree, _folders(paths))})
    if not dry:
        for old, new in paths.items():
            (tree.root / new).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["git", "mv", old, new], cwd=tree.root, check=True)
            tree.texts[new] = tree.texts.pop(old)
            tree._written[new] = tree._written.pop(old)
        tree.write()
    return lines


def _test_path(source: str) -> str | None:
    """Return the file or folder of a module's tests: `tests/x/y/test_z.py` for `x/src/package/y/z.py`."""
    match = re.fullmatch(r"(\w+)/src/\w+/(.*?)(\w+)(\.py)?", source)
    if match is None:
        return None
    return f"tests/{match[1]}/{match[2]}" + (f"test_{match[3]}.py" if match[4] else match[3])


def _folders(paths: dict[str, str]) -> dict[str, str]:
    """Return the folders of which every file moves to one other folder."""
    return {
        old.rpartition("/")[0]: new.rpartition("/")[0]
        for old, new in paths.items()
        if old.endswith("/__init__.py") and old.rpartition("/")[0] != new.rpartition("/")[0]
    }


def _path_names(tree: Tree, paths: dict[str, str]) -> dict[str, str]:
    """Return how texts write moved paths: the whole, and each shorter end of two names that no other file shares."""
    names: dict[str, str] = {}
    for old, new in paths.items():
        olds, news = old.split("/"), new.split("/")
        shared = [path for path in tree.texts if path != old]
        for first in range(len(olds) - 1):
            end = "/".join(olds[first:])
            unique = not any(path.endswith(f"/{end}") or f"/{end}/" in path for path in shared) if first else True
            if olds[:first] == news[:first] and unique and (end.endswith(".py") or first == 0):
                names[end] = "/".join(news[first:])
    return names


def _exports(tree: Tree, package: str, name: str) -> bool:
    """Return whether `__all__` of a package has a name: then the name is a function or class, not the module."""
    path = tree.module_path(package)
    assigned = (node for node in ast.parse(tree.texts[path]).body if isinstance(node, ast.Assign)) if path else ()
    return any(
        ast.unparse(node.targets[0]) == "__all__" and name in re.findall(r"\w+", ast.unparse(node.value))
        for node in assigned
    )


def _change_imports(path: str, text: str, moves: dict[str, str], exported: set[str]) -> str:
    """Change `from package import module` and the uses of that name in one file."""
    if not any(old.rpartition(".")[2] in text for old in moves):
        return text
    module = ast.parse(text)
    edits: list[tuple[int, int, str, str]] = []
    for node in ast.walk(module):
        if not isinstance(node, ast.ImportFrom) or node.level:
            continue
        for alias in node.names:
            new = moves.get(f"{node.module}.{alias.name}")
            if new is None or f"{node.module}.{alias.name}" in exported:
                continue
            parent, _, name = new.rpartition(".")
            if parent != node.module:
                if len(node.names) > 1:
                    raise RenameError(f"{path}:{node.lineno}: import {alias.name} in a line of its own")
                line = text.splitlines()[node.lineno - 1]
                start = line.index(str(node.module), node.col_offset)
                edits.append((node.lineno, _utf16(line, start), str(node.module), parent))
            edits.append((alias.lineno, alias.col_offset, alias.name, name))
            if alias.asname is None and name != alias.name:
                edits += _uses(path, module, alias.name, name)
    return apply_edits(text, [(line - 1, column, old, new) for line, column, old, new in edits])


def _uses(path: str, module: ast.Module, old: str, new: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield the uses of a name that only imports bind in a file."""
    for node in ast.walk(module):
        bound = (
            (isinstance(node, ast.Name) and node.id == old and isinstance(node.ctx, ast.Store))
            or (isinstance(node, ast.arg) and node.arg == old)
            or (isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == old)
        )
        if bound or (isinstance(node, ast.Name) and node.id == new):
            raise RenameError(f"{path}:{getattr(node, 'lineno', 0)}: {old} or {new} names something else here too")
        if isinstance(node, ast.Name) and node.id == old:
            yield node.lineno, node.col_offset, old, new


def _change_texts(tree: Tree, names: dict[str, str]) -> None:
    """Change dotted names and paths wherever they stand whole."""
    if not names:
        return
    ordered = sorted(names, key=len, reverse=True)
    pattern = re.compile(r"(?<![\w./-])(?:" + "|".join(map(re.escape, ordered)) + r")(?![\w])")
    for path, text in tree.texts.items():
        tree.texts[path] = pattern.sub(lambda match: names[match[0]], text)


# ---- identifiers ---------------------------------------------------------------------------------------------------


class Pyright:
    """Pyright's language server on a folder, as a context: it is stopped at the end.

    Args:
        root: Folder of the repository; its `pyproject.toml` configures pyright.
        python: Interpreter whose packages are resolved.
        server: The program `pyright-langserver`.
    """

    def __init__(self, root: Path, python: Path, server: Path) -> None:
        self.root, self.python = root, python
        environment = {**os.environ, "NODE_OPTIONS": os.environ.get("NODE_OPTIONS", "--max-old-space-size=4096")}
        self.process = subprocess.Popen(
            [str(server), "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self.count = 0
        self.ready = False

    def __enter__(self) -> "Pyright":
        folder = [{"uri": self.root.as_uri(), "name": "root"}]
        capabilities = {"workspace": {"configuration": True, "workspaceFolders": True}}
        self.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": self.root.as_uri(),
                "workspaceFolders": folder,
                "capabilities": capabilities,
            },
        )
        self._send({"method": "initialized", "params": {}})
        while not self.ready:
            self._answer(self._receive())
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def open(self, path: str, text: str) -> None:
        """Add a file to the program that the configuration leaves out."""
        document = {"uri": (self.root / path).as_uri(), "languageId": "python", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def references(self, place: Place) -> list[Place]:
        """Return each place that renaming the identifier at a place changes, itself among them."""
        result = self.ask(
            "textDocument/rename",
            {
                "textDocument": {"uri": (self.root / place.path).as_uri()},
                "position": {"line": place.line, "character": place.column},
                "newName": "renamed_",
            },
        )
        found: list[Place] = []
        for document in (result or {}).get("documentChanges") or ():
            path = Path(unquote(urlparse(document["textDocument"]["uri"]).path)).relative_to(self.root).as_posix()
            starts = (edit["range"]["start"] for edit in document["edits"])
            found += [Place(path, start["line"], start["character"], place.old) for start in starts]
        return found

    def ask(self, method: str, parameters: dict[str, Any]) -> Any:
        """Send a request and return its result."""
        self.count += 1
        self._send({"id": self.count, "method": method, "params": parameters})
        while True:
            message = self._receive()
            if message.get("id") == self.count and "method" not in message:
                return message.get("result")
            self._answer(message)

    def _answer(self, message: dict[str, Any]) -> None:
        text = str(message.get("params", {}).get("message", "")) if isinstance(message.get("params"), dict) else ""
        self.ready = self.ready or bool(re.search(r"Found \d+ source file|No source files", text))
        if "id" in message and "method" in message:
            result: list[dict[str, Any]] | None = None
            if message["method"] == "workspace/configuration":
                python, analysis = {"pythonPath": str(self.python)}, {"diagnosticMode": "openFilesOnly"}
                items = message["params"]["items"]
                result = [python if item.get("section") == "python" else analysis for item in items]
            self._send({"id": message["id"], "result": result})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while header := self.process.stdout.readline().strip():
            if header.lower().startswith(b"content-length:"):
                length = int(header.partition(b":")[2])
        if not length:
            raise RenameError("pyright-langserver stopped: see its messages above")
        return json.loads(self.process.stdout.read(length))


def find_definition(tree: Tree, key: str, names: dict[str, str], moves: dict[str, str]) -> Place | None:
    """Find where a key of the table is defined; None if a run before has renamed it already.

    Raises:
        RenameError: If it is not defined, or its new name is taken in the same scope.
    """
    dotted, _, local = key.rstrip(")").partition("(")
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        module = ".".join(parts[:count])
        path = tree.module_path(_moved(module, moves)) or tree.module_path(module)
        if path is not None:
            break
    else:
        raise RenameError(f"{key}: no such module")
    text = tree.texts[path]
    scope: ast.AST = ast.parse(text)
    walked = module
    trail = parts[count:]
    for index, name in enumerate(trail):
        walked += f".{name}"
        last = index == len(trail) - 1 and not local
        new = names.get(walked)
        node = _member(scope, name)
        if last:
            taken = _member(scope, names[key])
            if node is None and taken is not None:
                return None
            if node is None:
                raise RenameError(f"{key}: not defined in {path}")
            if taken is not None:
                raise RenameError(f"{key}: {names[key]} is defined in {path} already")
            return _place(path, text, node, name)
        node = node or (_member(scope, new) if new else None)
        if node is None:
            raise RenameError(f"{key}: {name} is not defined in {path}")
        scope = node
    node, taken = _local(scope, local), _local(scope, names[key])
    if node is None and taken is not None:
        return None
    if node is None or taken is not None:
        raise RenameError(f"{key}: {f'{names[key]} is taken' if taken is not None else 'not found'} in {path}")
    return _place(path, text, node, local)


def _moved(module: str, moves: dict[str, str]) -> str:
    """Return the new name of a module; the longest moved package decides."""
    for old in sorted(moves, key=len, reverse=True):
        if module == old or module.startswith(f"{old}."):
            return moves[old] + module.removeprefix(old)
    return module


def _member(scope: ast.AST, name: str) -> ast.AST | None:
    """Return the definition of a name in the body of a module or class; of a class also an attribute of `self`."""
    for node in _statements(getattr(scope, "body", [])):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return node
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            for each in ast.walk(target) if target is not None else ():
                if isinstance(each, ast.Name) and each.id == name:
                    return each
        if hasattr(ast, "TypeAlias") and isinstance(node, ast.TypeAlias) and node.name.id == name:
            return node.name
    if isinstance(scope, ast.ClassDef):
        for node in ast.walk(scope):
            attribute = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr == name
            if attribute and isinstance(node.value, ast.Name) and node.value.id == "self":
                return node
    return None


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, and those inside `if`, `try` and `with`."""
    for node in body:
        yield node
        for name in ("body", "orelse", "finalbody", "handlers"):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                for inner in getattr(node, name, []):
                    yield from _statements([inner] if isinstance(inner, ast.stmt) else inner.body)


def _local(function: ast.AST, name: str) -> ast.AST | None:
    """Return the parameter of a name, or else the first place where the function binds it."""
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    bound = [
        node
        for node in ast.walk(function)
        if (isinstance(node, ast.arg) and node.arg == name)
        or (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.FunctionDef) and node.name == name and node is not function)
    ]
    return min(bound, key=lambda node: (not isinstance(node, ast.arg), node.lineno, node.col_offset), default=None)


def _place(path: str, text: str, node: ast.AST, name: str) -> Place:
    """Return where the identifier of a definition is written."""
    lines = text.split("\n")
    number = node.lineno  # type: ignore[attr-defined]
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Attribute):
        last = node.end_lineno if isinstance(node, ast.Attribute) else number
        line = lines[(last or number) - 1]
        at = line.encode()[: node.end_col_offset].decode() if isinstance(node, ast.Attribute) else None
        start = (
            len(at) - len(name) if at is not None else re.search(rf"(?:def|class)\s+{name}\b", line).end() - len(name)
        )  # type: ignore[union-attr]
        return Place(path, (last or number) - 1, _utf16(line, start), name)
    line = lines[number - 1]
    return Place(path, number - 1, _utf16(line, len(line.encode()[: node.col_offset].decode())), name)  # type: ignore[attr-defined]


def _utf16(line: str, characters: int) -> int:
    """Return how many UTF-16 units the first characters of a line take, as the language server counts."""
    return len(line[:characters].encode("utf-16-le")) // 2


def apply_edits(text: str, edits: list[tuple[int, int, str, str]]) -> str:
    """Replace identifiers in a text.

    Args:
        text: The text.
        edits: Line from 0, column in UTF-16 units, old name, new name.

    Raises:
        RenameError: If a place has another text than the old name.
    """
    lines = text.split("\n")
    for number, column, old, new in sorted(set(edits), reverse=True):
        units = lines[number].encode("utf-16-le")
        before, after = units[: 2 * column].decode("utf-16-le"), units[2 * column :].decode("utf-16-le")
        if not after.startswith(old):
            raise RenameError(f"line {number + 1}: {old} expected, found {after[:20]!r}")
        lines[number] = before + new + after.removeprefix(old)
    return "\n".join(lines)


def rename_names(
    tree: Tree, names: dict[str, str], definitions: dict[str, Place | None], pyright: Pyright
) -> list[str]:
    """Rename the identifiers of a table wherever pyright resolves them.

    Args:
        tree: The repository.
        names: The section `[names]`.
        definitions: Where each of its keys is defined (`find_definition`); None for what is renamed already.
        pyright: The server on the same tree.

    Returns:
        A line for each name: how many places in how many files.

    Raises:
        RenameError: If a name cannot be renamed without doubt; the tree is unchanged.
    """
    edits: dict[str, dict[tuple[int, int], tuple[str, str, str]]] = defaultdict(dict)
    lines: list[str] = []
    olds = {place.old for place in definitions.values() if place}
    included = re.compile("|".join(map(re.escape, _configured(tree))) or "$^")
    for path, text in tree.python():
        if not included.match(path) and olds.intersection(_IDENTIFIER.findall(text)):
            pyright.open(path, text)
    for key, place in definitions.items():
        if place is None:
            continue
        places = pyright.references(place)
        if place not in places:
            raise RenameError(f"{key}: pyright does not rename {place.path}:{place.line + 1}")
        for each in places:
            if each.path not in tree.texts:
                raise RenameError(f"{key}: {each.path} would change")
            before = edits[each.path].setdefault((each.line, each.column), (each.old, names[key], key))
            if before[1] != names[key]:
                raise RenameError(f"{each.path}:{each.line + 1}: {before[2]} and {key} both rename {each.old}")
        lines.append(f"{key} -> {names[key]}: {len(places)} places, {len({each.path for each in places})} files")
    for path, changes in edits.items():
        text = tree.texts[path]
        tree.texts[path] = apply_edits(text, [(*at, old, new) for at, (old, new, _) in changes.items()])
        try:
            ast.parse(tree.texts[path])
        except SyntaxError as error:
            raise RenameError(f"{path}:{error.lineno}: no Python after renaming") from None
    return lines


def _configured(tree: Tree) -> list[str]:
    """Return the folders that pyright reads by its configuration."""
    settings = tomllib.loads((tree.root / "pyproject.toml").read_text("utf-8"))
    return [f"{path}/" for path in settings.get("tool", {}).get("pyright", {}).get("include", [""])]


def rename_words(tree: Tree, words: dict[str, str]) -> list[str]:
    """Rename each identifier of a spelling in every Python file.

    Raises:
        RenameError: If the new spelling is an identifier already.
    """
    lines: list[str] = []
    counts: dict[str, int] = defaultdict(int)
    for path, text in list(tree.python()):
        if not set(_IDENTIFIER.findall(text)) & {*words, *words.values()}:
            continue
        edits: list[tuple[int, int, str, str]] = []
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME and token.string in words:
                column = _utf16(token.line, token.start[1])
                if token.start[0] == token.end[0]:
                    edits.append((token.start[0] - 1, column, token.string, words[token.string]))
                    counts[token.string] += 1
            elif token.type == tokenize.NAME and token.string in words.values() and token.string not in words:
                counts[f"={token.string}"] += 1
        tree.texts[path] = apply_edits(text, edits)
    for old, new in words.items():
        if counts[old] and counts[f"={new}"]:
            raise RenameError(f"{old}: {new} is an identifier already, so the word is not unique")
        if counts[old]:
            lines.append(f"{old} -> {new}: {counts[old]} places by spelling")
    return lines


def rename_mentions(tree: Tree, names: dict[str, str], moves: dict[str, str]) -> None:
    """Change mentions in texts: whole dotted names, names in backquotes that are unique, names that `setattr` takes."""
    dotted: dict[str, str] = {}
    short: dict[str, set[str]] = defaultdict(set)
    for key, new in names.items():
        if "(" in key:
            continue
        module = key.rpartition(".")[0]
        renamed = ".".join(_renamed(module, names, moves))
        for start in {module, _moved(module, moves), renamed}:
            dotted[f"{start}.{key.rpartition('.')[2]}"] = f"{renamed}.{new}"
            colon = _colon(tree, start, moves)
            if colon is not None:
                dotted[f"{colon}{key.rpartition('.')[2]}"] = f"{_colon(tree, renamed, moves) or colon}{new}"
        short[key.rpartition(".")[2]].add(new)
    _change_texts(tree, dotted)
    kept = _defined_names(tree)
    unique = {old: new for old, (new, *others) in short.items() if not others and old not in kept and len(old) > 3}
    pattern = re.compile(rf"(?<![\w])(?:{'|'.join(map(re.escape, unique))})(?![\w])") if unique else None
    if pattern is not None:
        for path, text in tree.texts.items():
            tree.texts[path] = _BACKQUOTED.sub(lambda match: pattern.sub(lambda name: unique[name[0]], match[0]), text)
    for path, text in list(tree.python()):
        if "setattr" in text or "patch" in text:
            tree.texts[path] = _change_setattr(text, names, moves)


def _renamed(dotted: str, names: dict[str, str], moves: dict[str, str]) -> list[str]:
    """Return the parts of a dotted name after all renames of the table."""
    parts = dotted.split(".")
    new: list[str] = []
    for count in range(1, len(parts) + 1):
        new.append(names.get(".".join(parts[:count]), parts[count - 1]))
    moved = _moved(dotted, moves)
    if moved != dotted:
        module = next(old for old in sorted(moves, key=len, reverse=True) if f"{dotted}.".startswith(f"{old}."))
        new = [*moves[module].split("."), *new[len(module.split(".")) :]]
    return new


def _colon(tree: Tree, scope: str, moves: dict[str, str]) -> str | None:
    """Return how tables of proofs begin a name in a scope: `module:` or `module:Class.`."""
    parts = scope.split(".")
    for count in range(len(parts), 0, -1):
        if tree.module_path(_moved(".".join(parts[:count]), moves)) is not None:
            rest = "".join(f"{part}." for part in parts[count:])
            return f"{'.'.join(parts[:count])}:{rest}"
    return None


def _defined_names(tree: Tree) -> set[str]:
    """Return every name that a Python file still defines after renaming, and every string, which may be a key."""
    defined: set[str] = set()
    for _, text in tree.python():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                defined.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                defined.add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                defined.add(node.attr)
            elif isinstance(node, ast.arg):
                defined.add(node.arg)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                defined.add(node.value)  # a key of JSON, an option, the name of a format
    return defined


def _change_setattr(text: str, names: dict[str, str], moves: dict[str, str]) -> str:
    """Change the strings that `setattr(module_or_class, "name", ...)` and its like take, in one file."""
    module = ast.parse(text)
    imported: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom):
            imported |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Import):
            imported |= {each.asname: each.name for each in node.names if each.asname}
            imported |= {each.name: each.name for each in node.names}
    new = {
        ".".join([*_renamed(key.rpartition(".")[0], names, moves), key.rpartition(".")[2]]): names[key] for key in names
    }
    edits: list[tuple[int, int, str, str]] = []
    for node in ast.walk(module):
        if not isinstance(node, ast.Call) or len(node.args) < 2 or not ast.unparse(node.func).endswith("attr"):
            continue
        where, name = ast.unparse(node.args[0]), node.args[1]
        head, dot, rest = where.partition(".")
        target = where if where in imported.values() else imported.get(head, "?") + dot + rest
        if isinstance(name, ast.Constant) and f"{target}.{name.value}" in new and name.end_lineno == name.lineno:
            line = text.split("\n")[name.lineno - 1]
            column = _utf16(line, len(line.encode()[: name.col_offset].decode()) + 1)
            edits.append((name.lineno - 1, column, str(name.value), new[f"{target}.{name.value}"]))
    return apply_edits(text, edits)


def find_leftovers(tree: Tree, names: dict[str, str]) -> list[str]:
    """Return the lines that still have an old name as an attribute, keyword or string, for a look."""
    olds = {key.rpartition(".")[2] for key in names if "(" not in key}
    lines: list[str] = []
    for path, text in tree.python():
        for node in ast.walk(ast.parse(text)):
            old = (
                (isinstance(node, ast.Attribute) and node.attr)
                or (isinstance(node, ast.keyword) and node.arg)
                or (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value)
            )
            if old in olds:
                lines.append(f"{path}:{node.lineno}: {old}")  # type: ignore[attr-defined]
    return sorted(lines)


def main(arguments: list[str] | None = None) -> int:
    """Apply a table to the repository; return the exit code."""
    parser = argparse.ArgumentParser(description="Rename modules and identifiers across the repository.")
    parser.add_argument("table", type=Path)
    parser.add_argument("--modules", action="store_true", help="move modules only")
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--only", default="", help="apply only keys that begin so, a package for example")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    table = tomllib.loads(given.table.read_text("utf-8"))
    moves = table.get("modules", {})
    names = {key: new for key, new in table.get("names", {}).items() if key.startswith(given.only)}
    tree = Tree.read(given.root.resolve())
    binaries = ROOT / ".venv" / "bin"
    try:
        if given.modules:
            chosen = {old: new for old, new in moves.items() if old.startswith(given.only)}
            print(*move_modules(tree, chosen, dry=given.check), sep="\n")
        else:
            definitions = {key: find_definition(tree, key, names, moves) for key in names}
            if any(definitions.values()):
                with Pyright(tree.root, binaries / "python", binaries / "pyright-langserver") as pyright:
                    print(*rename_names(tree, names, definitions, pyright), sep="\n")
            print(*rename_words(tree, table.get("words", {})), sep="\n")
            rename_mentions(tree, names, moves)
            left = find_leftovers(tree, names)
            if left:
                print("still there, please look:", *left, sep="\n  ")
            if not given.check:
                tree.write()
        print(f"{len(tree.changed())} files would change" if given.check else "written")
    except RenameError as error:
        print(f"nothing written: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
