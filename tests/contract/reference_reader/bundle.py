"""A bundle, opened and checked."""

import hashlib
import itertools
import math
import struct
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import regex

from .characters import use_characters
from .files import Array, check, parse_object, parse_safetensors
from .names import names_files, read_names
from .staircase import Staircase, read_staircase

OUTPUT, OUTPUT_PLUS, MAY_KEEP = 1, 2, 4  # the role bits
ROLE_OF_OUTPUTS = {"santext": OUTPUT, "santext+": OUTPUT_PLUS, "random": OUTPUT, "krr": OUTPUT}
SMALLEST_WEIGHT = 2**12
DECIMAL = r"[0-9]+(\.[0-9]+)?"
LOWEST = {"neighbors_per_word": 1, "grid": 1, "median_squared_distance": 1, "unknown_extra_squared_distance": 0}


@dataclass(frozen=True)
class Bundle:
    """What a bundle says, checked. Without SanText `law` has tokens and symbols alone, and there are no arrays."""

    identity: str
    law: dict[str, Any]  # tokens, symbols and the constants and levels of SanText
    arrays: dict[str, Array]
    embeddings: list[tuple[int, ...]] | None  # of SanText
    spellings: list[list[str]]
    ids: dict[str, int]  # by spelling
    labels: dict[tuple[str, str], Decimal]  # by mechanism and level name
    defaults: dict[str, Any]  # of SanText
    staircase: Staircase | None = None
    names: dict[str, Any] | None = None  # the lists of the mode `names`

    @property
    def unknown(self) -> int:
        """The input id of <unk>, which is the number of symbols."""
        return self.law["vocabulary_size"]

    def look_up(self, spelling: str) -> int:
        """Return the id of a spelling, or that of <unk>."""
        return self.ids.get(spelling, self.unknown)


def check_parts(law: dict[str, Any], hashes: dict[str, str]) -> None:
    """Refuse parts that do not belong together, or to the files that the manifest lists."""
    keys = {"vocabulary_size", "santext", "staircase", "template", "defaults", "files"}
    check(set(law) in (keys, keys | {"names"}), "mechanism.json: keys")
    parts = {part for part in ("santext", "staircase") if law[part] is not None}
    check(parts or "names" in law, "mechanism.json: no part")
    check(type(law["vocabulary_size"]) is int and law["vocabulary_size"] >= 0, "mechanism.json: symbols")
    check(
        bool(parts) == (law["vocabulary_size"] > 0), "mechanism.json: symbols without a part, or a part without symbols"
    )
    mechanisms = {"santext", "santext+"} if "santext" in parts else set()
    check(set(law["defaults"]) == {"mechanism", *parts}, "mechanism.json: defaults")
    mechanisms = mechanisms | (parts & {"staircase"}) or {None}
    check(law["defaults"]["mechanism"] in mechanisms, "mechanism.json: the default mechanism")
    check(
        (law["staircase"] is None) == (law["template"] is None),
        "mechanism.json: a staircase and a template need each other",
    )
    named = ["characters.json", *(["vocabulary.tsv"] if parts else [])]
    if "santext" in parts:
        named += ["table.safetensors", "embeddings.safetensors"]
    if "staircase" in parts:
        check(set(law["template"]) == {"function_words", "entity_types"}, "mechanism.json: template")
        kinds = law["template"]["entity_types"]
        check(all(set(kind) == {"name", "shape", "files"} for kind in kinds), "mechanism.json: a kind")
        named += ["staircase.safetensors", law["template"]["function_words"]]
        check(all(kind["files"] for kind in kinds), "mechanism.json: a kind without a file")
        named += [file for kind in kinds for file in kind["files"]]
    if "names" in law:
        named += [file for file in names_files(law["names"]) if file not in named]
    check(len(set(named)) == len(named), "mechanism.json: a file is named twice")
    check(law["files"] == {name: hashes[name] for name in named}, "mechanism.json: hashes")


