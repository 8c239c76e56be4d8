"""The Bayes attack: the best guess of a token from one output of it, without context.

An attacker who knows the mechanism and a prior pi guesses, for an output y, ``g(y) = argmax_x pi(x) Pr[M(x) = y]``. By
Bayes no guess from y alone is right more often. The top-1 accuracy in closed form is

    sum_y max_x pi(x) Pr[M(x) = y],

summed over every output, the coin of common words included. The statistics of a bundle call it
``bayes_recovery_with_kept_words``. Anybody sees which words are one piece, so where the prior of the text has parts of
words too, the sum runs over both kinds. To guess ``<unk>`` rightly is to learn that a word is outside the vocabulary,
not which word it is.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from textveil_export.leakage import one_release

from textveil_training.attacks.rates import rates_of, rounded, wilson_interval
from textveil_training.attacks.text import priors
from textveil_training.attacks.text.released import Released
from textveil_training.token_randomizer import TextChannel

#: Tokens drawn from the prior to check the closed form.
DRAWS = 20_000


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

    def step(stage: str, done: int, total: int) -> None:
        report(done, total)

    inputs = channel.unknown + 1
    tokens, whole = released.inputs, released.whole
    public, of_text = priors.both(tokens, inputs).values()
    in_one = np.bincount(tokens[whole], minlength=inputs) / len(tokens)
    guessed = one_release(channel.distribution(), {priors.ZIPF: public, priors.TEXT: in_one}, step)
    in_parts = guessed
    text_sum = guessed[priors.TEXT].rate
    if not whole.all():
        others = {priors.ZIPF: public, priors.TEXT: of_text - in_one}
        in_parts = one_release(channel.distribution(whole=False), others, step)
        text_sum += in_parts[priors.TEXT].rate
    drawn = np.random.default_rng(seed).choice(inputs, draws, p=public)
    outputs = channel.draw_ids(drawn, np.ones(draws, bool))
    hits = int((guessed[priors.ZIPF].inputs[outputs] == drawn).sum())

    def on_text(name: str) -> dict[str, Any]:
        guess = np.where(whole, *(part[name].inputs[released.outputs] for part in (guessed, in_parts)))
        return rates_of({"top1": guess == tokens}, released.example, released.sensitive)

    return {
        "prior": priors.ZIPF,
        "without_release": rounded(public.max()),
        "closed_form": rounded(guessed[priors.ZIPF].rate),
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
