"""Check that the default bundle is in the package, and compress wheels better than hatchling does."""

import struct
import zlib
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

try:
    import zopfli.zlib
except ImportError:  # in a build without isolation; the wheel is larger
    zopfli = None

#: Rounds in which zopfli improves its choices; more rounds take longer, and gain less than a thousandth.
_ROUNDS = 1
#: zlib compresses larger files, the neighbors and the common words: zopfli takes 7 seconds, and gains 1 %.
_MOST_BYTES = 1 << 20
_DEFLATED = 8
_UNIX = 3
#: Version 2.0 of the ZIP format, the first with deflated files.
_VERSION = 20


class RequireDefaultBundle(BuildHookInterface):
    """Runs before and after every wheel and source distribution; editable installs read the folder in place."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Refuse to build without the default bundle, which a checkout without symbolic links lacks."""
        law = Path(self.root, "src/textveil/bundle/builtin/english-v4/mechanism.json")
        if not law.is_file():
            raise FileNotFoundError(
                "src/textveil/bundle/builtin/english-v4 must be the bundle in artifacts/, a symbolic link or a copy; "
                "check out this repository with symbolic links"
            )

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Compress the files of a finished wheel again, 3 % smaller."""
        if zopfli is not None and self.target_name == "wheel" and version == "standard":
            compress_wheel(Path(artifact_path))


def compress_wheel(path: Path) -> None:
    """Write a wheel again with the same files, deflated by zopfli, or if they are large by zlib at its best level.

    The module ``zipfile`` compresses with zlib alone, and accepts no compressed data. So the function writes the
    headers of the ZIP format itself (APPNOTE, sections 4.3.7, 4.3.12 and 4.3.16).
    """
    with ZipFile(path) as wheel:
        files = [(info, wheel.read(info)) for info in wheel.infolist()]
    body, directory = bytearray(), bytearray()
    for info, content in files:
        large = len(content) > _MOST_BYTES
        packed = zlib.compress(content, 9) if large else zopfli.zlib.compress(content, numiterations=_ROUNDS)
        deflated = packed[2:-4]  # without the header and sum of zlib
        name, fields = info.filename.encode("ascii"), _pack_fields(info, len(deflated))
        directory += struct.pack("<4s2B", b"PK\1\2", _VERSION, _UNIX) + fields
        directory += struct.pack("<3H2L", 0, 0, 0, info.external_attr, len(body)) + name
        body += b"PK\3\4" + fields + name + deflated
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(files), len(files), len(directory), len(body), 0)
    path.write_bytes(body + directory + end)


def _pack_fields(info: ZipInfo, size: int) -> bytes:
    """Return the fields that both headers of a file contain, from the version to the length of the extra field."""
    year, month, day, hour, minute, second = info.date_time
    time, date = hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day
    sizes = info.CRC, size, info.file_size, len(info.filename), 0
    return struct.pack("<5H3L2H", _VERSION, 0, _DEFLATED, time, date, *sizes)
