"""The audit refutes mechanisms that break their claims, accuses no honest one, and reports where it cannot test."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from textveil.mechanisms import random_uint64
from textveil.mechanisms.staircase import Staircase, StaircaseLevel, StaircaseTable
from textveil_training.audit import (
    AuditReport,
    AuditSettings,
    Claim,
    FunctionMechanism,
    InputPair,
    InputSet,
    TestResult,
    audit_mechanism,
    format_report,
    list_sample_texts,
    parse_claim,
    procedure,
    propose_vector_pairs,
)
from textveil_training.audit.freshness import Freshness
from textveil_training.audit.sampler import find_tight_pair
from textveil_training.errors import SettingError

WORDS = [f"w{number}" for number in range(10)]
QUICK = AuditSettings(draws=4000)
#: An audit may err, so the mechanisms of these tests draw from this seed; `benchmarks/audit/run.py` draws afresh.
SEED = 20
Draw = Callable[[Sequence[Any]], Any]


def make_randomized_response(epsilon: float, outputs: int = 10) -> Draw:
    """Return k-ary randomized response on words."""
    generator = np.random.default_rng(SEED)
    kept = 1 / (1 + (outputs - 1) * math.exp(-epsilon))

    def draw(texts: Sequence[str]) -> list[str]:
        rows = np.array([int(text[1:]) for text in texts])
        others = generator.integers(0, outputs - 1, len(rows))
        drawn = np.where(generator.random(len(rows)) < kept, rows, others + (others >= rows))
        return [f"w{one}" for one in drawn]

    return draw


def run_audit(draw: Draw, claim: str, *, settings: AuditSettings = QUICK, **given: Any) -> AuditReport:
    """Audit a batched function on two words, or on given pairs."""
    pairs = given.pop("pairs", [InputPair(("w0", "w1"))])
    settings = replace(settings, seed=SEED)
    return audit_mechanism(FunctionMechanism(draw, batched=True), parse_claim(claim), pairs, settings=settings, **given)


@pytest.mark.statistical
def test_randomized_response_shows_most_of_its_epsilon_and_not_more() -> None:
    sets = [InputSet(tuple(WORDS))]
    report = run_audit(make_randomized_response(2), "2", sets=sets)
    assert report.verdict == "not refuted"
    assert [test.test for test in report.tests] == ["pair", "identification"]
    assert all(1.3 < test.bound <= 2 for test in report.tests)
    assert run_audit(make_randomized_response(2), "1", sets=sets).verdict == "refuted"


@pytest.mark.statistical
def test_the_word_that_differs_is_found_among_others_that_do_not_matter() -> None:
    inner = make_randomized_response(4)
    generator = np.random.default_rng(SEED)

    def draw(texts: Sequence[str]) -> list[str]:
        noise = generator.integers(0, 1000, (len(texts), 3)).astype(str)
        return [f"{a} {b} {word} {c}" for word, (a, b, c) in zip(inner(texts), noise, strict=True)]

    assert run_audit(draw, "1").bound > 2


@pytest.mark.statistical
def test_a_rare_word_that_is_kept_is_refuted() -> None:
    inner = make_randomized_response(1)
    draw: Draw = lambda texts: [  # noqa: E731
        f"{one} {'szeged' if text == 'w0' else 'cusco'}" for one, text in zip(inner(texts), texts, strict=True)
    ]
    assert run_audit(draw, "4").verdict == "refuted"


@pytest.mark.statistical
def test_one_noise_number_for_all_coordinates_is_refuted_and_one_for_each_is_not() -> None:
    generator = np.random.default_rng(SEED)
    rows = generator.random((2, 16))
    pairs = [InputPair((rows[0], rows[1]))]
    shared = run_audit(lambda given: np.array(given) + generator.laplace(0, 4, (len(given), 1)), "4", pairs=pairs)
    honest = run_audit(lambda given: np.array(given) + generator.laplace(0, 4, (len(given), 16)), "4", pairs=pairs)
    assert (shared.verdict, honest.verdict) == ("refuted", "not refuted")


@pytest.mark.statistical
def test_clipping_in_l2_with_laplace_noise_is_refuted() -> None:
    """ADePT on vectors: the noise has the scale of an L1 sensitivity that it does not have (Habernal 2021)."""
    generator = np.random.default_rng(SEED)
    draw: Draw = lambda rows: np.array(rows) + generator.laplace(0, 1.0, (len(rows), 64))  # noqa: E731
    report = run_audit(draw, "2", pairs=propose_vector_pairs(64, 1.0)[:1], settings=AuditSettings())
    assert report.verdict == "refuted"


@pytest.mark.statistical
def test_a_table_cut_to_its_likeliest_outputs_is_refuted() -> None:
    generator = np.random.default_rng(SEED)

    def draw(texts):
        return [
            f"w{(int(text[1:]) + jump) % 10}"
            for text, jump in zip(texts, generator.integers(0, 9, len(texts)), strict=True)
        ]

    assert run_audit(draw, "2", settings=AuditSettings()).bound > 4


@pytest.mark.statistical
def test_a_metric_claim_is_divided_by_the_distance() -> None:
    pairs = [InputPair(("w0", "w1"), distance=2.0), InputPair(("w2", "w3"), distance=8.0)]
    report = run_audit(make_randomized_response(3), "1.5*d", pairs=pairs)
    assert 1 < report.bound <= 1.5
    assert report.tests[0].description["distance"] == 2.0
    assert run_audit(make_randomized_response(3), "1*d", pairs=pairs).verdict == "refuted"


@pytest.mark.statistical
def test_a_claimed_delta_excuses_what_happens_rarely() -> None:
    generator, inner = np.random.default_rng(SEED), make_randomized_response(1)

    def draw(texts: Sequence[str]) -> list[str]:
        leaks = generator.random(len(texts)) < 0.1
        return [f"{text}!" if leak else one for text, one, leak in zip(texts, inner(texts), leaks, strict=True)]

    assert run_audit(draw, "1.2").verdict == "refuted"
    assert run_audit(draw, "1.2,0.12").verdict == "not refuted"


@pytest.mark.statistical
def test_honest_audits_raise_no_alarm() -> None:
    """At 99.9 %, 15 audits at the true epsilon; `benchmarks/audit/run.py honest` runs a thousand."""
    draw = make_randomized_response(1)
    alarms = [run_audit(draw, "1", settings=AuditSettings(draws=600)).verdict for _ in range(15)]
    assert alarms.count("refuted") == 0


@pytest.mark.statistical
def test_an_audit_that_counts_in_the_draws_it_learned_from_accuses_honest_mechanisms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The reason for fresh draws, as a planted fault: 1,000 outputs, and the event is chosen and counted at once."""
    kept: list[Any] = []
    real = procedure._Audit._draw_pair

    def repeat(self: Any, stage: str, pair: InputPair, draws: int) -> Any:
        if stage.endswith("learning"):
            kept[:] = [real(self, stage, pair, draws)]
        return kept[0] if stage.startswith("pair test") else real(self, stage, pair, draws)

    loose = AuditSettings(draws=4000, confidence=0.5)
    honest = run_audit(make_randomized_response(0.1, outputs=1000), "0.1", settings=loose)
    assert honest.bound < 0.6
    monkeypatch.setattr(procedure._Audit, "_draw_pair", repeat)
    monkeypatch.setattr("textveil_training.audit.events._STANDARD_ERRORS", 0.0)
    monkeypatch.setattr(
        "textveil_training.audit.events.norm", type("Free", (), {"isf": staticmethod(lambda share: 0.0)})
    )
    assert run_audit(make_randomized_response(0.1, outputs=1000), "0.1", settings=loose).verdict == "refuted"