def check_law(law: dict[str, Any], defaults: dict[str, Any], hashes: dict[str, str]) -> None:
    """Refuse a definition of SanText with a key too many or too few, or a value out of range."""
    check(set(law) == {"vocabulary_size", "levels", *LOWEST}, "mechanism.json: keys of santext")
    check(
        all(type(law[key]) is int and law[key] >= lowest for key, lowest in LOWEST.items()), "mechanism.json: constants"
    )
    check(
        law["levels"] and len({level["name"] for level in law["levels"]}) == len(law["levels"]),
        "mechanism.json: levels",
    )
    for level in law["levels"]:
        check(
            set(level) == {"name", "parameters"} and set(level["parameters"]) == {"santext", "santext+"},
            "mechanism.json: level",
        )
        for one in level["parameters"].values():
            check(set(one) == {"exponent", "weights", "base"}, "mechanism.json: law")
            check(regex.fullmatch(DECIMAL, one["exponent"]) and Decimal(one["exponent"]) > 0, "exponent")
    check(set(defaults) == {"mechanism", "level", "replacement_probability"}, "mechanism.json: defaults")
    check(defaults["mechanism"] in ("santext", "santext+"), "mechanism.json: a default")
    check(any(level["name"] == defaults["level"] for level in law["levels"]), "mechanism.json: the default level")
    p = defaults["replacement_probability"]
    check(regex.fullmatch(DECIMAL, p) and 0 < Decimal(p) <= 1, "mechanism.json: the default probability")


