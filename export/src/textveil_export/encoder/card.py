"""Format the model card (README) of an encoder bundle: its privacy guarantee, and measured or external figures."""

import textwrap
from typing import Any

from textveil_export.encoder.build import RECIPES_FILE
from textveil_export.text.card import format_bullets, format_percent

_NOISE = {
    "l1": "The vector lies in the unit L1 ball, and its noise is discrete Laplace.",
    "l2": "The vector lies in the unit L2 ball, and its noise is discrete Gaussian.",
    "box": """The vector lies in the unit cube, and its noise is discrete Laplace; epsilons are those of
the whole text: what one coordinate costs times the number of coordinates.""",
}


def format_encoder_card(
    release: dict[str, Any], manifest: dict[str, Any], sizes: dict[str, int], reproduce: str
) -> str:
    """Format the model card (README) of an encoder bundle (folder with a model for noisy vectors) as Markdown.

    Args:
        release: Entry ``release`` of ``manifest.json``: noise, epsilons and settings of the tokenizer.
        manifest: Content of ``manifest.json`` without ``files``.
        sizes: Size in bytes of each file, by file name, without manifest and card.
        reproduce: Command that builds the bundle.
    """
    measured, provenance = manifest["measurements"], manifest["provenance"]
    pieces = _format_pieces(provenance)
    return f"""# {manifest["name"]}

A textveil encoder bundle: text to a vector of {release["dimension"]} numbers, with noise that covers the whole text.
{pieces}, at most {release["max_tokens"]} of them per text. {sum(sizes.values()):,} bytes, of which the
model takes {sizes["model.onnx"]:,}.

`textveil info` prints its content hash.

```sh
textveil encode --bundle . --expect-id CONTENT_HASH --epsilon {release["default_epsilon"]} --text "..."
```

## What it promises

{_format_guarantee(release)}

- levels (epsilon of the whole text): {", ".join(release["epsilons"])}; the default is {release["default_epsilon"]}
- labels that the classifier tells apart: {", ".join(manifest["labels"])}

## What it does not protect

That the tool was used, how often and when. Timing shows the length of a text. Word dropout (`--word-dropout`) lowers
the epsilon of one word and gives the whole text nothing.

## Accuracy

{_format_accuracies(measured)}

## Size, time and memory

{_format_costs(measured)}

## Source

{format_bullets(provenance, _format_value)}

License: {manifest["license"]}.
{_format_reproduction(reproduce)}"""


def _format_pieces(provenance: dict[str, Any]) -> str:
    """Return a sentence for the model card: how many WordPieces the model has, and how they were selected."""
    if not provenance["pieces_chosen_by"]:
        return f"{provenance['pieces']:,} WordPieces"
    return (
        f"{provenance['pieces']:,} of {provenance['pieces_of_the_original']:,} WordPieces "
        f"(chosen by {provenance['pieces_chosen_by']})"
    )


def _format_guarantee(release: dict[str, Any]) -> str:
    """Format the paragraph of the model card (README) about the privacy guarantee and the noise."""
    delta = f", and by delta {release['delta']} on top" if release["delta"] is not None else ""
    return f"""For any two texts, the probabilities of any released vector differ by a factor of at most
exp(epsilon){delta}: local differential privacy of the whole text.
{_NOISE[release["noise_mode"]]}
It is brought into that set in integers after the model has run: the promise does not depend on what the model computes.
Encoding the same text again is a second release, and epsilons add up."""


def _format_accuracies(measured: dict[str, Any]) -> str:
    """Format the table of accuracies by epsilon for the model card (README)."""
    external: dict[str, Any] = measured.get("elsewhere", {"columns": {}, "notes": []})
    columns, without = external["columns"], measured["accuracy_without_noise"]
    titles = ["epsilon", "as shipped (int8)", "float32", *columns]
    lines = [titles, ["---"] * len(titles)]
    for epsilon, forms in measured["accuracy_by_epsilon"].items():
        figures = [forms["int8"], forms["float32"], *(column.get(epsilon) for column in columns.values())]
        lines.append([epsilon, *map(format_percent, figures)])
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    int8, float32 = format_percent(without["int8"]), format_percent(without["float32"])
    notes = "".join(f"\n\n{textwrap.fill(note, 118)}" for note in external["notes"])
    return f"""{measured["texts"]:,} texts of `{measured["data"]}`, {measured["truncated_texts"]} of them longer than
the model, classified by `classifier.safetensors` on a server; with noise the mean of {measured["draws"]} draws.

{rows}

Without noise: {int8} as shipped, {float32} in float32; both agree on
{format_percent(measured["agreement_without_noise"])} of the texts.{notes}"""


def _format_costs(measured: dict[str, Any]) -> str:
    """Format the list of size, time and memory for the model card (README)."""
    recipe, device = measured["int8"], measured["device"]
    speed = dict(measured["speed"])
    machine = f"on one core of {speed.pop('processor')}"
    ratios = ", ".join(f"{ratio:g} at {tokens} tokens" for tokens, ratio in speed.items())
    texts = f"{measured['int8_sample_texts']:,} texts"
    return f"""- int8 recipe: {recipe["recipe"]}, chosen by accuracy and size on {texts}; all that were tried are in
  `{RECIPES_FILE}` with their figures
- mean distance of the int8 vector from the float32 one: {recipe["deviation_l1_mean"]:g} (L1)
- times as fast as PyTorch in float32, in one run {machine}: {ratios}
- memory of a process that encodes: {device["resident_mb"]:g} MB, {device["peak_mb"]:g} MB at its peak"""


def _format_reproduction(command: str) -> str:
    """Format the section of the model card (README) with the command that builds the bundle."""
    return f"\n## How to reproduce\n\n```sh\n{command}\n```\n" if command else ""


def _format_value(value: Any) -> str:
    """Format a value of the manifest's entry ``provenance`` (origin of the model) as text."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {number}" for key, number in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
