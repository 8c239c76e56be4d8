"""Changes to the files of a bundle, at random, as an accident or an attacker would make them."""

import hashlib
import json
import random
from typing import Any

Files = dict[str, bytes]

_VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 255, 65_536, 2**31, 2**62, 2**63, 10**30, 10**400, 0.5, -0.0, 1e308, 5e-324),
    *("", "0", "1", "16", "17", "1/3", "9" * 40, "0.000000001", "1e9"),
    *("staircase", "santext", "../mechanism.json", "\x1b[2J"),
    *([], {}, [[]], [{}], {"": {}}, ["1", "2"], "words.txt", "manifest.json", "x" * 5000, "\ud800", "é"),
]
_NUMBERS = [0, 1, 2, 3, 127, 128, 255, 256, 32_767, 65_535, 2**31 - 1, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


def mutant(original: Files, chance: random.Random) -> tuple[Files, bool]:
    """One to three changes; whether the hashes were made anew."""
    files = dict(original)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        name = chance.choice(sorted(files))
        files[name] = _changed(files[name], name, chance)
    rehashed = chance.random() < 0.5
    if rehashed:
        rehash(files)
    return files, rehashed


def _changed(content: bytes, name: str, chance: random.Random) -> bytes:
    if name.endswith(".json") and chance.random() < 0.8:
        try:
            parsed = json.loads(content)
            _change_json(parsed, chance)
            return json.dumps(parsed).encode("utf-8", "surrogatepass")
        except (ValueError, RecursionError):
            pass
    if name.endswith(".safetensors") and len(content) > 8 and chance.random() < 0.7:
        return _change_tensors(content, chance)
    return _change_bytes(content, chance)


def _change_json(parsed: Any, chance: random.Random) -> None:
    """Replace, remove, add or duplicate an entry of a nested object or list."""
    while isinstance(parsed, dict | list) and parsed:
        key = chance.choice(sorted(parsed)) if isinstance(parsed, dict) else chance.randrange(len(parsed))
        if isinstance(parsed[key], dict | list) and parsed[key] and chance.random() < 0.8:
            parsed = parsed[key]
            continue
        way = chance.randrange(5)
        if way == 0:
            del parsed[key]
        elif way == 1 and isinstance(parsed, list):
            parsed.append(parsed[key])
        elif way == 2 and isinstance(parsed, dict):
            parsed[chance.choice(["later", "", "name", "levels", "epsilon", "files"])] = parsed[key]
        elif way == 3 and isinstance(parsed[key], str) and parsed[key]:
            place = chance.randrange(len(parsed[key]))
            parsed[key] = parsed[key][:place] + chance.choice("0123456789./-eé\t") + parsed[key][place + 1 :]
        else:
            parsed[key] = chance.choice(_VALUES)
        return


def _change_tensors(content: bytes, chance: random.Random) -> bytes:
    """Change a number of an array, or the header, whose length stays correct."""
    size = int.from_bytes(content[:8], "little")
    header, data = content[8 : 8 + size], bytearray(content[8 + size :])
    if data and chance.random() < 0.7:
        for _ in range(chance.choice((1, 1, 10))):
            width = chance.choice((1, 2, 4, 8))
            place = chance.randrange(max(1, len(data) // width)) * width
            number = chance.choice(_NUMBERS) % 2 ** (8 * width)
            data[place : place + width] = number.to_bytes(width, "little")[: len(data) - place]
        return content[: 8 + size] + bytes(data)
    try:
        parsed = json.loads(header)
        _change_json(parsed, chance)
        header = json.dumps(parsed).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        header = _change_bytes(header, chance)
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + bytes(data)


def _change_bytes(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content) + 1)
    way = chance.randrange(6)
    if way == 0:
        return content[:place]
    if way == 1:
        return content[:place] + chance.randbytes(chance.choice((1, 8, 1000))) + content[place:]
    if way == 2:
        return content[:place] + content[place + chance.choice((1, 2, 8, 100)) :]
    if way == 3:
        other = chance.randrange(len(content) + 1)
        return content[:place] + content[other : other + chance.choice((4, 64, 1000))] + content[place:]
    if place == len(content):
        return content + b"\0"
    flipped = content[place] ^ 1 << chance.randrange(8) if way == 4 else chance.choice((0, 1, 10, 34, 127, 128, 255))
    return content[:place] + bytes([flipped]) + content[place + 1 :]


def rehash(files: Files) -> None:
    """Update hashes and sizes in every file that can still be parsed."""

    def digest(name: str) -> str:
        return hashlib.sha256(files[name]).hexdigest()

    for law in ("mechanism.json", "certificate.json", "statistics.json", "manifest.json"):
        try:
            told = json.loads(files.get(law, b""))
            if law in ("certificate.json", "statistics.json"):
                told["identity"] = digest("mechanism.json")
            entries = told.get("files", {})
            for name in entries:
                if name in files:
                    fresh = {"sha256": digest(name), "bytes": len(files[name])}
                    entries[name] = fresh if law == "manifest.json" else fresh["sha256"]
            files[law] = json.dumps(told).encode("utf-8", "surrogatepass")
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            continue
