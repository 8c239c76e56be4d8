"""Store names that depend on the machine: words in the names of Debian's packages, and Python's own names.

    apt-cache pkgnames | python artifacts/lists/frozen_names.py

The script writes the folder `frozen`, from which the builder of the lists reads these names. Debian's names change with
every point release, and Python's names with every version. The stored names are those of Debian 12 (bookworm, main,
amd64) and Python 3.11.
"""

import builtins
import importlib
import keyword
import re
import sys

import fact_sources
import sources as src

#: Smallest frequency of a word of Debian in English texts, and fewest letters.
FREQUENCY, LETTERS = 1e-9, 4
#: Modules of Python's library whose members are listed. To import others has effects, or needs more than Python.
MODULES = (
    "abc argparse array ast asyncio base64 bisect calendar cmath codecs collections configparser contextlib copy csv"
    " ctypes dataclasses datetime decimal difflib enum errno fractions functools gc getopt gettext glob gzip hashlib"
    " heapq hmac html http importlib inspect io ipaddress itertools json keyword locale logging lzma math mimetypes"
    " multiprocessing numbers operator os pathlib pickle platform pprint queue random re secrets select shelve shlex"
    " shutil signal socket sqlite3 ssl stat statistics string struct subprocess sys tarfile tempfile textwrap threading"
    " time timeit token tokenize traceback types typing unicodedata unittest urllib uuid warnings weakref zipfile zlib"
).split()


def main() -> None:
    """Write the files of the folder `frozen`."""
    words = {word for line in sys.stdin for word in re.findall(f"[a-z]{{{LETTERS},}}", line)} - set(src.english())
    own = {*sys.stdlib_module_names, *dir(builtins), *keyword.kwlist}
    members = {name for module in MODULES for name in dir(importlib.import_module(module))} - own
    for name, entries in (
        ("debian", {word for word in words if src.measure_frequency(word) >= FREQUENCY}),
        ("python", {name for name in own if name[0] != "_"}),
        ("python-members", {name for name in members if name[0] != "_"}),
    ):
        file = fact_sources.FROZEN / f"{name}.txt"
        file.write_text("".join(f"{entry}\n" for entry in sorted(entries)), "utf-8")


if __name__ == "__main__":
    main()
