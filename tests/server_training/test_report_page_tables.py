"""Tables of a report: figures that were computed by hand, and nothing averaged that does not belong together."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from run_records import attack, fairness, finetune, law, record, scores
from textveil_training.errors import RecordError
from textveil_training.report.charts import Curves, Heat, Section, Table
from textveil_training.report.page import markdown, sections
from textveil_training.report.records import read
from textveil_training.report.tables import html, plain, spread
from textveil_training.report.tables import markdown as table_markdown

Record = dict[str, Any]
Report = Callable[..., dict[str, Section]]


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """Sections of a report by name."""

    def make(*records: Record) -> dict[str, Section]:
        path = tmp_path / "runs.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return {section.name: section for section in sections(read([path]))}

    return make


def cells(table: Any) -> list[dict[str, str]]:
    """Rows by column."""
    assert isinstance(table, Table)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def plots(section: Section) -> list[Curves]:
    return [part for part in section.parts if isinstance(part, Curves)]


def test_utility_is_mean_and_deviation_over_seeds(report: Report) -> None:
    runs = [finetune(0.90), finetune(0.70, law(), 0), finetune(0.72, law(), 1), finetune(0.77, law(), 2)]
    rows = cells(report(*runs)["utility"].parts[0])
    assert [row["mechanism"] for row in rows] == ["majority class", "unsanitised", "santext"]
    assert rows[0]["accuracy"] == "50.9"
    # mean .73; deviations -.03, -.01, .04: sqrt(.0026 / 2) = .03606
    assert rows[2]["accuracy"] == "73.0 ± 3.6"
    assert rows[2]["below unsanitised"] == "17.0"
    assert rows[2]["runs (seeds)"] == "3 (0, 1, 2)"
    assert rows[1]["accuracy"] == "90.0"
    assert (rows[2]["epsilon"], rows[2]["kind of epsilon"], rows[2]["tail"]) == ("12", "certified", "exact")


def test_scores_are_correlations_and_no_per_cents(report: Report) -> None:
    rows = cells(report(scores(0.8), scores(0.5, law()), scores(0.44, law(), 1))["utility"].parts[0])
    assert rows[1]["Pearson"] == "0.470 ± 0.042"
    assert rows[1]["below unsanitised"] == "0.330"
    assert rows[1]["Spearman"] == "0.420 ± 0.042"


def test_scores_have_the_error_over_texts_where_it_is_recorded(report: Report) -> None:
    runs = [scores(0.8), scores(0.5, law())]
    runs[1]["result"]["test"]["pearson_standard_error"] = 0.0107
    rows = cells(report(*runs)["utility"].parts[0])
    assert [row["error over texts"] for row in rows] == ["", "0.011"]
    assert "error over texts" not in cells(report(runs[0])["utility"].parts[0])[0]


def copy(accuracy: float, letter: str, of: Record | None, **changes: Any) -> Record:
    """A run with frozen features on a text of its own, without a seed."""
    made = finetune(accuracy, of, tuned=False, **changes)
    made["settings"] = {name: made["settings"][name] for name in ("encoder", "tuned", "train_examples")}
    for part in made["data"]["splits"].values():
        part["sha256"] = letter * 64
    return made


def test_frozen_features_on_raw_text_are_one_run_whatever_the_seed(report: Report) -> None:
    raw = [finetune(0.84, None, s, tuned=False) | {"finished": f"2026-01-0{s + 1}T00:00:00+00:00"} for s in range(3)]
    made = report(*raw, *(copy(0.6 + 0.02 * n, letter, law()) for n, letter in enumerate("def")))
    rows = cells(made["utility"].parts[0])
    found = [(row["mechanism"], row["accuracy"], row["runs (seeds)"]) for row in rows[1:]]
    assert found == [("unsanitised", "84.0", "1"), ("santext", "62.0 ± 2.0", "3")]
    assert rows[2]["below unsanitised"] == "22.0"


def test_frozen_features_of_two_encoders_are_paired_by_copy(report: Report) -> None:
    runs = [copy(0.70 + 0.01 * n, letter, law()) for n, letter in enumerate("def")]
    start = {"encoder_sha256": "9" * 64}
    more = zip((0.72, 0.74, 0.73), "def", strict=True)
    runs += [copy(accuracy, letter, law(), encoder="mlm-raw", start=start) for accuracy, letter in more]
    rows = cells(report(*runs)["pretraining"].parts[0])
    assert (rows[1]["difference"], rows[1]["error over"]) == ("+2.0 ± 0.6", "copies, paired")


def test_raw_runs_on_other_texts_are_told_apart_and_not_averaged(report: Report) -> None:
    other = finetune(0.7)
    other["data"]["splits"]["train"]["sha256"] = "e" * 64
    rows = cells(report(finetune(0.9), other, finetune(0.6, law()))["utility"].parts[0])
    assert [row["accuracy"] for row in rows[1:]] == ["90.0", "70.0", "60.0"]
    assert [row["settings"] for row in rows[1:]] == [
        "train aaaaaaaa, test cccccccc", "train eeeeeeee, test cccccccc", "",
    ]  # fmt: skip
    assert "below unsanitised" not in rows[3]


def test_epsilon_0_w_and_p_of_santext_plus_are_told(report: Report) -> None:
    rows = cells(report(finetune(0.8, law(12.0, "santext+", share=0.9)), finetune(0.7, law()))["utility"].parts[0])
    plus = next(row for row in rows if row["mechanism"] == "santext+")
    assert (plus["epsilon_0"], plus["w"], plus["p"]) == ("1.204", "0.9", "0.3")
    assert next(row for row in rows if row["mechanism"] == "santext")["epsilon_0"] == ""


def test_kinds_of_epsilon_have_panels_and_rows_of_their_own(report: Report) -> None:
    runs = [
        finetune(accuracy, law(epsilon, epsilon_kind=kind, pure_ldp=pure))
        for epsilon, kind, accuracy, pure in (
            (10.0, "certified metric DP", 0.67, 10.5),
            (12.0, "certified metric DP", 0.72, 13.0),
            (10.0, "textbook metric DP", 0.51, None),
            (12.0, "textbook metric DP", 0.52, None),
        )
    ]
    runs += [finetune(0.6, law(10.0, "krr", epsilon_kind="pure local DP", tail=None))]
    section = report(*runs)["utility"]
    assert len(cells(section.parts[0])) == 6  # the majority, and five that are not averaged with one another
    (plot,) = plots(section)
    assert [panel.x for panel in plot.panels] == [
        "certified epsilon, per unit of distance",
        "textbook epsilon, per unit of distance",
        "pure LDP level, per token",
    ]
    drawn = [{line.label: line.points for line in panel.lines} for panel in plot.panels]
    assert drawn[0] == {"santext, exact tail, certified": ((10.0, 0.67, 0.0), (12.0, 0.72, 0.0))}
    assert drawn[1] == {"santext, exact tail, textbook": ((10.0, 0.51, 0.0), (12.0, 0.52, 0.0))}
    assert drawn[2] == {
        "krr": ((10.0, 0.6, 0.0),),
        "santext, exact tail, certified": ((10.5, 0.67, 0.0), (13.0, 0.72, 0.0)),
    }
    assert all(line.hollow == (number == 1) for number, p in enumerate(plot.panels) for line in p.lines)


def test_other_settings_other_encoders_and_other_sizes_are_not_averaged(report: Report) -> None:
    frozen = finetune(0.6, law(), tuned=False)
    subset = finetune(0.65, law())
    subset["data"]["splits"]["train"]["examples"] = 9500
    rate = [finetune(0.71, law(), learning_rate=5e-5), finetune(0.7, law())]
    tables = [part for part in report(frozen, subset, *rate)["utility"].parts if isinstance(part, Table)]
    found = {table.caption: [row["accuracy"] for row in cells(table)][1:] for table in tables}
    assert sorted(map(sorted, found.values())) == [["60.0"], ["65.0"], ["70.0", "71.0"]]
    assert any("frozen features" in caption for caption in found)
    assert any("9,500 train examples" in caption for caption in found)
    both = next(table for table in tables if len(table.rows) == 3)
    assert {row["settings"] for row in cells(both)} == {"", "learning_rate 5e-05", "learning_rate 2e-05"}


def test_a_run_that_has_not_finished_is_averaged_nowhere(report: Report) -> None:
    unfinished = finetune(0.1, law(), 1) | {"finished": None}
    found = report(finetune(0.7, law()), unfinished)
    assert cells(found["utility"].parts[0])[1]["accuracy"] == "70.0"
    rows = cells(found["compared"].parts[-1])
    assert [(row["why"], row["seed"]) for row in rows] == [("not finished", "1")]


def test_a_record_that_was_replaced_is_named(report: Report) -> None:
    later = finetune(0.8, law()) | {"finished": "2026-01-02T00:00:00+00:00"}
    found = report(finetune(0.7, law()), later)
    assert cells(found["utility"].parts[0])[1]["accuracy"] == "80.0"
    assert cells(found["compared"].parts[-1])[0]["why"] == "a later record counts"
    assert any("made again" in paragraph for paragraph in found["compared"].text)


def test_raw_text_with_other_content_is_noticed(report: Report) -> None:
    other = finetune(0.9, None, 1)
    other["data"]["splits"]["test"]["sha256"] = "f" * 64
    assert any("Not comparable" in said for said in report(finetune(0.9), other)["compared"].text)
    assert not any("Not comparable" in said for said in report(finetune(0.9), finetune(0.8, None, 1))["compared"].text)


def test_defence_is_joined_with_utility_at_the_same_law(report: Report) -> None:
    runs = [
        finetune(0.9),
        *(finetune(0.7 + 0.05 * n, law(10.0 + 2 * n)) for n in range(2)),
        finetune(0.5, law(10.0, tail="capped")),
        finetune(0.55, law(10.0, epsilon_kind="textbook")),
        attack(law(10.0), 0.9),
        attack(law(12.0), 0.8),
        attack(law(10.0, bundle="d" * 64), 0.1),
        attack(law(12.0, replacement_probability=0.5), 0.1),
    ]
    section = report(*runs)["defence"]
    found = [(row["epsilon"], row["accuracy"], row["defence rate"]) for row in cells(section.parts[0])]
    assert found == [("10", "70.0", "90.0"), ("12", "75.0", "80.0")]
    assert {row["clean top 1 of the attacker"] for row in cells(section.parts[0])} == {"47.0"}
    (plot,) = plots(section)
    (line, raw) = plot.panels[0].lines
    assert line.points == ((0.9, 0.7, 0.0), (0.8, 0.75, 0.0))
    assert raw.points == ((1 - 0.47, 0.9, 0.0),)


def test_two_attackers_of_one_law_look_different(report: Report) -> None:
    runs: list[Record] = []
    for epsilon in (10.0, 12.0):
        one, other = attack(law(epsilon), 0.8), attack(law(epsilon), 0.9)
        other["settings"]["model"] = "/somewhere/mlm-sanitized"
        runs += [finetune(0.7, law(epsilon)), one, other]
    (plot,) = (part for part in report(*runs)["defence"].parts if isinstance(part, Curves))
    lines = plot.panels[0].lines
    assert len(lines) == len({line.label for line in lines}) == len({line.key for line in lines}) == 2


def test_unsanitised_text_has_a_point_for_each_attacker(report: Report) -> None:
    """A weaker attacker defends clean text better: the mean of two would be nobody's."""
    one, other = attack(law(), 0.9), attack(law(), 0.95)
    other["settings"]["model"], other["result"]["mask"]["clean_top1"] = "mlm-weak", 0.2
    (plot,) = plots(report(finetune(0.9), finetune(0.7, law()), one, other)["defence"])
    raw = [line for line in plot.panels[0].lines if line.label.startswith("unsanitised, model mlm")]
    assert sorted(line.points[0][0] for line in raw) == pytest.approx([1 - 0.47, 1 - 0.2])
    assert len({line.key for line in raw}) == 2