def test_every_stage_has_draws_of_its_own() -> None:
    counts: list[int] = []
    generator = np.random.default_rng(SEED)

    def draw(texts: Sequence[str]) -> list[str]:
        counts.append(len(texts))
        return [f"v{one}" for one in generator.integers(0, 5, len(texts))]

    report = run_audit(draw, "1", settings=AuditSettings(draws=400), sets=[InputSet(tuple(WORDS))])
    assert report.total_draws == sum(counts)
    assert [test.draws for test in report.tests] == [400, 800]
    assert counts[-3:] == [400, 400, 800], "learning, counting, identification"


def test_a_deterministic_mechanism_is_refuted_by_one_draw_of_each_input() -> None:
    texts = tuple(f"text number {number}" for number in range(500))
    report = run_audit(lambda given: list(given), "4", pairs=[InputPair((texts[0], texts[1]))], sets=[InputSet(texts)])
    assert report.freshness.unchanged
    assert report.verdict == "refuted"
    assert report.bound > 8


def test_a_deterministic_change_of_case_is_refuted() -> None:
    texts = tuple(list_sample_texts()[:500])
    report = run_audit(lambda given: [text.upper() for text in given], "4", sets=[InputSet(texts)])
    assert report.freshness.deterministic
    assert not report.freshness.unchanged
    assert report.verdict == "refuted"
    assert report.bound > 8


