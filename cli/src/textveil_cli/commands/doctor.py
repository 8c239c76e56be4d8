"""``textveil doctor``: check this installation, and print advice for each problem."""

import json
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Literal

import typer
from textveil import __version__
from textveil.errors import BundleTooLarge, ContentHashMismatch, OptionError, TextveilError, WrongSigner

from textveil_cli.options import BundleOptions, JsonOption

_MIN_PYTHON = (3, 11)
#: A requirement of a package: its name, its extras, its bounds and the extra that needs it.
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w,. -]+)\])?\s*([^;]*?)\s*(?:;.*\bextra\s*==\s*['\"]([\w-]+)['\"].*)?")
_BOUND = re.compile(r"(>=|<|==)\s*([\w.]+)")
_REINSTALL = "pip install --force-reinstall textveil (in a clone: pip install --force-reinstall ./runtime)"
#: A made-up message, and its output with tags, which does not depend on chance.
_TRIAL_TEXT, _TRIAL_OUTPUT = (
    "Please call Anna Novak about order 88213.",
    "Please call [person 1] about order [number 1].",
)


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """Result of one check of the installation.

    Attributes:
        name: Subject of the check.
        state: ``ok``, ``failed`` for a problem, or ``missing`` for an optional package that is not installed or too
            old.
        found: Observation of the check, such as an installed version.
        advice: What the user can do about a problem; an empty string if nothing is wrong.
    """

    name: str
    state: Literal["ok", "missing", "failed"]
    found: str
    advice: str = ""


def doctor(bundle: BundleOptions, as_json: JsonOption = False) -> None:
    """Check this installation, and state what to do about each problem.

    The checks cover Python, required packages, the source of randomness, the bundle with the hashes of its files, a
    trial text, and the packages of each extra. They open no connection and read none of your files. A missing extra is
    no problem; its line has the command that installs it. The exit code is 1 if a check failed.
    """
    results = [
        *_check_python(),
        *_check_required_packages(),
        _check_entropy(),
        *_check_bundle(bundle),
        *_check_extras(),
    ]
    failed = [result for result in results if result.state == "failed"]
    if as_json:
        print(json.dumps({"ok": not failed, "checks": [asdict(result) for result in results]}))
    else:
        width = max(len(result.name) for result in results)
        for result in results:
            print(f"{result.name:{width}}  {result.state:7}  {result.found}")
            if result.advice:
                print(f"{'':{width}}           {result.advice}")
        print(_summarize_results(failed))
    if failed:
        raise typer.Exit(1)


def _summarize_results(failed: list[CheckResult]) -> str:
    if not failed:
        return "Everything that textveil needs works."
    names = ", ".join(result.name for result in failed)
    return f"Failed: {names}. Follow the advice above, then run textveil doctor again."


def _check_python() -> Iterator[CheckResult]:
    system = f"{platform.system()} {platform.machine()}"
    found = f"{platform.python_implementation()} {platform.python_version()}, {system}"
    if sys.version_info < _MIN_PYTHON:
        yield CheckResult(name="Python", state="failed", found=found, advice="install Python 3.11 or newer")
    else:
        yield CheckResult(name="Python", state="ok", found=found)
    library, command = (PackageRequirement(name, "").get_version() for name in ("textveil", "textveil-cli"))
    if command is not None and command == library:
        yield CheckResult(name="textveil", state="ok", found=__version__)
    else:
        found = f"library {library or 'not installed'}, command {command or 'not installed'}"
        advice = (
            "install both in one version: pip install --upgrade textveil textveil-cli "
            "(in a clone: pip install ./runtime ./cli)"
        )
        yield CheckResult(name="textveil", state="failed", found=found, advice=advice)


def _check_required_packages() -> Iterator[CheckResult]:
    """Check that all packages that the library and the command need are installed and can be imported."""
    for requirement in [*_list_requirements("textveil", ""), *_list_requirements("textveil-cli", "")]:
        if requirement.name == "textveil":
            continue
        problem = requirement.find_problem()
        if not problem:
            try:
                __import__(requirement.name)
            except Exception as error:  # a damaged package, or one for another system, may raise any error
                problem = f"installed, but cannot be imported ({type(error).__name__})"
        yield CheckResult(
            name=requirement.name,
            state="failed" if problem else "ok",
            found=problem or requirement.get_version() or "",
            advice=f"pip install --force-reinstall '{requirement.name}{requirement.bounds}'" if problem else "",
        )


def _check_entropy() -> CheckResult:
    """Check that the operating system's random generator returns bytes, and not the same bytes twice."""
    try:
        from textveil.mechanisms import random_uint64

        words = random_uint64(8)
        if len({*words.tolist()}) < 8:
            return CheckResult(
                name="randomness",
                state="failed",
                found="the operating system repeats its random numbers",
                advice="do not use this system: its surrogates can be predicted",
            )
    except (ImportError, TextveilError) as error:
        found = str(error) if isinstance(error, TextveilError) else "cannot be checked without numpy"
        return CheckResult(name="randomness", state="failed", found=found, advice="check /dev/urandom")
    return CheckResult(name="randomness", state="ok", found="generator of the operating system (os.urandom)")


def _check_bundle(bundle: BundleOptions) -> Iterator[CheckResult]:
    """Check the file hashes of the bundle (folder with word lists and settings), and sanitize a trial text."""
    try:
        sanitizer = bundle.load_sanitizer()
    except TextveilError as error:
        is_required = isinstance(error, ContentHashMismatch) and bundle.expected.has_requirements
        if is_required or isinstance(error, BundleTooLarge | WrongSigner):
            raise  # another bundle than the options require is an error, as in every command
        is_builtin = bundle.bundle is None and bundle.language is None
        advice = _REINSTALL if is_builtin else "copy, build or install this bundle again, or use the built-in one"
        yield CheckResult(name="bundle", state="failed", found=str(error), advice=advice)
        return
    except ImportError:
        yield CheckResult(name="bundle", state="failed", found="cannot be checked", advice="install the packages above")
        return
    opened = sanitizer.bundle
    origin = "built in" if opened.is_builtin else "another bundle"
    yield CheckResult(name="bundle", state="ok", found=f"{opened.path.name}, {origin}, {opened.content_hash}")
    try:
        output = sanitizer.sanitize(_TRIAL_TEXT, protect="names", style="tag").text
    except OptionError:
        return  # the bundle has no lists for the mode names
    except TextveilError as error:
        yield CheckResult(name="trial text", state="failed", found=str(error), advice=_REINSTALL)
        return
    if opened.is_builtin and output != _TRIAL_OUTPUT:
        yield CheckResult(name="trial text", state="failed", found=f"wrong output: {output}", advice=_REINSTALL)
    else:
        yield CheckResult(name="trial text", state="ok", found=output)


def _check_extras() -> Iterator[CheckResult]:
    """Check the optional packages: those of each extra (optional dependency group) of the command."""
    for extra in _list_extras("textveil-cli"):
        requirements = [*_list_requirements("textveil-cli", extra)]
        problems = [f"{one.name}: {problem}" for one in requirements if (problem := one.find_problem())]
        yield CheckResult(
            name=f"extra {extra}",
            state="missing" if problems else "ok",
            found="; ".join(problems) or ", ".join(f"{one.name} {one.get_version()}" for one in requirements),
            advice=f"pip install 'textveil-cli[{extra}]' (in a clone: pip install './cli[{extra}]')"
            if problems
            else "",
        )


@dataclass(frozen=True)
class PackageRequirement:
    """A required package with bounds on its version.

    Attributes:
        name: Name of the package.
        bounds: Bounds on its version, such as ``>=1.0``.
    """

    name: str
    bounds: str

    def get_version(self) -> str | None:
        """Return the installed version; ``None`` if the package is not installed."""
        try:
            return metadata.version(self.name)
        except metadata.PackageNotFoundError:
            return None

    def find_problem(self) -> str:
        """Return why the installed package does not meet the requirement; an empty string if it meets it."""
        version = self.get_version()
        if version is None:
            return "not installed"
        if all(_meets_bound(version, sign, bound) for sign, bound in _BOUND.findall(self.bounds)):
            return ""
        return f"version {version} is installed, {self.bounds} is needed"


def _meets_bound(version: str, sign: str, bound: str) -> bool:
    """Return whether a version meets a bound, such as ``>=`` (the sign) ``1.0`` (the bound).

    For ``==`` the texts of both must be equal. For other signs the function compares only the leading numbers of both,
    without suffixes such as ``rc1``.
    """
    numbers, limits = _parse_version(version), _parse_version(bound)
    if sign == "==":
        return version == bound
    return numbers >= limits if sign == ">=" else numbers < limits


def _parse_version(version: str) -> tuple[int, ...]:
    numbers = []
    for part in version.split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _list_extras(package: str) -> list[str]:
    try:
        return metadata.metadata(package).get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:
        return []


def _list_requirements(package: str, extra: str) -> Iterator[PackageRequirement]:
    """Yield the packages that an extra of a package requires.

    If ``extra`` is empty, yield the packages that the package itself requires. For a requirement such as
    ``textveil[crypto]`` (an extra of another package of this project), yield the packages that this extra requires.
    """
    try:
        lines = metadata.requires(package) or []
    except metadata.PackageNotFoundError:
        return
    for line in lines:
        match = _REQUIREMENT.fullmatch(line.strip())
        if match is None or (match[4] or "") != extra:
            continue
        name, inner_extras = match[1], [one.strip() for one in (match[2] or "").split(",") if one.strip()]
        if name == "textveil" and inner_extras:
            for inner in inner_extras:
                yield from _list_requirements(name, inner)
        else:
            yield PackageRequirement(name, match[3].replace(" ", ""))