def test_outputs_of_a_text_that_were_joined_are_another_law(report: Report) -> None:
    runs = [finetune(0.9), finetune(0.7, law()), finetune(0.8, law(releases=3)), attack(law(), 0.9)]
    found = report(*runs)
    rows = cells(found["utility"].parts[0])[2:]
    assert [(row["accuracy"], row["outputs of a text"]) for row in rows] == [("70.0", ""), ("80.0", "3")]
    assert len(cells(found["defence"].parts[0])) == 1, "the attack saw one output"


def test_defence_is_not_joined_across_data(report: Report) -> None:
    other = attack(law(), 0.9)
    other["data"]["format"] = "qnli"
    assert "defence" not in report(finetune(0.7, law()), other)


def test_all_attacks(report: Report) -> None:
    section = report(attack(law(), 0.8), attack(law(14.0), 0.7, contextual=None, repeated=None))["attacks"]
    mask, bayes = (cells(part) for part in section.parts)
    assert [(row["changed"], row["defence rate"], row["clean top 1"]) for row in mask] == [
        ("60.0", "80.0", "47.0"),
        ("60.0", "70.0", "47.0"),
    ]
    assert bayes[0]["Bayes, simulated"] == "54.8 [54.1, 55.5]"
    assert [bayes[0][f"{n} release{'s' if n > 1 else ''}"] for n in (1, 2, 10)] == [
        "55.0 [53.0, 57.0]",
        "72.0 [70.0, 74.0]",
        "97.0 [96.0, 98.0]",
    ]
    assert (bayes[1]["contextual top 1"], bayes[1]["10 releases"], bayes[1]["Bayes, exact"]) == ("", "", "55.0")


