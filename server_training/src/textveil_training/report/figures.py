"""The figures of run records that a report shows, and the ranges they must be in."""

import math

from textveil_training.errors import RecordError
from textveil_training.report.fields import Fields

_INF = math.inf
_FINETUNE = {
    "examples": (1, _INF), "accuracy": (0, 1), "standard_error": (0, 1), "majority": (0, 1),
    "pearson": (-1, 1), "pearson_standard_error": (0, _INF), "spearman": (-1, 1), "mse": (0, _INF),
}  # fmt: skip
_PRETRAIN = {"steps": (0, _INF), "clean_top1": (0, 1), "sanitized_top1": (0, 1)}
_ATTACK = {
    "tokens": (0, _INF), "sampled_tokens": (0, _INF), "statistics.outputs_median": (0, _INF),
    "statistics.inputs_median": (0, _INF),
} | dict.fromkeys(
    (
        "unchanged", "sensitive.unchanged", "mask.defence", "mask.standard_error", "mask.top1", "mask.clean_top1",
        "mask.sensitive.defence", "nearest.top1", "nearest.top10", "nearest.sensitive.top1", "bayes.closed_form",
        "bayes.simulated", "bayes.on_text.top1", "bayes.text_prior.closed_form", "bayes.text_prior.on_text.top1",
        "contextual.top1", "contextual.top10", "contextual.prior_top1", "contextual.context_free_top1",
        "contextual.sensitive.top1", "contextual.sensitive.context_free_top1", "contextual.sensitive.targeted_top1",
        "contextual.sensitive.targeted_context_free_top1", "contextual.text_prior.top1", "contextual.text_prior.top10",
        "contextual.text_prior.prior_top1", "contextual.text_prior.context_free_top1", "statistics.unchanged_median",
    ),
    (0, 1),
)  # fmt: skip


def figures_of(kind: str, fields: Fields) -> dict[str, float]:
    """Numbers of a finished run by dotted name; those it does not have are left out.

    Args:
        kind: Of the record.
        fields: The record.

    Raises:
        RecordError: One is no number or out of range, or what the kind needs is missing.
    """
    prefix = "result.test." if kind == "finetune" else "result."
    ranges = {"finetune": _FINETUNE, "attack-text": _ATTACK, "pretrain": _PRETRAIN}.get(kind, {})
    read = {name: fields.number(prefix + name, *ends) for name, ends in ranges.items()}
    found = {name: value for name, value in read.items() if value is not None}
    if kind == "pretrain" and (texts := fields.number("data.train.texts", 0)) is not None:
        found["texts"] = texts
    if kind == "finetune" and not {"accuracy", "pearson"} & set(found):
        raise RecordError("result.test has neither accuracy nor pearson", fields.place)
    if kind == "attack-text":
        fields.needed("law", fields.at("law"))
        for count in fields.part("result.repeated"):
            if not (count.isascii() and count.isdigit()):
                raise RecordError("result.repeated has a key that is no number of releases", fields.place)
            for part in ("", "text_prior.", "sensitive."):
                rate = fields.number(f"result.repeated.{count}.{part}rate", 0, 1)
                if rate is not None:
                    found[f"repeated.{part}{int(count)}"] = rate
    return found


def intervals_of(fields: Fields) -> dict[str, tuple[float, float]]:
    """95 % intervals of an attack by the name of their figure.

    Raises:
        RecordError: One is no pair of numbers.
    """
    wanted = {"bayes.simulated": "result.bayes.interval"}
    wanted |= {f"repeated.{count}": f"result.repeated.{count}.interval" for count in fields.part("result.repeated")}
    found = {figure: fields.pair(path) for figure, path in wanted.items()}
    return {figure: ends for figure, ends in found.items() if ends is not None}
