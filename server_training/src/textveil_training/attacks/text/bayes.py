"""The Bayes attack: the best guess of a token from one output of it, without context.

An attacker who knows the mechanism and a prior pi guesses, for an output y, ``g(y) = argmax_x pi(x) Pr[M(x) = y]``. By
Bayes no guess from y alone is right more often. The top-1 accuracy in closed form is

    sum_y max_x pi(x) Pr[M(x) = y],

summed over every output, the coin of common words included. The statistics of a bundle call it
``bayes_recovery_with_kept_words``. Anybody sees which words are one piece, so where the prior of the text has parts of
words too, the sum runs over both kinds. To guess ``<unk>`` rightly is to learn that a word is outside the vocabulary,
not which word it is.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from textveil_training.attacks.text import priors
from textveil_training.attacks.text.rates import rates_of, rounded, wilson_interval
from textveil_training.attacks.text.released import Released
from textveil_training.text_channel import Doubles, Ids, TextChannel

#: Tokens drawn from the prior to check the closed form.
DRAWS = 20_000


def closed_forms(
    channel: TextChannel, of_inputs: Mapping[str, Doubles], *, whole: bool, report: Callable[[int, int], None]
) -> dict[str, tuple[float, Ids]]:
    """Computes the top-1 accuracy in closed form, for several priors at once.

    Args:
        channel: The mechanism.
        of_inputs: Priors by name, shape ``(inputs,)`` each. One that sums to less than 1 gives its part of the sum.
        whole: For words in one piece, or for parts of words.
        report: Called with outputs done and outputs in all.

    Returns:
        By name of the prior: the accuracy, and the guess ``g(y)`` for every output, shape ``(symbols,)``.
    """
    outputs = np.arange(channel.unknown)
    sums = dict.fromkeys(of_inputs, 0.0)
    guesses = {name: np.zeros(channel.unknown, np.int64) for name in of_inputs}
    for part, likelihoods in channel.distribution(whole=whole).column_blocks(outputs):
        for name, prior in of_inputs.items():
            joint = likelihoods * prior
            best = joint.argmax(axis=1)
            guesses[name][part] = best
            sums[name] += float(joint[np.arange(len(part)), best].sum())
        report(int(part[-1]) + 1, len(outputs))
    return {name: (sums[name], guesses[name]) for name in of_inputs}


def bayes(
    channel: TextChannel, released: Released, *, seed: int, report: Callable[[int, int], None], draws: int = DRAWS
) -> dict[str, Any]:
    """Measures the attack under the Zipf prior and under the text's own frequencies.

    Args:
        channel: The mechanism.
        released: Texts and their outputs.
        seed: Seed of the words drawn from the prior. Their outputs are drawn with the operating system's entropy.
        report: Called with outputs done and outputs in all.
        draws: Number of words drawn from the prior to check the closed form.

    Returns:
        Under the Zipf prior: ``closed_form``, ``simulated`` with its 95 % ``interval`` (Wilson), and ``on_text``.
        ``text_prior`` holds closed form and accuracy on the text for an attacker who knows the text's frequencies.
    """
    inputs = channel.unknown + 1
    tokens, whole = released.inputs, released.whole
    public, of_text = priors.both(tokens, inputs).values()
    in_one = np.bincount(tokens[whole], minlength=inputs) / len(tokens)
    found = closed_forms(channel, {priors.ZIPF: public, priors.TEXT: in_one}, whole=True, report=report)
    parts = found
    text_sum = found[priors.TEXT][0]
    if not whole.all():
        in_parts = {priors.ZIPF: public, priors.TEXT: of_text - in_one}
        parts = closed_forms(channel, in_parts, whole=False, report=report)
        text_sum += parts[priors.TEXT][0]
    drawn = np.random.default_rng(seed).choice(inputs, draws, p=public)
    hits = int((found[priors.ZIPF][1][channel.plan.draw(drawn, np.ones(draws, bool))] == drawn).sum())

    def on_text(name: str) -> dict[str, Any]:
        guess = np.where(whole, found[name][1][released.outputs], parts[name][1][released.outputs])
        return rates_of({"top1": guess == tokens}, released.example, released.sensitive)

    return {
        "prior": priors.ZIPF,
        "without_release": rounded(public.max()),
        "closed_form": rounded(found[priors.ZIPF][0]),
        "simulated": rounded(hits / draws),
        "interval": wilson_interval(hits, draws),
        "draws": draws,
        "on_text": on_text(priors.ZIPF),
        "text_prior": {
            "without_release": rounded(of_text.max()),
            "closed_form": rounded(text_sum),
            "on_text": on_text(priors.TEXT),
        },
    }