def test_attacks_on_a_sample_say_so(report: Report) -> None:
    rows, note = [], []
    for part in report(attack(law(), sampled_tokens=2000), attack(law(14.0)))["attacks"].parts:
        assert isinstance(part, Table)
        rows += [(row["tokens"], row["sampled tokens"]) for row in cells(part)]
        note.append(part.note)
    assert rows == [("17,046", "2,000"), ("17,046", "")] * 2
    assert all("sampled tokens" in one for one in note)
    assert "sampled tokens" not in cells(report(attack(law()))["attacks"].parts[0])[0]


def test_words_over_epsilon_once_for_each_law(report: Report) -> None:
    medians = {"unchanged_median": 0.25, "outputs_median": 3000, "inputs_median": 12345}
    runs = [attack(law(10.0), statistics=medians), attack(law(12.0)), attack(law(12.0), seed=1)]
    section = report(*runs)["words"]
    found = [(row["N, per cent"], row["S"], row["S*"]) for row in cells(section.parts[0])]
    assert found == [("25.0", "3,000", "12,345"), ("50.0", "900", "1,200")]
    (plot,) = plots(section)
    assert [panel.logarithmic for panel in plot.panels] == [False, True, True]
    assert plot.panels[1].lines[0].points == ((10.0, 3000.0, 0.0), (12.0, 900.0, 0.0))