@pytest.mark.parametrize("stored", ["3326179659", "0123498675", "8877777777"])
@pytest.mark.parametrize("until", [None, 1.0])
def test_a_mechanism_that_stores_its_outputs_is_not_accused(stored: str, until: float | None) -> None:
    """Honest randomized response at epsilon 1 with a memory: its first draws are honest, and repeats are no draws.

    The first and the third stored outputs are the same for both inputs of the pair, which alone hides the memory. The
    second has five right guesses of ten, whose repeats would refute the claim.
    """
    memory = {word: f"w{output}" for word, output in zip(WORDS, stored, strict=True)}
    settings = AuditSettings(draws=500, until=until)
    report = run_audit(
        lambda texts: [memory[text] for text in texts], "1", sets=[InputSet(tuple(WORDS))], settings=settings
    )
    assert report.verdict == "not tested"
    assert report.freshness.deterministic
    assert not report.freshness.constant


def test_a_process_that_stores_its_outputs_is_reported() -> None:
    inner = make_randomized_response(0.1)

    def draw(texts: Sequence[str]) -> list[str]:
        memory = {text: inner([text])[0] + str(np.random.default_rng().random()) for text in set(texts)}
        return [memory[text] for text in texts]

    report = run_audit(draw, "1", settings=AuditSettings(draws=500))
    assert report.verdict == "not tested"
    assert report.freshness.stored
    assert "turn off its store" in format_report(report)


def test_a_store_for_a_few_texts_is_reported() -> None:
    """It forgets while eight texts alternate, and repeats while two do."""
    inner = make_randomized_response(0.1)

    def draw(texts: Sequence[str]) -> list[str]:
        few = len(set(texts)) <= 4
        memory = {text: inner([text])[0] + str(np.random.default_rng().random()) for text in set(texts)}
        return [memory[text] for text in texts] if few else inner(texts)

    pairs = [InputPair((f"w{place}", f"w{place + 1}")) for place in range(8)]
    report = run_audit(draw, "1", pairs=pairs, settings=AuditSettings(draws=500))
    assert (report.verdict, report.freshness.stored) == ("not tested", True)


@pytest.mark.statistical
def test_the_staircase_of_this_library_is_not_accused() -> None:
    """On words with many neighbors, at the two inputs and the output with nearly the largest loss."""
    staircase = make_staircase()
    likely, rare, _ = find_tight_pair(staircase)

    def draw(rows: Sequence[int]) -> Any:
        return staircase.draw_symbols(np.array(rows), random_uint64)

    settings = AuditSettings(confidence=1 - 1e-9)  # the library draws from the operating system
    report = run_audit(draw, "4", pairs=[InputPair((likely, rare))], settings=settings)
    assert report.verdict == "not refuted"
    assert report.bound > 2


def make_staircase() -> Staircase:
    """Return a staircase of 400 words at epsilon 4, some of them common."""
    generator = np.random.default_rng(1)
    base = np.maximum(1, (1e6 / np.arange(1, 401)).astype(np.uint32))
    neighbors = np.array([[word, *generator.permutation(np.delete(np.arange(400), word))[:20]] for word in range(400)])
    table = StaircaseTable(neighbors.astype(np.uint16), base, np.full(400, 15, np.uint8))
    level = StaircaseLevel(name="one", epsilon=Decimal(4), share=Fraction(1, 20))
    return Staircase.from_table(table, level, np.ones(400, dtype=bool))


@pytest.mark.statistical
def test_discrete_laplace_noise_is_not_accused() -> None:
    generator = np.random.default_rng(SEED)
    share = 1 - math.exp(-1)

    def draw(rows: Sequence[int]) -> Any:
        return np.array(rows) + generator.geometric(share, len(rows)) - generator.geometric(share, len(rows))

    report = run_audit(draw, "1", pairs=[InputPair((0, 1))])
    assert report.verdict == "not refuted"
    assert report.bound > 0.5
    assert run_audit(draw, "0.5", pairs=[InputPair((0, 1))]).verdict == "refuted"


def test_a_fixed_seed_is_reported() -> None:
    def draw(texts: Sequence[str]) -> list[str]:
        generator = np.random.default_rng(0)
        return [f"w{one}" for one in generator.integers(0, 9, len(texts))]

    report = run_audit(draw, "1", settings=AuditSettings(draws=500))
    assert report.verdict == "not tested"
    assert report.freshness.seeded


@pytest.mark.parametrize("sets", [(), (InputSet(tuple(WORDS)),)])
def test_one_output_for_all_texts_reveals_nothing(sets: Sequence[InputSet]) -> None:
    report = run_audit(lambda texts: ["same"] * len(texts), "0", settings=AuditSettings(draws=200), sets=sets)
    assert (report.verdict, report.bound) == ("not refuted", 0)
    assert report.freshness.constant


