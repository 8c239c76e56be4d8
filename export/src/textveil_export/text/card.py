"""Format the model card (README) of a text bundle (data folder for rewriting texts)."""

from collections.abc import Callable, Mapping
from typing import Any

from textveil.bundle import layout

from textveil_export.text.contents import TextContents


def format_text_card(contents: TextContents, table_bytes: dict[str, int]) -> str:
    """Format the model card of a text bundle (data folder) as Markdown: content, guarantee, figures and license.

    Args:
        contents: The bundle.
        table_bytes: Size of each safetensors file in bytes, by file name.
    """
    manifest, numbers, definition = contents.manifest, contents.statistics, contents.definition
    provenance = manifest["provenance"]
    mechanisms = definition["staircase"] is not None or definition["santext"] is not None
    source = format_bullets({key: value for key, value in provenance.items() if key != "lists"})
    lists = "\n".join(f"- {key.replace('_', ' ')}: {value}" for key, value in provenance["lists"].items())
    tables = ", ".join(f"`{name}` {size:,} bytes" for name, size in table_bytes.items())
    holds = f"{numbers['vocabulary_size']:,} words; {tables}" if mechanisms else "the lists of the mode `names`"
    parts = [
        f"""# {manifest["name"]}

A textveil bundle: {holds}. `textveil info` prints its content hash."""
    ]
    if definition["staircase"] is not None:
        parts.append(_format_staircase(definition, numbers))
    if definition["santext"] is not None:
        parts.append(_format_santext(contents))
    if "names" in definition:
        parts.append(_format_names(definition["names"], contents.texts))
    if mechanisms:
        parts.append(f"""## What it does not protect

The number, order and boundaries of words, punctuation and white space (unless sanitized), case patterns (unless
dropped), and roughly what a word means. The bound of one word is against someone who knows every other word; there is
no protection of a text as a whole. Sanitizing the same text again weakens the promise.

## Contents

- {len(numbers["merged"]):,} spellings merged with a closer, more frequent one (second and later fields of
  `vocabulary.tsv`)""")
    parts.append(
        f"""## Source

{source}
{lists}

License: {manifest["license"]}. {manifest["attribution"]}""".rstrip()
    )
    if "names" in definition:
        parts.append(
            numbers["names_sources"].replace("## Sources", "## Sources of the lists of the mode names", 1).strip()
        )
    return "\n\n".join(parts) + "\n"


def _format_names(entry: dict[str, list[str]], texts: dict[str, str]) -> str:
    """Format the model card's section about the mode ``names``, which hides names."""
    common = texts[layout.COMMON_WORDS].splitlines()
    shown = sum("name" in line.partition("\t")[2].split(",") for line in common)
    rows = "\n".join(
        f"| {kind} | {_count_lines(texts, layout.ENTITY_LIST, kind)} | "
        f"{_count_lines(texts, layout.SURROGATE_POOL, kind)} |"
        for kind in sorted({*entry["entity_types"], *entry["surrogate_pools"]})
    )
    return f"""## The mode `names`

{len(common):,} common words can be kept; {shown:,} of them are also names. Every other string is
replaced by a surrogate that is sampled independently of it. Kept words are not protected, and can reveal who or
what a text is about.

| entity type | listed words | surrogates |
|---|---|---|
{rows}"""


def _count_lines(texts: dict[str, str], pattern: str, kind: str) -> str:
    """Return how many entries the word list of an entity type has, for the model card; ``-`` if there is no list."""
    content = texts.get(pattern.format(kind))
    return "-" if content is None else format(content.count("\n"), ",")


def _format_staircase(definition: dict[str, Any], numbers: dict[str, Any]) -> str:
    """Format the model card's section about the staircase mechanism (random replacement of words)."""
    levels = "\n".join(f"| {level['epsilon']} | {level['share']} |" for level in definition["staircase"]["levels"])
    kinds = ", ".join(kind["name"] for kind in definition["template"]["entity_types"])
    defaults = definition["defaults"]["staircase"]
    protect = defaults["mode"]
    epsilon = {level["name"]: level["epsilon"] for level in definition["staircase"]["levels"]}[defaults["level"]]
    return f"""## The staircase

Local differential privacy per randomized word between texts of the same template, against someone who knows every other
word: any two words make any output likelier by a factor of at most exp(epsilon). At most
{numbers["staircase_k"]} neighbors per word. \
The template is revealed: function words (unless `--protect all`), punctuation, case, and \
entity types:
{kinds}. A name or number becomes a surrogate that is sampled independently of it: only its entity type is revealed.

| epsilon per randomized word | share h of the base |
|---|---|
{levels}

The default epsilon is {epsilon} per word with `--protect {protect}`. `textveil info` prints how often a word \
is sampled from
its neighborhood, and how much a guess gains. Randomized words are other words: do not search such texts by \
similarity, and do
not pass them to a language model or a colleague who acts on them. For that use the mode `names`."""


def _format_santext(contents: TextContents) -> str:
    """Format the section of a bundle's card (description) about SanText (random replacement of words) and SanText+."""
    manifest, numbers = contents.manifest, contents.statistics
    santext, defaults = contents.definition["santext"], contents.definition["defaults"]["santext"]
    levels = "\n".join(
        f"| {name} | {mechanism} | {label['epsilon_textbook']:g} |"
        for name, mechanisms in manifest["levels"].items()
        for mechanism, label in mechanisms.items()
    )
    return f"""## SanText and SanText+

Int8 embedding rows of {numbers["dimension"]} dimensions ship with it: a device can compute distances. {numbers["k"]} \
stored neighbors per word.

Every token of a text is replaced by a random one. For the mechanism `santext` at exponent alpha the probabilities of
any output under two words at scaled distance d differ by a factor of at most exp(2 alpha d), up to integer rounding
(`rounding_slack` in every statement): metric differential privacy with the *textbook* epsilon 2 alpha. Distance 1 is
the median distance of two words of this vocabulary ({santext["median_squared_distance"]} squared int8 steps). For
`santext+`, a common word is replaced with probability {defaults["replacement_probability"]} only (the default), and
what is kept reveals itself by design.
Where the folder holds a `certificate.json`, an epsilon was also computed over all pairs of the finished table; levels
are called by it, and `textveil info` lists both. Where it holds a `statistics.json`, `textveil levels` tells
what each level does to words.

| level | mechanism | textbook epsilon |
|---|---|---|
{levels}

The default is `{defaults["level"]}` with `{defaults["mechanism"]}`.

- {numbers["kept_words"]:,} common words that `santext+` may keep
- {numbers["santext_plus_outputs"]:,} words that it may draw
- {numbers["never_output"]:,} words that nothing may draw"""


def format_bullets(provenance: Mapping[str, Any], plain: Callable[[Any], str] = str) -> str:
    """Format the origin of data (a dictionary) as a Markdown list, without empty entries.

    Args:
        provenance: Values by title, such as the name and the license of a source.
        plain: Function that converts a value to text.
    """
    entries = {key: value for key, value in provenance.items() if value not in (None, "")}
    return "\n".join(f"- {key.replace('_', ' ')}: {plain(value)}" for key, value in entries.items())


def format_percent(share: float | None) -> str:
    """Format a share from 0 to 1 as a percentage for a table cell; ``None`` becomes an empty cell."""
    return "" if share is None else f"{100 * share:.2f} %"
