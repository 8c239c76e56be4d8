"""Format the model card (README) of a label bundle (data for randomized class labels of texts)."""

import textwrap
from typing import Any

from textveil.bundle import HeldOutCounts, layout

from textveil_export.label.contents import LabelBundleContents
from textveil_export.text.card import format_bullets, format_percent


def format_label_card(manifest: dict[str, Any], sizes: dict[str, int], contents: LabelBundleContents) -> str:
    """Format the model card (README) of a label bundle (data for randomized class labels) as Markdown.

    Args:
        manifest: Content of ``manifest.json`` without ``files``.
        sizes: Size in bytes of each file, by file name, without manifest and card.
        contents: Content of the bundle.
    """
    release, measured = manifest["release"], manifest["measurements"]
    default = release["default"]
    static = release["extractor"]["extractor_type"] == layout.STATIC
    pin = "" if static else "--expect-id CONTENT_HASH "  # the hash covers this card, so the card cannot contain it
    return f"""# {manifest["name"]}

A textveil bundle: text to one of {release["label_count"]} labels, with one epsilon per text. {sum(sizes.values()):,}
bytes; {_format_requirements(release["extractor"])}.

```sh
# on the device: label, digits of the content hash, epsilon, randomizer
textveil encode --bundle . {pin}notes.txt -o released.txt
textveil classify --bundle . released.txt             # on the server: a label for each line
textveil classify --bundle . released.txt --counts    # an estimated count of each label, with an interval
```

`textveil info --bundle .` prints the content hash. It covers this card, the labels, the certificate and all figures.

## What it promises

For any two texts, no released label is more than exp(epsilon) times as likely for one as for the other: local \
differential
privacy of the whole text. It holds whatever the extractor computes, also for texts that are empty or too long.
Encoding the same text again is a second release, and epsilons add up. The default is randomizer \
{default["randomizer"]} at
epsilon {default["epsilon"]}.

## What it does not protect

That the tool was used, how often and when. Timing shows the length of a text. **The bundle is not private toward the
texts it was trained on.** {_format_training_data(manifest)}

{_format_held_out(contents.held_out)}{_format_sentences(contents.sentences)}{_format_codes(manifest)}## Accuracy

{_format_data(measured)}

{_format_randomizers(measured, manifest["certificate"])}

Every figure is an exact expectation over the randomness, of the test texts. *Gain* is the most by which \
anybody's guess of a
text's label gets likelier, on average. *Condition* is the condition number of the randomizer: the larger, the \
noisier are
its counts. Where there is none, the randomizer does not distinguish all labels, and counts are refused.

{_format_labels(measured)}{_format_comparison(measured)}## Source

{format_bullets(manifest["provenance"], _format_value)}

License: {manifest["license"]}.
"""


def _format_requirements(extractor: dict[str, Any]) -> str:
    """Return a sentence for the model card: which Python packages a device needs to run the model."""
    return (
        "numpy alone" if extractor["extractor_type"] == layout.STATIC else "the extra `textveil[encoder]` on the device"
    )


def _format_training_data(manifest: dict[str, Any]) -> str:
    """Format the sentences of the model card about the parts of the training data that the bundle contains."""
    if manifest["release"]["extractor"]["extractor_type"] != layout.STATIC:
        return "Its pieces of words are\nthose of the public model that it was made from."
    least = manifest["provenance"].get("min_texts", "some")
    return f"""Its words are those of a public list. No text is in it, and no row is about a word of fewer
than {least} training texts."""


def _format_held_out(held_out: HeldOutCounts | None) -> str:
    """Format the paragraph of the model card about the model's decisions on texts outside the training data."""
    if held_out is None:
        return ""
    paragraph = (
        f"`{layout.HELD_OUT}` has the decisions on {held_out.text_count:,} texts that were not trained on, as counts "
        "by "
        "label. With them a server counts the texts of each label and not only the model's decisions, if texts of a "
        "label are like the held-out ones of that label. The shares of the labels may be others."
    )
    return f"{textwrap.fill(paragraph, 118)}\n\n"


def _format_sentences(sentences: tuple[tuple[str, ...], ...]) -> str:
    """Format the section of the model card about public sentences that can be sent in place of labels."""
    if not sentences:
        return ""
    return f"""## Sentences

`textveil encode --as-text` prints one of {sum(map(len, sentences))} public sentences (`{layout.SENTENCES}`) instead
of a label. The released label alone decides which one, so the epsilon is the same. They were fixed before any \
text. None is a
paraphrase, and where the model is wrong, or another label is released, the sentence is about something else.

"""