@pytest.mark.statistical
def test_a_claim_of_zero_is_refuted_by_any_difference() -> None:
    assert run_audit(make_randomized_response(1), "0").verdict == "refuted"


@pytest.mark.statistical
@pytest.mark.parametrize(("claim", "verdict"), [("1", "refuted"), ("3", "not refuted")])
def test_a_bet_refutes_a_false_claim_with_few_draws(claim: str, verdict: str) -> None:
    settings = AuditSettings(draws=1500, until=5, confidence=0.99)
    report = run_audit(make_randomized_response(3), claim, settings=settings, sets=[InputSet(tuple(WORDS))])
    assert report.verdict == verdict
    assert report.bound <= 3.1
    if verdict == "refuted":
        assert report.total_draws < 2000


REPORT = AuditReport(
    claim=Claim(epsilon=4),
    freshness=Freshness(inputs=2, constant=False, deterministic=False, stored=False, seeded=False, unchanged=False),
    tests=(
        TestResult(
            test="pair",
            bound=5.7289,
            refutes=True,
            ceiling=7.1,
            half_power={},
            draws=100,
            description={"pair": "given", "event": "the whole output", "distance": 1},
        ),
    ),
    outputs="text",
    unchanged=None,
    total_draws=100,
    settings=AuditSettings(),
)


def describe(claim: float, **changes: Any) -> str:
    """Return the report of a claim whose one test has these changes."""
    test = replace(REPORT.tests[0], **changes)
    return format_report(replace(REPORT, claim=Claim(epsilon=claim), tests=(test,)))


def test_a_bound_is_rounded_down_and_printed_above_the_claim_that_it_refutes() -> None:
    assert "REFUTED: epsilon is at least 5.72, above the claim" in describe(4)
    assert "pair           epsilon at least 5.72: " in describe(4)
    assert "REFUTED: epsilon is at least 5.728, above the claim" in describe(5.725)
    assert "REFUTED: epsilon is more than 0, above the claim" in describe(0, bound=0.0, ceiling=None)
    assert "NOT REFUTED: epsilon is at least 0.00 at" in describe(4, bound=0.0, refutes=False)


def test_a_result_names_the_largest_bound_if_the_claim_is_beyond_it() -> None:
    found = describe(50, refutes=False)
    assert found.endswith("This does not prove the claim: no bound of this audit can exceed 7.1")
    assert describe(6, refutes=False).endswith("This does not prove the claim")
    assert describe(50, refutes=False, ceiling=None).endswith("This does not prove the claim")
    assert "could detect: nothing, with so few draws" in describe(1, refutes=False, bound=0.0, ceiling=0.0)


def test_a_rewriter_that_changes_nothing_needs_more_than_a_few_texts() -> None:
    sets = [InputSet(tuple(WORDS[:4]))]
    found = format_report(run_audit(lambda texts: list(texts), "4", sets=sets, settings=AuditSettings(draws=200)))
    assert "NOT TESTED" in found
    assert found.endswith("one draw of each text shows at most epsilon 0.0 here: pass more texts")


def test_a_report_has_no_text_and_is_json() -> None:
    pairs = [InputPair(("w0", "w1"), origin="given")]
    report = run_audit(make_randomized_response(1), "1", pairs=pairs, settings=AuditSettings(draws=200))
    record = json.dumps(report.to_dict())
    assert json.loads(record)["claim"] == {"epsilon": 1.0, "delta": 0.0, "per_distance": False}
    assert "w0" not in record
    assert "w0" not in format_report(report)
    assert "never more than" in format_report(report)
    assert "does not prove" in format_report(report)


@pytest.mark.parametrize("claim", ["", "-1", "nan", "four", "1,2", "1,1e-6,3", "2*x", "1e999", "inf"])
def test_a_claim_that_is_none_is_refused(claim: str) -> None:
    with pytest.raises(SettingError):
        parse_claim(claim)


def test_claims_are_read_as_written() -> None:
    assert parse_claim("4") == Claim(epsilon=4)
    assert parse_claim(" 1, 1e-6") == Claim(epsilon=1, delta=1e-6)
    assert parse_claim("3*d") == parse_claim("3 * d") == Claim(epsilon=3, per_distance=True)
    assert parse_claim("0") == Claim(epsilon=0)


@pytest.mark.parametrize("wrong", [{"draws": 10}, {"confidence": 1.0}, {"confidence": 0.1}, {"until": 0.0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        AuditSettings(**wrong)  # pyright: ignore[reportArgumentType]


def test_an_audit_without_a_pair_is_refused() -> None:
    with pytest.raises(SettingError, match="at least one pair"):
        run_audit(lambda texts: texts, "1", pairs=[])