def check_table(law: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Refuse a table that breaks a condition of the document."""
    symbols, k = law["vocabulary_size"], law["neighbors_per_word"]

    def need(name: str, dtype: str, shape: list[int]) -> tuple[int, ...]:
        check(arrays[name].dtype == dtype and arrays[name].shape == shape, f"{name}: type or shape")
        return arrays[name].values

    need("neighbors", "U32" if symbols > 65536 else "U16", [symbols + 1, k])
    largest = max(need("scores", "U16", [symbols + 1, k]))
    roles = need("roles", "U8", [symbols])
    check(not any(role & ~(OUTPUT | OUTPUT_PLUS | MAY_KEEP) for role in roles), "roles: an unknown bit")
    check(all(role & OUTPUT for role in roles if role & OUTPUT_PLUS), "roles: bit 2 without bit 1")
    check(not any(role & OUTPUT_PLUS and role & MAY_KEEP for role in roles), "roles: bit 2 with bit 4")
    check(any(role & OUTPUT_PLUS for role in roles), "roles: no bit 2")
    check(all(roles[y] & OUTPUT for y in arrays["neighbors"].values), "a neighbor is not a candidate")
    check(all(len(set(row)) == k for row in arrays["neighbors"].rows()), "a neighbor is repeated")
    scores = arrays["scores"].rows()
    check(all(a <= b for row in scores for a, b in itertools.pairwise(row)), "scores decrease")
    nearest_last = min(row[-1] for row in scores)
    for level, mechanism in itertools.product(law["levels"], ("santext", "santext+")):
        one = level["parameters"][mechanism]
        weights = need(one["weights"], "I64", [len(arrays[one["weights"]].values)])
        check(len(weights) > largest and weights[-1] >= SMALLEST_WEIGHT, "weights: too few, or too small")
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
) -> dict[tuple[str, str], Decimal]:
    """Return the label of every distribution: the certified epsilon if it is a number, else twice the exponent."""
    labels = {}
    for level, mechanism in itertools.product(law["levels"], ("santext", "santext+")):
        place = level["name"], mechanism
        label = 2 * Decimal(level["parameters"][mechanism]["exponent"])
        shown = at(manifest.get("levels", {}), place).get("epsilon_certified")
        if shown is not None:
            check(type(shown) in (int, Decimal) and shown > 0 and certificate is not None, "a label without proof")
            check(shown >= at(certificate["levels"], place)["epsilon_certified"], "a label below what was proven")
            label = Decimal(shown)
        labels[mechanism, level["name"]] = label
    return labels


def at(entries: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    """Return the value of nested objects at a place; an empty object if there is none."""
    for key in place:
        entries = entries.get(key, {})
    return entries


def read_record(data: bytes | None, name: str, version: int, identity: str) -> dict[str, Any] | None:
    """Return a certificate or statistics, which must belong to the bundle."""
    record = None if data is None else parse_object(data)
    if record is not None:
        check((record["format"], record["format_version"]) == (name, version), f"{name}: version")
        check(record["mechanism_hash"] == identity, f"{name}: of another bundle")
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
    check(manifest["format"] == "textveil-bundle" and type(version) is int and version == 5, "format or version")
    check(manifest["bundle_type"] == "text", "a bundle of another kind")
    check(manifest["files"].keys() >= {"mechanism.json", "characters.json"}, "a file is not listed")
    check(all(Path(name).name == name and "\\" not in name for name in manifest["files"]), "not a plain file name")
    data = {name: (folder / name).read_bytes() for name in manifest["files"]}
    for name, entry in manifest["files"].items():
        check(len(data[name]) == entry["bytes"], f"{name}: size")
        check(hashlib.sha256(data[name]).hexdigest() == entry["sha256"], f"{name}: hash")
    hashes = {name: entry["sha256"] for name, entry in manifest["files"].items()}
    whole = parse_object(data["mechanism.json"])
    check_parts(whole, hashes)
    use_characters(data["characters.json"])
    law = {"vocabulary_size": whole["vocabulary_size"]}
    identity = hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()
    names = read_names(whole["names"], data) if "names" in whole else None
    *lines, rest = (data["vocabulary.tsv"] if law["vocabulary_size"] else b"").decode("utf-8").split("\n")
    check(len(lines) == law["vocabulary_size"] and not rest, "vocabulary.tsv: number of lines")
    spellings = [line.split("\t") for line in lines]
    ids = {spelling: i for i, line in enumerate(spellings) for spelling in line}
    check("" not in ids and len(ids) == sum(map(len, spellings)), "vocabulary.tsv: empty or repeated spelling")
    staircase = None if whole["staircase"] is None else read_staircase(whole, data)
    if whole["santext"] is None:
        return Bundle(identity, law, {}, None, spellings, ids, {}, {}, staircase, names)
    law |= whole["santext"]
    defaults = whole["defaults"]["santext"]
    check_law(law, defaults, hashes)
    arrays, embeddings = parse_safetensors(data["table.safetensors"]), None
    check_table(law, arrays)
    if "embeddings.safetensors" in data:
        ((name, stored),) = parse_safetensors(data["embeddings.safetensors"]).items()
        check(name == "rows" and stored.dtype == "I8" and len(stored.shape) == 2, "embeddings: type")
        check(stored.shape[0] == law["vocabulary_size"] + 1, "embeddings: shape")
        squared = 255**2 * stored.shape[1] + law["unknown_extra_squared_distance"]
        check(max(squared * law["grid"] ** 2, law["median_squared_distance"]) < 2**62, "constants are too large")
        embeddings = stored.rows()
    certificate = read_record(data.get("certificate.json"), "textveil-certificate", 3, hashes["mechanism.json"])
    read_record(data.get("statistics.json"), "textveil-statistics", 2, hashes["mechanism.json"])
    labels = read_labels(manifest, law, certificate)
    return Bundle(identity, law, arrays, embeddings, spellings, ids, labels, defaults, staircase, names)


def score(bundle: Bundle, x: int, y: int) -> int:
    """Return the score of an input and a symbol, from the embeddings."""
    law, rows = bundle.law, bundle.embeddings
    squared = sum((a - b) ** 2 for a, b in zip(rows[x], rows[y], strict=True))
    squared += law["unknown_extra_squared_distance"] if x == bundle.unknown else 0
    return math.isqrt(squared * law["grid"] ** 2 // law["median_squared_distance"])


def recompute_row(bundle: Bundle, x: int) -> list[tuple[int, int]]:
    """Return the neighbors of an input and their scores, computed again from the embeddings."""
    law, rows = bundle.law, bundle.embeddings
    candidates = [y for y, role in enumerate(bundle.arrays["roles"].values) if role & OUTPUT]
    distances = {y: sum((a - b) ** 2 for a, b in zip(rows[x], rows[y], strict=True)) for y in candidates}
    nearest = sorted(candidates, key=lambda y: (distances[y], y))[: law["neighbors_per_word"]]
    return [(y, score(bundle, x, y)) for y in nearest]