def _format_data(measured: dict[str, Any]) -> str:
    """Format the paragraph of the model card about the numbers of texts for training, calibration and test."""
    texts = measured["texts"]
    sizes = (
        f"{texts['train']:,} texts of `{measured['data']}` for training, {texts['calibration']:,} for the randomizers, "
        f"{texts['test']:,} for these figures."
    )
    near = (
        "None of the test texts is in the other parts, nor one like it: copies, contained texts and texts that share "
        f"{measured['shared_words']} words in a row are on one side. "
        f"{measured['duplicates']:,} texts are copies of another one, the largest group has "
        f"{measured['largest_group']:,} texts, and {measured['left_out']:,} were left out because they are too close "
        "to a given test text."
    )
    paragraph = textwrap.fill(f"{sizes} {near}", 118)
    if "clean" not in measured:
        return paragraph
    clean = measured["clean"]
    return f"""{paragraph}

Without noise {format_percent(clean["accuracy"])} (standard error {format_percent(clean["standard_error"])}), balanced
{format_percent(clean["balanced_accuracy"])}. The commonest label has {format_percent(measured["majority"])}."""


def _format_randomizers(measured: dict[str, Any], certificate: list[dict[str, Any]]) -> str:
    """Format the model card's table of accuracies by epsilon and by the rule that replaces labels at random."""
    lines = [
        "| randomizer | epsilon | accuracy | balanced | worst label | gain | condition |",
        "|---|---|---|---|---|---|---|",
    ]
    for entry in certificate:
        shares = measured.get("randomizers", {}).get(entry["randomizer"], {}).get(entry["epsilon"], {})
        condition = "none" if entry["condition"] is None else f"{entry['condition']:.3g}"
        figures = [format_percent(shares.get(key)) for key in ("accuracy", "balanced_accuracy", "worst_recall")]
        cells = [entry["randomizer"], entry["epsilon"], *figures, f"{entry['guess_gain']:.3g}", condition]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _format_codes(manifest: dict[str, Any]) -> str:
    """Format the model card's section about clusters of texts; return an empty string if the labels are classes."""
    if manifest["release"]["label_type"] != layout.CLUSTER_LABELS:
        return ""
    least = manifest["provenance"].get("min_texts_of_a_cluster", "some")
    taught = manifest["provenance"].get("taught_by")
    directions = manifest["provenance"].get("directions")
    if directions is not None:
        learned = f"""
The cluster of a text is that of the nearest center, in the {directions} directions with the largest variance of the
vectors. The model is unchanged: only mean, directions and centers were learned from the texts.
"""
    elif taught is not None:
        learned = f"""
The means of the word vectors approximate the vectors of {taught["encoder"]} for
{taught["texts"]:,} of the texts. That model is not in the bundle.
"""
    else:
        learned = ""
    return f"""## Clusters

Cluster labels are numbers. The clusters were learned without class labels, and the center of each is the mean of at
least {least} different texts. A server that has the clusters of some labeled texts can predict class labels from
them. The accuracies below, if there are any, are those of this prediction.
{learned}
"""


def _format_labels(measured: dict[str, Any]) -> str:
    """Format the model card's table of recalls (shares of right decisions) by true label."""
    if "shares" not in measured:
        return ""
    lines = ["| label | share of the test texts | recall without noise | never decided by |", "|---|---|---|---|"]
    for label, share in measured["shares"].items():
        abandoned_at = [
            f"{name} at {epsilon}"
            for name, levels in measured["randomizers"].items()
            for epsilon, figures in levels.items()
            if label in figures["abandoned"]
        ]
        recall = measured["clean"]["recall"][label]
        cells = [_escape_cell(label), format_percent(share), format_percent(recall), ", ".join(abandoned_at)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(["## By label", "", *lines, "", ""])


def _format_comparison(measured: dict[str, Any]) -> str:
    """Format the model card's section that compares accuracy, size and time of the models that a bundle may contain."""
    if "compared" not in measured:  # only the older bundle ag-static has these figures
        return ""
    comparison = measured["compared"]
    levels = list(next(iter(comparison["extractors"].values()))["counts"])
    lines = [["extractor", "bytes", "time", "without noise", *(f"at {level}" for level in levels)]]
    lines.append(["---"] * len(lines[0]))
    for name, figures in comparison["extractors"].items():
        ratio = f"{comparison['time']['ratio']:g}" if name != layout.STATIC else "1"
        shares = map(format_percent, [figures["clean"], *figures["counts"].values()])
        lines.append([name, f"{figures['bytes']:,}", ratio, *shares])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    difference, error = (f"{100 * comparison[key]:.2f}" for key in ("difference", "standard_error"))
    summary = (
        f"The same {comparison['texts']:,} texts; released through `counts`. MiniLM's accuracy is larger by "
        f"{difference} points (standard error {error}): take {comparison['take']}. Time is that of one text, both "
        f"extractors in one run, on {comparison['time']['processor']}."
    )
    return f"## Extractors compared\n\n{table}\n\n{textwrap.fill(summary, 118)}\n\n"


def _format_value(value: Any) -> str:
    """Format a value of the manifest's entry ``provenance`` (origin of the data) as text."""
    if isinstance(value, dict):
        return "; ".join(f"{key.replace('_', ' ')} {_format_value(part)}" for key, part in value.items() if part != [])
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _escape_cell(text: str) -> str:
    """Escape text for a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")
