"""A reader of textveil bundles written from docs/format.md alone: plain Python, and `regex` for Unicode properties.

It is slow and shares no code with the runtime on purpose. `open_bundle` checks what the document demands and raises
ValueError; `sanitize_batch` draws one batch from scripted random words, so that outputs can be compared exactly.
NFKC and the case mappings are those of the Python that runs it; every other property comes from `regex`.
Where the document leaves a choice to the asker, it follows the options of docs/golden/vectors.json.
"""

import decimal
import hashlib
import itertools
import json
import math
import struct
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import regex

OUTPUT, OUTPUT_PLUS, MAY_KEEP = 1, 2, 4  # the role bits
ROLE_OF_OUTPUTS = {"santext": OUTPUT, "santext+": OUTPUT_PLUS, "random": OUTPUT, "krr": OUTPUT}
DTYPES = {"U8": "B", "I8": "b", "U16": "H", "U32": "I", "I64": "q"}
CLITICS = ("n't", "'s", "'m", "'d", "'re", "'ve", "'ll")
AUXILIARIES = """do does did is are was were am ai has have had wo ca sha could would should must might may need dare
ought""".split()
SMALLEST_WEIGHT = {"capped": 1, "exact": 2**12}
DECIMAL = r"[0-9]+(\.[0-9]+)?"
LOWEST = {"neighbours": 1, "grid": 1, "median_squared_distance": 1, "unknown_extra_squared_distance": 0}


@dataclass(frozen=True)
class Array:
    """One array of a safetensors file, its values in row-major order."""

    dtype: str
    shape: list[int]
    values: tuple[int, ...]

    def rows(self) -> list[tuple[int, ...]]:
        """The rows of a matrix."""
        width = self.shape[1]
        return [self.values[i * width : (i + 1) * width] for i in range(self.shape[0])]


@dataclass(frozen=True)
class Staircase:
    """The staircase of a bundle: levels as law.json has them, and what is drawn from."""

    levels: list[dict[str, str]]
    defaults: dict[str, str]
    neighbors: list[tuple[int, ...]]
    base: tuple[int, ...]
    roles: tuple[int, ...]
    function_words: dict[str, tuple[str, ...]]  # marks by word
    kinds: dict[str, tuple[str | None, dict[str, tuple[str, ...]]]]  # shape and marks by entry, by name


@dataclass(frozen=True)
class Bundle:
    """What a bundle says, checked. Without SanText `law` has tokens and symbols alone, and there are no arrays."""

    identity: str
    law: dict[str, Any]  # tokens, symbols and the constants and levels of SanText
    arrays: dict[str, Array]
    embeddings: list[tuple[int, ...]] | None
    spellings: list[list[str]]
    ids: dict[str, int]  # by spelling
    labels: dict[tuple[str, str, str], Decimal]  # by mechanism, tail and level name
    defaults: dict[str, Any]  # of SanText
    staircase: Staircase | None = None

    @property
    def unknown(self) -> int:
        """The input id of <unk>, which is the number of symbols."""
        return self.law["symbols"]

    def look_up(self, spelling: str) -> int:
        """The id of a spelling, or that of <unk>."""
        return self.ids.get(spelling, self.unknown)


@dataclass(frozen=True)
class Unit:
    """What is printed in one piece: a token, or all tokens of a WordPiece word."""

    ids: list[int]
    whole: bool
    case: str


@dataclass(frozen=True)
class Law:
    """A mechanism in integers: the base measure, and for an input its tail and its (output, excess) by distance.

    Where the tail is exact, `weight` is that of an input and an output, by which proposals are kept.
    """

    base: list[int]
    row: Callable[[int], tuple[int, list[tuple[int, int]]]]
    weight: Callable[[int, int], int] | None = None


# --- Opening a bundle -------------------------------------------------------------------------------------------------


def check(condition: object, complaint: str) -> None:
    """Refuse the bundle or the request unless the condition holds."""
    if not condition:
        raise ValueError(complaint)