def test_w_and_p(report: Report) -> None:
    def at(w: float | None, p: float, name: str) -> Record:
        return law(12.0, "santext+", share=w, replacement_probability=p, bundle=name * 8, bundle_name=f"bundle {name}")

    runs = [
        *[finetune(0.8 + 0.02 * seed, at(0.5, 0.3, "a"), seed) for seed in range(2)],
        finetune(0.7, at(0.9, 0.3, "b")),
        finetune(0.6, at(0.9, 0.7, "b")),
        finetune(0.1, at(0.9, 0.7, "b") | {"epsilon": 14.0}),
        finetune(0.2, at(0.9, 0.7, "b") | {"epsilon_kind": "textbook"}),
    ]
    section = report(*runs)["w-and-p"]
    table, heat = section.parts
    assert isinstance(table, Table)
    assert isinstance(heat, Heat)
    assert (table.columns, table.rows) == (
        ("w", "p 0.3", "p 0.7"),
        (("0.5", "81.0 ± 1.4", ""), ("0.9", "70.0", "60.0")),
    )
    assert heat.values == ((pytest.approx(0.81), None), (0.7, 0.6))
    assert table.shades == {(0, 1): 1.0, (1, 1): pytest.approx(10 / 21), (1, 2): 0.0}
    assert "certified epsilon 12" in table.caption
    unnamed = report(finetune(0.8, at(None, 0.3, "a")), finetune(0.7, at(None, 0.3, "b")))["w-and-p"].parts[0]
    assert isinstance(unnamed, Table)
    assert [row[0] for row in unnamed.rows] == ["bundle a", "bundle b"]
    assert "w-and-p" not in report(finetune(0.8, at(0.9, 0.3, "a")))


