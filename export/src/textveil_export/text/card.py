"""The model card that lies in every bundle."""

from textveil.bundle import EMBEDDINGS

from textveil_export.text.build import Contents

CARD = "README.md"


def card(contents: Contents, identity: str, table_bytes: int) -> str:
    """Returns the card as Markdown: what the bundle is, what it promises, its numbers, its license."""
    manifest, numbers = contents.manifest, contents.statistics
    provenance, defaults = manifest["provenance"], contents.law["defaults"]["santext"]
    kind = "words" if contents.law["tokens"] == "word" else "WordPieces"
    levels = "\n".join(
        f"| {name} | {mechanism} | {tail} | {label['epsilon_textbook']:g} |"
        for name, mechanisms in manifest["levels"].items()
        for mechanism, tails in mechanisms.items()
        for tail, label in tails.items()
    )
    source = "\n".join(
        f"- {key.replace('_', ' ')}: {value}"
        for key, value in provenance.items()
        if key != "lists" and value is not None
    )
    lists = "\n".join(f"- {key.replace('_', ' ')}: {value}" for key, value in provenance["lists"].items())
    median = contents.law["santext"]["median_squared_distance"]
    rows = (
        f"Int8 embedding rows of {numbers['dimension']} dimensions ship with it: a device can tell distances."
        if EMBEDDINGS in contents.tensors
        else "Embedding rows are not included: a device cannot tell distances."
    )
    return f"""# {manifest["name"]}

A textveil bundle: {numbers["symbols"]:,} {kind}, {numbers["k"]} stored neighbors each, table of {table_bytes:,} bytes.
{rows}

Identity: `{identity}`

## What it promises

Every token of a text is replaced by a random one. For the mechanism `santext` at exponent alpha the probabilities of
any output under two words at scaled distance d differ by a factor of at most exp(2 alpha d), up to integer rounding
(`rounding_slack` in every statement): metric differential privacy with the *textbook* epsilon 2 alpha. Distance 1 is
the median distance of two words of this vocabulary ({median} squared int8 steps). For
`santext+`, a common word is replaced with probability {defaults["replacement_probability"]} only (the default), and
what is kept reveals itself by design.
Where the folder holds a `certificate.json`, an epsilon was also computed over all pairs of the finished table; levels
are called by it, and `textveil info` lists both. Where it holds a `statistics.json`, `textveil levels` and
`textveil calibrate` tell what each level does to words.

| level | mechanism | tail | textbook epsilon |
|---|---|---|---|
{levels}

Tail `exact`: every word has the weight of its own distance. Tail `capped`: words beyond the stored neighbors share
one weight. The default is `{defaults["level"]}` with `{defaults["mechanism"]}` and `{defaults["tail"]}` tail.

## What it does not protect

The number, order and boundaries of tokens, punctuation and white space (unless strict), case patterns (unless
dropped), common words that were kept, and roughly what a word means. Sanitizing the same text again weakens the
promise.

## Contents

- {numbers["kept_words"]:,} common words that `santext+` may keep
- {numbers["santext_plus_outputs"]:,} words that it may draw
- {numbers["never_output"]:,} words that nothing may draw
- {len(numbers["merged"]):,} spellings merged with a closer, more frequent one (second and later fields of
  `vocabulary.tsv`)

## Source

{source}
{lists}

License: {manifest["licence"]}. {manifest["attribution"]}
"""