def parse_object(data: bytes) -> dict[str, Any]:
    """A JSON object without repeated keys; numbers with a fraction become exact decimals."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        check(len({key for key, _ in pairs}) == len(pairs), "a key is repeated")
        return dict(pairs)

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} in JSON")

    text = data.decode("utf-8")
    value = json.loads(text, object_pairs_hook=unique, parse_float=Decimal, parse_constant=refuse)
    check(isinstance(value, dict), "a JSON object is needed")
    return value


def parse_safetensors(data: bytes) -> dict[str, Array]:
    """The arrays of a safetensors file: without holes, aligned, with unique names."""
    start = 8 + struct.unpack_from("<Q", data)[0]
    check(start <= len(data) and data[8:9] == b"{", "bad safetensors header")
    header = parse_object(data[8:start])
    check(all(isinstance(text, str) for text in header.pop("__metadata__", {}).values()), "bad metadata")
    arrays, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        check(set(entry) == {"dtype", "shape", "data_offsets"}, f"{name}: bad entry")
        check(all(type(n) is int and n >= 0 for n in entry["shape"] + entry["data_offsets"]), f"{name}: bad number")
        code, (begin, stop), count = DTYPES[entry["dtype"]], entry["data_offsets"], math.prod(entry["shape"])
        size = struct.calcsize(f"<{code}")
        check(begin == end and stop == begin + count * size and start + stop <= len(data), f"{name}: hole or overlap")
        check((start + begin) % size == 0, f"{name}: not aligned")
        arrays[name] = Array(entry["dtype"], entry["shape"], struct.unpack_from(f"<{count}{code}", data, start + begin))
        end = stop
    check(start + end == len(data), "data after the last array")
    return arrays


def in_parts(law: dict[str, Any], version: int) -> dict[str, Any]:
    """A law.json of either version with the keys of version 3."""
    if version == 3:
        check(set(law) == {"tokens", "symbols", "santext", "staircase", "skeleton", "defaults", "files"}, "keys")
        return law
    check(set(law) == {"tokens", "symbols", "levels", "defaults", "files", *LOWEST}, "law.json: keys")
    santext = {key: law[key] for key in ("levels", *LOWEST)}
    defaults = {"mechanism": law["defaults"]["mechanism"], "santext": law["defaults"]}
    return {**law, "santext": santext, "staircase": None, "skeleton": None, "defaults": defaults}


def check_parts(law: dict[str, Any], hashes: dict[str, str]) -> None:
    """Refuse parts that do not belong together, or to the files that the manifest lists."""
    check(law["tokens"] in ("word", "wordpiece"), "law.json: tokens")
    check(type(law["symbols"]) is int and law["symbols"] >= 1, "law.json: symbols")
    parts = {part for part in ("santext", "staircase") if law[part] is not None}
    mechanisms = {"santext", "santext+"} if "santext" in parts else set()
    check(set(law["defaults"]) == {"mechanism", *parts}, "law.json: defaults")
    check(law["defaults"]["mechanism"] in mechanisms | (parts & {"staircase"}), "law.json: the default mechanism")
    check(
        (law["staircase"] is None) == (law["skeleton"] is None), "law.json: a staircase and a skeleton need each other"
    )
    named = ["vocabulary.tsv"]
    if "santext" in parts:
        named += ["table.safetensors", *(hashes.keys() & {"embeddings.safetensors"})]
    if "staircase" in parts:
        check(law["tokens"] == "word", "law.json: a staircase of pieces")
        check(set(law["skeleton"]) == {"function_words", "kinds"}, "law.json: skeleton")
        kinds = law["skeleton"]["kinds"]
        check(all(set(kind) == {"name", "shape", "file"} for kind in kinds), "law.json: a kind")
        named += ["staircase.safetensors", law["skeleton"]["function_words"], *(kind["file"] for kind in kinds)]
    check(len(set(named)) == len(named), "law.json: a file is named twice")
    check(law["files"] == {name: hashes[name] for name in named}, "law.json: hashes")


def check_law(law: dict[str, Any], defaults: dict[str, Any], hashes: dict[str, str]) -> None:
    """Refuse a definition of SanText with a key too many or too few, or a value out of range."""
    check(set(law) == {"tokens", "symbols", "levels", *LOWEST}, "law.json: keys of santext")
    check(all(type(law[key]) is int and law[key] >= lowest for key, lowest in LOWEST.items()), "law.json: constants")
    check(law["levels"] and len({level["name"] for level in law["levels"]}) == len(law["levels"]), "law.json: levels")
    tails = set(law["levels"][0]["laws"]["santext"])
    check(tails and tails <= {"capped", "exact"}, "law.json: tails")
    check("exact" not in tails or "embeddings.safetensors" in hashes, "an exact tail without rows")
    for level in law["levels"]:
        check(set(level) == {"name", "laws"} and set(level["laws"]) == {"santext", "santext+"}, "law.json: level")
        check(all(set(laws) == tails for laws in level["laws"].values()), "law.json: different tails")
        for one in (one for laws in level["laws"].values() for one in laws.values()):
            check(set(one) == {"exponent", "weights", "base"}, "law.json: law")
            check(regex.fullmatch(DECIMAL, one["exponent"]) and Decimal(one["exponent"]) > 0, "exponent")
    check(set(defaults) == {"mechanism", "tail", "level", "replacement_probability"}, "law.json: defaults")
    check(defaults["mechanism"] in ("santext", "santext+") and defaults["tail"] in tails, "law.json: a default")
    check(any(level["name"] == defaults["level"] for level in law["levels"]), "law.json: the default level")
    p = defaults["replacement_probability"]
    check(regex.fullmatch(DECIMAL, p) and 0 < Decimal(p) <= 1, "law.json: the default probability")


def check_table(law: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Refuse a table that breaks a condition of the document."""
    symbols, k = law["symbols"], law["neighbours"]

    def need(name: str, dtype: str, shape: list[int]) -> tuple[int, ...]:
        check(arrays[name].dtype == dtype and arrays[name].shape == shape, f"{name}: type or shape")
        return arrays[name].values

    need("neighbours", "U32" if symbols > 65536 else "U16", [symbols + 1, k])
    largest = max(need("scores", "U16", [symbols + 1, k]))
    roles = need("roles", "U8", [symbols])
    check(not any(role & ~(OUTPUT | OUTPUT_PLUS | MAY_KEEP) for role in roles), "roles: an unknown bit")
    check(all(role & OUTPUT for role in roles if role & OUTPUT_PLUS), "roles: bit 2 without bit 1")
    check(not any(role & OUTPUT_PLUS and role & MAY_KEEP for role in roles), "roles: bit 2 with bit 4")
    check(any(role & OUTPUT_PLUS for role in roles), "roles: no bit 2")
    check(all(roles[y] & OUTPUT for y in arrays["neighbours"].values), "a neighbor is no candidate")
    check(all(len(set(row)) == k for row in arrays["neighbours"].rows()), "a neighbor is repeated")
    scores = arrays["scores"].rows()
    check(all(a <= b for row in scores for a, b in itertools.pairwise(row)), "scores decrease")
    nearest_last = min(row[-1] for row in scores)
    for level, mechanism in itertools.product(law["levels"], ("santext", "santext+")):
        for tail, one in level["laws"][mechanism].items():
            weights = need(one["weights"], "I64", [len(arrays[one["weights"]].values)])
            check(len(weights) > largest and weights[-1] >= SMALLEST_WEIGHT[tail], "weights: too few, or too small")
            check(all(a >= b for a, b in itertools.pairwise(weights)), "weights increase")
            check(follow(weights, Decimal(one["exponent"]), law["grid"]), "weights do not follow the exponent")
            base = (1,) * symbols
            if one["base"] is not None:
                base = need(one["base"], arrays[one["base"]].dtype, [symbols])
                check(arrays[one["base"]].dtype in ("U8", "U16", "U32"), "base: type")
            outputs = [q for q, role in zip(base, roles, strict=True) if role & ROLE_OF_OUTPUTS[mechanism]]
            check(all(q >= 1 for q in outputs), "base: below 1 for an output")
            total = weights[nearest_last] * sum(base) + weights[0] * max(base) * k
            check(total < 2**62, "totals are too large")