def pretrained(accuracy: float, seed: int, name: str = "mlm-sanitised") -> Record:
    start = {"encoder_sha256": name[-1] * 64}
    return finetune(accuracy, law(), seed, encoder=f"/a/folder/{name}", start=start)


def test_what_pretraining_adds(report: Report) -> None:
    plain_runs = [finetune(0.70 + 0.01 * seed, law(), seed) for seed in range(3)]
    paired = [pretrained(accuracy, seed) for seed, accuracy in enumerate((0.72, 0.74, 0.73))]
    unpaired = [pretrained(0.74, 5, "mlm-raw"), pretrained(0.76, 6, "mlm-raw")]
    rows = cells(report(*plain_runs, *paired, *unpaired)["pretraining"].parts[0])
    found = {row["start"]: (row["difference"], row["error over"]) for row in rows}
    # paired: .02, .03, .01: mean .02, deviation .01, over sqrt(3): .0058
    assert found["mlm-sanitised"] == ("+2.0 ± 0.6", "seeds, paired")
    # not paired: .75 - .71; variances .01^2 / 3 + .01414^2 / 2: root .01155
    assert found["mlm-raw"] == ("+4.0 ± 1.2", "seeds")
    assert found["minilm"] == ("", "")


def test_with_one_seed_the_error_is_that_of_the_examples(report: Report) -> None:
    rows = cells(report(finetune(0.7, law()), pretrained(0.72, 0))["pretraining"].parts[0])
    assert (rows[1]["difference"], rows[1]["error over"]) == ("+2.0 ± 1.6", "test examples")  # .0113 sqrt(2)


def test_masked_language_models(report: Report) -> None:
    result = {"steps": 1200, "clean_top1": 0.471, "sanitized_top1": 0.2}
    settings = {"start": "minilm", "seed": 0}
    trained = [record("pretrain", result, of, settings | {"raw": of is None}) for of in (None, law())]
    rows = cells(report(*trained)["pretraining"].parts[0])
    assert [row["trained on"] for row in rows] == ["raw text", "santext, exact tail"]
    assert (rows[0]["steps"], rows[0]["top 1, raw text"], rows[0]["top 1, sanitised text"]) == ("1,200", "47.1", "20.0")


def test_one_kind_of_record_tells_the_other_what_it_knows_of_a_law(report: Report) -> None:
    known = attack(law(pure_ldp=11.25, share=0.9, bundle_name="words"))
    row = cells(report(finetune(0.7, law(bundle_name=None)), known)["utility"].parts[0])[1]
    assert (row["pure LDP"], row["w"]) == ("11.25", "0.9")


def test_sensitive_words_and_priors_have_tables_of_their_own(report: Report) -> None:
    parts = {
        "sensitive": {"unchanged": 0.1},
        "contextual": {
            "top1": 0.6,
            "sensitive": {"top1": 0.3, "context_free_top1": 0.35, "targeted_top1": 0.42},
            "text_prior": {"top1": 0.7},
        },
        "repeated": {"2": {"rate": 0.5, "sensitive": {"rate": 0.4}, "text_prior": {"rate": 0.55}}},
    }
    found = {part.name: cells(part)[0] for part in report(attack(law(), **parts))["attacks"].parts}
    assert found["attacks-bayes"]["2 releases"] == "50.0"
    assert found["attacks-bayes-of-text"]["2 releases"] == "55.0"
    assert found["attacks-bayes-of-text"]["contextual top 1"] == "70.0"
    sensitive = found["attacks-sensitive"]
    assert (sensitive["changed"], sensitive["2 releases"]) == ("90.0", "40.0")
    assert (sensitive["contextual"], sensitive["no context"]) == ("30.0", "35.0")
    assert sensitive["among these words, contextual"] == "42.0"
    assert "among these words, no context" not in sensitive