def follow(weights: tuple[int, ...], exponent: Decimal, grid: int) -> bool:
    """Whether weights are `exp(-alpha s / G)` times a constant, to within what the document allows."""
    exact = (weights[0] * math.exp(-float(exponent) * s / grid) for s in range(len(weights)))
    return all(abs(weight - value) <= 1 + 1e-9 * value for weight, value in zip(weights, exact, strict=True))


def read_labels(
    manifest: dict[str, Any], law: dict[str, Any], certificate: dict[str, Any] | None
) -> dict[tuple[str, str, str], Decimal]:
    """The label of every law: the certified epsilon where that is a number, else twice the exponent."""
    labels = {}
    for level, mechanism, tail in itertools.product(
        law["levels"], ("santext", "santext+"), law["levels"][0]["laws"]["santext"]
    ):
        place = level["name"], mechanism, tail
        label = 2 * Decimal(level["laws"][mechanism][tail]["exponent"])
        shown = at(manifest.get("levels", {}), place).get("epsilon_certified")
        if shown is not None:
            check(type(shown) in (int, Decimal) and shown > 0 and certificate is not None, "a label without proof")
            check(shown >= at(certificate["levels"], place)["epsilon_certified"], "a label below what was proven")
            label = Decimal(shown)
        labels[mechanism, tail, level["name"]] = label
    return labels


def at(entries: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    """What nested objects hold at a place; an empty object where there is none."""
    for key in place:
        entries = entries.get(key, {})
    return entries


def read_record(data: bytes | None, name: str, version: int, identity: str) -> dict[str, Any] | None:
    """A certificate or statistics, which must belong to the bundle."""
    record = None if data is None else parse_object(data)
    if record is not None:
        check((record["format"], record["format_version"]) == (name, version), f"{name}: version")
        check(record["identity"] == identity, f"{name}: of another bundle")
    return record


def open_bundle(folder: Path | str) -> Bundle:
    """Open a bundle; ValueError if it breaks a rule of the format."""
    try:
        return read_bundle(Path(folder))
    except (LookupError, TypeError, AttributeError, ArithmeticError, struct.error, OSError) as error:
        raise ValueError(f"malformed bundle: {error!r}") from error


def read_bundle(folder: Path) -> Bundle:
    """Open a bundle; malformed structures raise whatever they raise."""
    manifest = parse_object((folder / "manifest.json").read_bytes())
    version = manifest["format_version"]
    check(manifest["format"] == "textveil-bundle" and type(version) is int and version in (2, 3), "format or version")
    check(manifest["files"].keys() >= {"law.json", "vocabulary.tsv"}, "a file is not listed")
    check(all(Path(name).name == name and "\\" not in name for name in manifest["files"]), "not a plain file name")
    data = {name: (folder / name).read_bytes() for name in manifest["files"]}
    for name, entry in manifest["files"].items():
        check(len(data[name]) == entry["bytes"], f"{name}: size")
        check(hashlib.sha256(data[name]).hexdigest() == entry["sha256"], f"{name}: hash")
    hashes = {name: entry["sha256"] for name, entry in manifest["files"].items()}
    whole = in_parts(parse_object(data["law.json"]), version)
    check_parts(whole, hashes)
    law = {"tokens": whole["tokens"], "symbols": whole["symbols"]}
    identity = (
        hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest() if version == 3 else hashes["law.json"]
    )
    *lines, rest = data["vocabulary.tsv"].decode("utf-8").split("\n")
    check(len(lines) == law["symbols"] and not rest, "vocabulary.tsv: number of lines")
    spellings = [line.split("\t") for line in lines]
    ids = {spelling: i for i, line in enumerate(spellings) for spelling in line}
    check("" not in ids and len(ids) == sum(map(len, spellings)), "vocabulary.tsv: empty or repeated spelling")
    staircase = None if whole["staircase"] is None else read_staircase(whole, data)
    if whole["santext"] is None:
        return Bundle(identity, law, {}, None, spellings, ids, {}, {}, staircase)
    law |= whole["santext"]
    defaults = whole["defaults"]["santext"]
    check_law(law, defaults, hashes)
    arrays, embeddings = parse_safetensors(data["table.safetensors"]), None
    check_table(law, arrays)
    if "embeddings.safetensors" in data:
        ((name, stored),) = parse_safetensors(data["embeddings.safetensors"]).items()
        check(name == "rows" and stored.dtype == "I8" and len(stored.shape) == 2, "embeddings: type")
        check(stored.shape[0] == law["symbols"] + 1, "embeddings: shape")
        squared = 255**2 * stored.shape[1] + law["unknown_extra_squared_distance"]
        check(max(squared * law["grid"] ** 2, law["median_squared_distance"]) < 2**62, "constants are too large")
        embeddings = stored.rows()
    certificate = read_record(data.get("certificate.json"), "textveil-certificate", 2, hashes["law.json"])
    read_record(data.get("statistics.json"), "textveil-statistics", 1, hashes["law.json"])
    labels = read_labels(manifest, law, certificate)
    return Bundle(identity, law, arrays, embeddings, spellings, ids, labels, defaults, staircase)


def score(bundle: Bundle, x: int, y: int) -> int:
    """The score of an input and a symbol, from the embeddings."""
    law, rows = bundle.law, bundle.embeddings
    squared = sum((a - b) ** 2 for a, b in zip(rows[x], rows[y], strict=True))
    squared += law["unknown_extra_squared_distance"] if x == bundle.unknown else 0
    return math.isqrt(squared * law["grid"] ** 2 // law["median_squared_distance"])


def recompute_row(bundle: Bundle, x: int) -> list[tuple[int, int]]:
    """The neighbors of an input and their scores, computed again from the embeddings."""
    law, rows = bundle.law, bundle.embeddings
    candidates = [y for y, role in enumerate(bundle.arrays["roles"].values) if role & OUTPUT]
    distances = {y: sum((a - b) ** 2 for a, b in zip(rows[x], rows[y], strict=True)) for y in candidates}
    nearest = sorted(candidates, key=lambda y: (distances[y], y))[: law["neighbours"]]
    return [(y, score(bundle, x, y)) for y in nearest]


# --- The staircase ----------------------------------------------------------------------------------------------------

UNIT = 2**20  # G


def read_list(data: bytes, marks: set[str]) -> dict[str, tuple[str, ...]]:
    """A list: the marks of every entry."""
    *lines, rest = data.decode("utf-8").split("\n")
    check(lines and not rest, "a list is empty, or its last line incomplete")
    split = [line.split("\t") for line in lines]
    entries = {entry: tuple(mark for part in parts for mark in part.split(",")) for entry, *parts in split}
    check(len(entries) == len(lines) and "" not in entries, "a list: an entry is empty or repeated")
    check(all(len(parts) <= 2 for parts in split), "a list: more than two columns")
    check(all(set(given) <= marks and len(set(given)) == len(given) for given in entries.values()), "a list: a mark")
    return entries


def read_staircase(law: dict[str, Any], data: dict[str, bytes]) -> Staircase:
    """The staircase and its lists; refused unless the conditions of the theorem hold."""
    arrays, symbols = parse_safetensors(data["staircase.safetensors"]), law["symbols"]
    neighbors, base, roles = arrays["neighbours"], arrays["base"], arrays["roles"]
    check(neighbors.dtype == ("U16" if symbols <= 65536 else "U32"), "stored ids: type")
    check(len(neighbors.shape) == 2 and neighbors.shape[0] == symbols and neighbors.shape[1] >= 1, "stored ids: shape")
    check((base.dtype, base.shape, roles.dtype, roles.shape) == ("U32", [symbols], "U8", [symbols]), "base or roles")
    for x, row in enumerate(neighbors.rows()):
        check(row[0] == x and max(row) < symbols and len(set(row)) == len(row), "a row of stored ids")
    check(min(base.values) >= 1 and max(roles.values) < 16, "base or roles: values")
    check(set(law["staircase"]) == {"levels"} and type(law["staircase"]["levels"]) is list, "staircase: keys")
    levels, defaults = law["staircase"]["levels"], law["defaults"]["staircase"]
    for level in levels:
        check(set(level) == {"name", "epsilon", "share", "own_share"} and type(level["name"]) is str, "a level")
        check(regex.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,9})?", level["epsilon"]), "a level: epsilon")
        check(0 < Decimal(level["epsilon"]) <= 16, "a level: epsilon is out of range")
        for key in ("share", "own_share"):
            check(regex.fullmatch(r"[0-9]{1,9}(/[1-9][0-9]{0,8})?", level[key]), f"a level: {key}")
        check(0 < Fraction(level["share"]) <= 1 and Fraction(level["own_share"]) <= 1, "a level: shares")
        check(total_of(level, sum(base.values)) < 2**62, "a level: totals are too large")
    strict = [Decimal(level["epsilon"]) for level in levels]
    check(levels and all(a < b for a, b in itertools.pairwise(strict)), "levels are out of order")
    names = [level["name"] for level in levels]
    check(len(set(names)) == len(names) and set(defaults) == {"level", "visible"}, "levels: names")
    check(defaults["level"] in names and defaults["visible"] in ("function-words", "none"), "staircase: defaults")
    described = law["skeleton"]["kinds"]
    for kind in described:
        for text in (kind["name"], *([] if kind["shape"] is None else [kind["shape"]])):
            check(regex.fullmatch(r"[a-z]+(-[a-z]+)*", text), "a kind: name or shape")
    shapes = [kind["shape"] for kind in described if kind["shape"] is not None]
    check(len(set(shapes)) == len(shapes), "a shape is repeated")
    marks = {"capitalized", "member-only"}
    kinds = {kind["name"]: (kind["shape"], read_list(data[kind["file"]], marks)) for kind in described}
    check(len(kinds) == len(described), "a kind is repeated")
    words = read_list(data[law["skeleton"]["function_words"]], {"name-like"})
    return Staircase(levels, defaults, neighbors.rows(), base.values, roles.values, words, kinds)


def factor_of(level: dict[str, str]) -> int:
    """F."""
    return math.floor((decimal.Context(prec=90).exp(Decimal(level["epsilon"])) - 1) * UNIT)


def budget_of(level: dict[str, str], mass: int) -> int:
    """H."""
    return max(1, math.floor(Fraction(level["share"]) * mass))


def total_of(level: dict[str, str], mass: int) -> int:
    """G S + F H."""
    return UNIT * mass + factor_of(level) * budget_of(level, mass)


def allowed_outputs(staircase: Staircase, visible: bool, kinds: bool) -> set[int]:
    """The symbols that may come out under a rule of the skeleton."""
    bit = {(True, True): 1, (False, True): 2, (True, False): 4, (False, False): 8}[visible, kinds]
    return {y for y, role in enumerate(staircase.roles) if role & bit}


def deal(
    staircase: Staircase, level: dict[str, str], outputs: set[int], x: int
) -> tuple[list[int], list[tuple[int, int]]]:
    """b, and the stored outputs of an input with their shares of the budget, in order."""
    b = [weight if y in outputs else 0 for y, weight in enumerate(staircase.base)]
    budget = left = budget_of(level, sum(b))
    dealt = []
    for y in staircase.neighbors[x] if x < len(b) else ():
        cap = math.floor(Fraction(level["own_share"]) * budget) if y == x else budget
        dealt.append((y, min(b[y], cap, left)))
        left -= dealt[-1][1]
    return b, dealt


def staircase_row(staircase: Staircase, level: dict[str, str], outputs: set[int], x: int) -> list[Fraction]:
    """The probability of every symbol as the output of one input."""
    b, dealt = deal(staircase, level, outputs, x)
    mass, missing = sum(b), budget_of(level, sum(b)) - sum(a for _, a in dealt)
    shares = [Fraction(0)] * len(b)
    for y, a in dealt:
        shares[y] += a
    rest = mass - sum(shares)
    shares = [a + (missing * (q - a) / rest if missing else 0) for a, q in zip(shares, b, strict=True)]
    weights = [UNIT * q + factor_of(level) * a for a, q in zip(shares, b, strict=True)]
    return [weight / total_of(level, mass) for weight in weights]


def draw_staircase(
    staircase: Staircase, level: dict[str, str], outputs: set[int], inputs: list[int], take: Callable[[int], list[int]]
) -> list[int]:
    """One output for each input: first u of all of them, then w of all of them."""
    rows = [deal(staircase, level, outputs, x) for x in inputs]
    mass = sum(rows[0][0])
    unused = [[q - dict(dealt).get(y, 0) for y, q in enumerate(b)] for b, dealt in rows]
    us = uniform_below([total_of(level, mass)] * len(inputs), take)
    ws = uniform_below([max(1, sum(rest)) for rest in unused], take)
    drawn = []
    for (b, dealt), rest, u, w in zip(rows, unused, us, ws, strict=True):
        if u < UNIT * mass:
            drawn.append(bisect_right(list(itertools.accumulate(b)), u // UNIT))
            continue
        v = (u - UNIT * mass) // factor_of(level)
        near = bisect_right(list(itertools.accumulate(a for _, a in dealt)), v)
        drawn.append(dealt[near][0] if near < len(dealt) else bisect_right(list(itertools.accumulate(rest)), w))
    return drawn


# --- Segments ---------------------------------------------------------------------------------------------------------


def one_of(pattern: str) -> Callable[[str], bool]:
    """A test of single characters ("" is never one)."""
    compiled = regex.compile(pattern, regex.V1)
    return lru_cache(1 << 16)(lambda character: compiled.fullmatch(character) is not None)


is_blank, is_mark = one_of(r"\p{White_Space}"), one_of(r"\p{P}")
is_letter = one_of(r"[\p{L}&&\p{WB=ALetter}]")
is_follower = one_of(r"[[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]--\p{S}]")
is_inner = one_of(r"[\p{WB=MidLetter}\p{WB=MidNumLet}']")
is_connector, is_alphanumeric = one_of(r"\p{Pc}"), one_of(r"[\p{L}\p{M}\p{N}]")
is_number_part, is_digit = one_of(r"[\p{Nd}\p{Sc}+\-‐‑–−.,/%#]"), one_of(r"\p{Nd}")
GAP = regex.compile(r"[\p{White_Space}\p{P}]*")
QUOTES, SOFT, ENDS, AT = set('"“”„«»'), set("‹›()[]{};—…"), set(".,:!?'‘’*_"), set("@＠﹫")
OPENING, CLOSING, JOINING = set("([{"), set(")]}"), set(" \u00a0\u2009\u202f")
DOMAINS = (
    "com org net io gov edu mil int info biz co uk de fr nl eu ru ch au ca jp cn br es pl se dk app dev xyz museum рф"
)


def is_hard(character: str) -> bool:
    """Whether it is a hard break."""
    return is_blank(character) or character in QUOTES


def is_break(character: str) -> bool:
    """Whether it is a break of either sort."""
    return is_hard(character) or character in SOFT


def is_solid(character: str) -> bool:
    """Whether it is there, and neither a break nor an end."""
    return character != "" and not is_break(character) and character not in ENDS


def char(text: str, i: int) -> str:
    """The character at a position, "" outside of the text."""
    return text[i] if 0 <= i < len(text) else ""


def skip(text: str, i: int, test: Callable[[str], bool]) -> int:
    """The first position from i on where the test fails."""
    while test(char(text, i)):
        i += 1
    return i


def letters_from(text: str, i: int) -> int:
    """The end of a letter and the letters and followers after it; i if there is no letter."""
    return skip(text, i, lambda c: is_letter(c) or is_follower(c)) if is_letter(char(text, i)) else i


def is_dot_of_host(text: str, i: int) -> bool:
    """Whether the mark at i, between letters, is a dot that makes a string."""
    after = skip(text, i + 2, is_follower)
    return (
        char(text, i) == "."
        and is_letter(char(text, i + 1))
        and (
            is_letter(char(text, after))
            or (i > 2 and text[i - 3 : i] in {a + b + c for a in "wW" for b in "wW" for c in "wW"})
        )
    )


def word_from(text: str, i: int) -> int:
    """The end of the ordinary word that starts at i; i if there is none."""
    end = letters_from(text, i)
    while end > i and is_inner(char(text, end)) and is_letter(char(text, end + 1)) and not is_dot_of_host(text, end):
        end = letters_from(text, end + 1)
    return end


def quoted_from(text: str, i: int) -> int:
    """The end of the quoted name that starts at i; i if there is none."""
    end = skip(text, i + 1, lambda c: c not in ("", '"', "\n", "\r"))
    first, last = char(text, i + 1), char(text, end - 1)
    found = char(text, i) == char(text, end) == '"' and end > i + 1 and char(text, end + 1) in AT
    return end + 1 if found and not (is_blank(first) or first in AT or is_blank(last)) else i


def bracketed_from(text: str, i: int) -> int:
    """The end of the word in brackets that starts at i; i if there is none."""
    if char(text, i) not in OPENING or not is_solid(char(text, i - 1)):
        return i
    end = word_from(text, i + 1)
    goes_on = is_solid(char(text, end + 1)) or quoted_from(text, end + 1) > end + 1
    return end + 1 if end > i + 1 and char(text, end) in CLOSING and goes_on else i


def emoticon_from(text: str, i: int) -> int:
    """The end of the emoticon that starts at i; i if there is none."""
    if char(text, i) not in (":", ";") or not (i == 0 or is_blank(text[i - 1])):
        return i
    mouth = i + 1 + (char(text, i + 1) == "'")
    mouth += char(text, mouth) == "-"
    brackets = skip(text, mouth, lambda c: c in OPENING | CLOSING)
    nose = i + 1 + (char(text, i + 1) == "-")
    word = word_from(text, nose)
    ends = [brackets] if brackets > mouth else [mouth + 1] if char(text, mouth) in ("/", "\\", "*") else []
    ends += [word + 1] if word > nose and char(text, word) == ":" else []
    ends += [word] if word > nose else []
    for end in ends:
        after = char(text, skip(text, end, lambda c: c in set(".,!?")))
        if after == "" or is_blank(after):
            return end
    return i


def trigger_from(text: str, i: int) -> int:
    """The end of the trigger (but for an emoticon) that starts at i; i if there is none."""
    c, before, after = text[i], char(text, i - 1), char(text, i + 1)
    after_letter = is_letter(before) or is_follower(before)
    if not (is_blank(c) or is_mark(c) or is_letter(c) or is_follower(c)) or (is_follower(c) and not after_letter):
        return i + 1
    if c in AT or c == "\\" or (c == "%" and is_letter(after)):
        return i + 1
    if text.startswith("://", i):
        return i + 3
    if is_connector(c) and after_letter and is_letter(char(text, skip(text, i, is_connector))):
        return skip(text, i, is_connector)
    if c == "." and (after_letter or text[i - 3 : i].lower() == "www") and is_dot_of_host(text, i):
        return i + 1
    end = skip(text, i + 1, lambda c: c not in ("", "/") and not is_break(c))
    if c == "/" and not is_solid(before) and end > i + 1 and char(text, end) == "/":
        return end + 1
    return max(quoted_from(text, i), bracketed_from(text, i))


def names_host(run: str) -> bool:
    """Whether a run goes on to a hard break."""
    if run[:1] in AT or GAP.fullmatch(run):
        return False
    if "://" in run or regex.search(r"(?i:www)\.[\p{L}\p{N}]", run):
        return True
    host = (
        rf"[\p{{L}}\p{{M}}\p{{N}}]\.(\p{{L}}{{2,24}}[/?#:]|(?i:{DOMAINS.replace(' ', '|')})(?![\p{{L}}\p{{M}}\p{{N}}]))"
    )
    return not set(run) & (AT | OPENING) and regex.search(host, run) is not None


def trimmed(text: str, start: int, end: int, more: set[str]) -> tuple[int, int]:
    """A span without the ends at either side."""
    while start < end and text[start] in ENDS:
        start += 1
    while start < end and text[end - 1] in ENDS | more:
        end -= 1
    return start, end


def has_trigger(run: str) -> bool:
    """Whether there is a trigger in a text."""
    return any(trigger_from(run, i) > i or emoticon_from(run, i) > i for i in range(len(run)))


def find_strings(text: str) -> list[tuple[int, int]]:
    """The strings of a text, numbers not yet in groups."""
    found, position, i = [], 0, 0
    while i < len(text):
        emoticon, trigger = emoticon_from(text, i), trigger_from(text, i)
        if trigger == i and emoticon == i:
            i += 1
            continue
        if trigger == i:
            found.append((i, emoticon))
            position = i = emoticon
            continue
        start = max([position, *(j + 1 for j in range(position, i) if is_break(text[j]))])
        end = i
        while (further := max(quoted_from(text, end), bracketed_from(text, end))) > end or (
            end < len(text) and not is_break(text[end])
        ):
            end = further if further > end else end + 1
        first, last = trimmed(text, start, end, set())
        run = text[first:last]
        if names_host(run):
            while (further := quoted_from(text, end)) > end or (end < len(text) and not is_hard(text[end])):
                end = further if further > end else end + 1
            first, last = trimmed(text, start, end, SOFT)
            found.append((first, last))
            end = last
        elif has_trigger(run) and not GAP.fullmatch(run):
            found.append((first, last))
            end = last
        position = i = end
    return found


class Groups:
    """Numbers in groups, by recursive descent: D = E (blank? E)*, E = number | "(" D ")"."""

    def __init__(self, text: str, numbers: dict[int, int]) -> None:
        self.text, self.numbers = text, numbers

    def touches(self, i: int, step: int) -> bool:
        """Whether there is a word in brackets here, or a solid character here or behind ends."""
        first = i if step > 0 else i - 1
        while step < 0 and first >= 0 and not is_break(self.text[first]):
            first -= 1
        end = word_from(self.text, first + 1)
        closed = char(self.text, end) in CLOSING and (step > 0 or end == i)
        if end > first + 1 and char(self.text, first) in OPENING and closed:
            return True
        while char(self.text, i) in ENDS:
            i += step
        return is_solid(char(self.text, i))

    def element(self, i: int, free: bool) -> tuple[int, int, int] | None:
        """The end of an E, and the span inside its brackets."""
        if i in self.numbers:
            return self.numbers[i], i, self.numbers[i]
        if char(self.text, i) != "(" or (free and self.touches(i - 1, -1)):
            return None
        inside = self.group(i + 1, False)
        if inside is None or char(self.text, inside[0]) != ")":
            return None
        end = inside[0] + 1
        return (end, *inside[1:]) if end in self.numbers or not self.touches(end, 1) else None

    def group(self, i: int, free: bool = True) -> tuple[int, int, int] | None:
        """The end of a D, and the span of its string."""
        found = self.element(i, free)
        while found is not None:
            more = self.element(found[0], False)
            if more is None and char(self.text, found[0]) in JOINING:
                more = self.element(found[0] + 1, False)
            if more is None:
                break
            found = more[0], i, more[0]
        return found


def joined(text: str, strings: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The strings with numbers in groups."""
    numbers = {a: b for a, b in strings if all(map(is_number_part, text[a:b])) and any(map(is_digit, text[a:b]))}
    groups, found, position = Groups(text, numbers), [], 0
    for a, b in strings:
        if a not in numbers:
            found.append((a, b))
            position = b
        while position <= a:
            start = next(i for i in range(position, a + 1) if i == a or text[i:a].strip("(") == "")
            group = groups.group(start)
            if group is None:
                position = start + 1
            else:
                found.append(group[1:])
                position = group[0]
    return found


def find_segments(text: str) -> list[tuple[str, str]]:
    """Cut a text into segments, each with its kind: "gap", "word" or "string"."""
    segments: list[tuple[str, str]] = []
    strings = dict(joined(text, find_strings(text)))
    i = 0
    while i < len(text):
        if i in strings:
            kind, end = "string", strings[i]
        elif (end := word_from(text, i)) > i:
            kind = "word"
        else:
            kind, end = "gap", i + 1
        segments.append((kind, text[i:end]))
        i = end
    return segments


# --- From text to inputs ----------------------------------------------------------------------------------------------

CHINESE = (  # the blocks that BERT counts as such
    r"\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U0002A6DF\U0002A700-\U0002CEAF\U0002F800-\U0002FA1F"
)


def case_pattern(word: str) -> str:
    """lower, Title or UPPER."""
    cased = regex.sub(r"\P{Cased}", "", word)
    if regex.fullmatch(r"\p{Lowercase}+", cased):
        return "lower"
    if len(word) >= 2 and regex.fullmatch(r"\p{Uppercase}+", cased):
        return "UPPER"
    return "Title" if regex.match(r"[\p{Uppercase}\p{Lt}]", word) else "lower"


def key_of(word: str) -> str:
    """What is looked up."""
    return unicodedata.normalize("NFKC", word).lower().replace("’", "'")


def denied_ids(bundle: Bundle, entry: str) -> list[int]:
    """The symbols that an entry of a deny list stands for."""
    spelled = [bundle.ids[spelling] for spelling in (entry, key_of(entry)) if spelling in bundle.ids]
    units = [item for item in read_text(bundle, entry, False, False) if isinstance(item, Unit)]
    return spelled[:1] or [i for unit in units for i in unit.ids]


def read_word(bundle: Bundle, kind: str, word: str) -> list[Unit]:
    """The tokens of a word or string of a word bundle."""
    key = key_of(word)
    clitic = next((clitic for clitic in CLITICS if key.endswith(clitic) and key != clitic), None)
    if kind == "string":
        return [Unit([bundle.unknown], False, case_pattern(word))]
    if key in bundle.ids or clitic is None:
        return [Unit([bundle.look_up(key)], key in bundle.ids, case_pattern(word))]
    stem = key.removesuffix(clitic)
    case = case_pattern(word[: len(stem)])
    clitic_case = "UPPER" if case == "UPPER" else "lower"
    return [Unit([bundle.look_up(stem)], True, case), Unit([bundle.look_up(clitic)], True, clitic_case)]


def read_wordpieces(bundle: Bundle, kind: str, word: str) -> list[Unit]:
    """The tokens of a word or string of a WordPiece bundle, as one unit."""
    ids = [] if kind == "string" else [i for part in bert_parts(word) for i in longest_matches(bundle, part)]
    ids = ids or [bundle.unknown]
    return [Unit(ids, len(ids) == 1 and ids != [bundle.unknown], case_pattern(word))]


def bert_parts(word: str) -> list[str]:
    """BERT's uncased basic tokenizer (Devlin et al. 2019), in a compact version that suffices for the golden vectors.

    The properties are those of the installed `regex`; tokenizers with older tables differ for newer characters.
    """
    word = regex.sub(r"(?![\t\n\r])[\p{Cc}\p{Cf}\uFFFD]", "", word)
    word = regex.sub(r"\p{Mn}", "", unicodedata.normalize("NFD", word.lower()))
    return regex.sub(rf"([\p{{P}}$+<=>^`|~{CHINESE}])", r" \1 ", word).split()


def longest_matches(bundle: Bundle, part: str) -> list[int]:
    """WordPiece: the longest known prefix, again and again; one <unk> if that fails."""
    ids, position = [], 0
    while position < len(part):
        pieces = {end: "##" * (position > 0) + part[position:end] for end in range(len(part), position, -1)}
        end = next((end for end, piece in pieces.items() if piece in bundle.ids), None)
        if end is None or len(part) > 100:
            return [bundle.unknown]
        ids.append(bundle.ids[pieces[end]])
        position = end
    return ids


def read_text(bundle: Bundle, text: str, drop_case: bool, strict: bool) -> list[str | Unit]:
    """A text as gaps (plain strings) and units."""
    read = read_word if bundle.law["tokens"] == "word" else read_wordpieces
    items: list[str | Unit] = []
    for kind, part in find_segments(text):
        if kind == "gap" and strict:
            visible = regex.sub(r"\p{White_Space}", "", part)
            items += [Unit([bundle.look_up(character)], False, "lower") for character in visible]
        else:
            items += [part] if kind == "gap" else read(bundle, kind, part)
    if drop_case or strict:
        items = [Unit(item.ids, item.whole, "lower") if isinstance(item, Unit) else item for item in items]
    return items


# --- Drawing ----------------------------------------------------------------------------------------------------------


def find_law(bundle: Bundle, mechanism: str, options: dict[str, Any]) -> Law:
    """The mechanism that a request asks for: a tail, and a level by name or label; or krr with an epsilon."""
    check(mechanism in ROLE_OF_OUTPUTS, f"no mechanism {mechanism}")
    base = [1 if role & ROLE_OF_OUTPUTS[mechanism] else 0 for role in bundle.arrays["roles"].values]
    epsilon = Decimal(str(options["epsilon"])) if "epsilon" in options else None
    if mechanism == "random":
        return Law(base, lambda x: (1, []))
    if mechanism == "krr":
        check(epsilon is not None and 0 < epsilon <= 30, "epsilon is out of range")
        weight = Fraction(decimal.Context(prec=60).exp(epsilon)) * 2**15 * (1 - Fraction(1, 10**58))
        excess = max(0, math.floor(weight) - 2**15)
        return Law(base, lambda x: (2**15, [(x, excess)] if x != bundle.unknown and base[x] else []))
    tail = options.get("tail", bundle.defaults["tail"])
    called = [name for (*of, name), label in bundle.labels.items() if of == [mechanism, tail] and label == epsilon]
    check(called or epsilon is None, "no level has this label")
    named = called[0] if called else options.get("level", bundle.defaults["level"])
    laws = [level["laws"][mechanism][tail] for level in bundle.law["levels"] if level["name"] == named]
    check(laws, "no such level")
    if laws[0]["base"] is not None:
        base = [stored * output for stored, output in zip(bundle.arrays[laws[0]["base"]].values, base, strict=True)]
    weights = bundle.arrays[laws[0]["weights"]].values
    neighbors, scores = bundle.arrays["neighbours"].rows(), bundle.arrays["scores"].rows()

    def row(x: int) -> tuple[int, list[tuple[int, int]]]:
        last = weights[scores[x][-1]]
        return last, [(y, base[y] * (weights[s] - last)) for y, s in zip(neighbors[x], scores[x], strict=True)]

    def weight(x: int, y: int) -> int:
        return weights[min(score(bundle, x, y), len(weights) - 1)]

    return Law(base, row, weight if tail == "exact" else None)


def uniform_below(totals: list[int], take: Callable[[int], list[int]]) -> list[int]:
    """One integer below each total, by the rule of accepted words."""
    drawn, waiting = [0] * len(totals), list(range(len(totals)))
    while waiting:
        for i, word in zip(waiting, take(len(waiting)), strict=True):
            drawn[i] = word
        waiting = [i for i in waiting if drawn[i] > 2**64 - 1 - 2**64 % totals[i]]
    return [word % total for word, total in zip(drawn, totals, strict=True)]


def draw(law: Law, inputs: list[int], take: Callable[[int], list[int]]) -> list[int]:
    """One output for each input."""
    cumulative = list(itertools.accumulate(law.base))
    rows = [law.row(x) for x in inputs]
    totals = [tail * cumulative[-1] + sum(excess for _, excess in excesses) for tail, excesses in rows]
    outputs, pending = [0] * len(inputs), list(range(len(inputs)))
    while pending:
        in_tail = []
        for i, u in zip(pending, uniform_below([totals[i] for i in pending], take), strict=True):
            tail, excesses = rows[i]
            sums = list(itertools.accumulate((excess for _, excess in excesses), initial=0))
            found = next((y for (y, _), c in zip(excesses, sums[1:], strict=True) if u < c), None)
            outputs[i] = bisect_right(cumulative, (u - sums[-1]) // tail) if found is None else found
            if found is None:
                in_tail.append(i)
        if law.weight is None:
            break
        thresholds = uniform_below([rows[i][0] for i in in_tail], take)
        pending = [i for i, t in zip(in_tail, thresholds, strict=True) if t >= law.weight(inputs[i], outputs[i])]
    return outputs


def write_text(bundle: Bundle, items: list[str | Unit], outputs: list[int], strict: bool) -> str:
    """The output for one text; `outputs` are the drawn ids of its tokens in order."""
    written, last, ids, after_unit = "", "", iter(outputs), False
    for item in items:
        printed = item
        if isinstance(item, Unit):
            spellings = [bundle.spellings[i][0] for i in itertools.islice(ids, len(item.ids))]
            if bundle.law["tokens"] == "wordpiece":
                spellings = [spelling.removeprefix("##") for spelling in spellings]
            printed = "".join(spellings)
            if item.case != "lower":
                printed = printed.upper() if item.case == "UPPER" else printed[:1].upper() + printed[1:]
            if after_unit and printed.lower() == "n't" and not strict and last.lower() not in AUXILIARIES:
                printed = " NOT" if printed != printed.lower() else " not"
            elif after_unit and (strict or printed.lower() not in CLITICS):
                printed = " " + printed
            last = printed.strip()
        written, after_unit = written + printed, isinstance(item, Unit)
    return written


def sanitize_batch(
    bundle: Bundle, texts: list[str], options: dict[str, Any], words: Callable[[int], list[int]]
) -> tuple[list[str], list[int], int]:
    """Sanitize one batch of texts with `words(count)` as the source of random 64-bit words.

    Options, all of which may be missing: mechanism, tail, level (a name), epsilon (a label, or the epsilon of krr),
    replacement_probability, deny (texts whose tokens are not kept), case ("drop" to drop it) and strict.
    Returns the outputs, the numbers of tokens and the number of random words consumed.
    """
    consumed = []

    def take(count: int) -> list[int]:
        consumed.append(count)
        return words(count)

    mechanism = options.get("mechanism", bundle.defaults["mechanism"])
    strict, drop_case = options.get("strict", False), options.get("case") == "drop"
    law = find_law(bundle, mechanism, options)
    read = [read_text(bundle, text, drop_case, strict) for text in texts]
    counts = [sum(len(item.ids) for item in items if isinstance(item, Unit)) for items in read]
    tokens = [(i, item.whole) for items in read for item in items if isinstance(item, Unit) for i in item.ids]
    outputs: list[int | None] = [None] * len(tokens)
    if mechanism == "santext+":
        p = Fraction(str(options.get("replacement_probability", bundle.defaults["replacement_probability"])))
        check(0 < p <= 1, "replacement_probability is out of range")
        denied = {bundle.unknown, *(i for entry in options.get("deny", ()) for i in denied_ids(bundle, entry))}
        roles = bundle.arrays["roles"].values
        asked = [j for j, (i, whole) in enumerate(tokens) if whole and i not in denied and roles[i] & MAY_KEEP]
        for j, word in zip(asked, take(len(asked)), strict=True):
            outputs[j] = None if word < math.ceil(2**64 * p) else tokens[j][0]
    fresh = iter(draw(law, [i for (i, _), kept in zip(tokens, outputs, strict=True) if kept is None], take))
    final = iter([next(fresh) if kept is None else kept for kept in outputs])
    written = [
        write_text(bundle, items, list(itertools.islice(final, count)), strict)
        for items, count in zip(read, counts, strict=True)
    ]
    return written, counts, sum(consumed)