def test_pretraining_is_compared_with_the_same_law_and_settings_only(report: Report) -> None:
    assert "pretraining" not in report(finetune(0.7, law(14.0)), finetune(0.7, law(), batch=32), pretrained(0.72, 0))


def test_subgroups(report: Report) -> None:
    rows = cells(report(fairness())["fairness"].parts[0])
    assert [row["model"] for row in rows][:2] == ["clean model", "clean model"]
    private = rows[2]
    assert (private["model"], private["epsilon"], private["draws"]) == ("representation-l1", "4", "20")
    assert private["kind of epsilon"] == "local DP of the whole text"
    assert (private["accuracy with"], private["gap"]) == ("72.0 ± 2.0", "-8.0 ± 3.0 *")
    assert private["interval"] == "[-15.0, -1.0]"
    assert (private["gap, same class"], private["change of the gap"]) == ("-4.0 ± 3.0 *", "-6.0 ± 2.0 *")
    assert (rows[3]["texts with"], rows[3]["accuracy with"], rows[3]["gap"]) == ("12", "too few", "")


@pytest.mark.parametrize("lines", [None, {}, [1], [{"result": {"attributes": [{"with": {"examples": 1}}]}}]])
def test_subgroups_that_lack_something_are_refused(report: Report, lines: Any) -> None:
    wrong = fairness()
    wrong["result"]["lines"] = lines
    with pytest.raises(RecordError, match=r"^runs.jsonl"):
        report(wrong)


def test_sections_without_records_are_left_out(report: Report) -> None:
    assert list(report(finetune(0.9))) == ["compared", "utility"]
    assert list(report(attack(law()))) == ["compared", "words", "attacks"]


def test_names_tell_laws_apart_and_no_more(report: Report) -> None:
    both = [finetune(0.7, law(e, bundle=b * 64, bundle_name="words")) for e in (10.0, 12.0) for b in "ef"]
    (plot,) = plots(report(*both)["utility"])
    assert {line.label for line in plot.panels[0].lines} == {
        "santext, exact tail, words eeeeeeee",
        "santext, exact tail, words ffffffff",
    }


HOSTILE = "<script>alert(1)</script> | `*_[x](javascript:1)_*` & \\ \n# end"


def test_names_are_text_in_html_and_in_markdown(report: Report) -> None:
    runs = [
        finetune(0.7, law(bundle_name=HOSTILE)),
        finetune(0.7, law(bundle="c" * 64), encoder=HOSTILE),
        finetune(0.7, law(mechanism=HOSTILE)),
    ]
    parts = list(report(*runs).values())
    tables = [part for section in parts for part in section.parts if isinstance(part, Table)]
    for table in tables:
        assert "<script" not in html(table)
        assert "href" not in html(table)
    rendered = MarkdownIt().enable("table").render(markdown(parts, HOSTILE))
    assert "<script" not in rendered
    assert "<a " not in rendered
    assert "<code" not in rendered
    assert rendered.count("<h1>") == 1
    assert rendered.count("<table>") == len(tables)


def test_markdown_renders_to_the_same_cells() -> None:
    table = Table("t", "a | b", ("x_1", "y*"), (("1 ± 2", "[3, 4]"), ("~5~", "")), "note")
    rendered = MarkdownIt().enable(["table", "strikethrough"]).render(table_markdown(table))
    for cell in ("<th>x_1</th>", "<th>y*</th>", "<td>1 ± 2</td>", "<td>[3, 4]</td>", "<td>~5~</td>", "<td></td>"):
        assert cell in rendered
    assert "<strong>a | b</strong>" in rendered


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(0.3, "0.3"), (5404319552844595 / 2**54, "0.3"), (12.0, "12"), (1.2039728, "1.204"), (12345.0, "12,345")],
        *[(1e-6, "0.000001"), (None, "")],
    ],
)
def test_numbers_are_short(value: float | None, text: str) -> None:
    assert plain(value) == text


def test_a_deviation_stands_only_where_there_are_several() -> None:
    assert (spread([0.5]), spread([0.5, 0.5]), spread([])) == ("50.0", "50.0 ± 0.0", "")
