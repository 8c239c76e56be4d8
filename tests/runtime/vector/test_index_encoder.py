"""``IndexEncoder``, ``IndexServer`` and their commands: every text is drawn, and a server reads the lines."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_index import LABELS, held_out_of, write_index
from textveil.errors import BundleNotFound, IdentityMismatch, InputError, OptionError, ReleaseError
from textveil.mechanisms import entropy
from textveil.vector import IndexEncoder
from textveil.vector.extractor import Extracted
from textveil_cli.collector import IndexServer, correction

SECRET = "Zorblaxia 48213977"
ODD = ("", " ", "\n", "\ud800", "\0", "market " * 500, SECRET, "ﬁ" * 200, "🦄" * 60, "'" * 60, "'s")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write_index(tmp_path / "bundle")


@pytest.fixture
def encoder(bundle: Path) -> IndexEncoder:
    return IndexEncoder.load(bundle)


class Failing:
    """An extractor that fails in one of the ways there are."""

    def __init__(self, vector: list[float]) -> None:
        self.vector = np.array(vector, dtype=np.float32)

    def extract(self, text: str) -> Extracted:
        return Extracted(self.vector, False)


def test_every_text_is_drawn(encoder: IndexEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """As much entropy for every text: none is answered without a draw, or from memory."""
    asked: list[int] = []
    real = entropy.random_uint64

    def counted(count: int) -> Any:
        asked.append(count)
        return real(count)

    monkeypatch.setattr(entropy, "random_uint64", counted)
    for text in (*ODD, "the market", "the market"):
        asked.clear()
        release = encoder.encode(text)
        assert asked[:2] == [1, 1]  # more only where a word is rejected
        assert release.index in range(3)
        assert release.notes.truncated == (len(text) > 60)
        assert SECRET not in repr(release)


@pytest.mark.parametrize("vector", [[np.nan, 1, 0], [np.inf, 0, 0], [3e38, 3e38, -3e38]])
def test_an_extractor_that_fails_changes_nothing_about_the_promise(
    encoder: IndexEncoder, vector: list[float], recwarn: pytest.WarningsRecorder
) -> None:
    encoder._extractor = Failing(vector)
    release = encoder.encode("the market")
    assert release.statement == encoder.statement()
    assert release.notes.fixed_point == (not np.isfinite(vector).all())
    if release.notes.fixed_point:
        assert encoder.secret_code("the market") == 2  # of the vector 0: the largest bias
    assert not recwarn.list  # a warning would tell something of the text


@pytest.mark.statistical
def test_indices_have_the_shares_that_the_channel_says(encoder: IndexEncoder) -> None:
    for epsilon in ("1", "4"):
        row = encoder.bundle.level("counts", epsilon).matrix[encoder.secret_code("goal")]
        draws = 4000
        found = Counter(encoder.encode("goal", epsilon=epsilon).index for _ in range(draws))
        for index, share in enumerate(row):
            assert abs(found[index] - draws * share) <= 6.2 * (draws * share * (1 - share)) ** 0.5


def test_what_a_statement_says(encoder: IndexEncoder) -> None:
    statement = encoder.encode("the market", epsilon="1", channel="accuracy").statement
    told = statement.to_dict()
    assert told["epsilon_whole_text"] == 1
    assert told["bundle"] == encoder.bundle.identity
    assert "epsilon 1 for any two texts" in statement.summary()
    assert encoder.bundle.identity in str(statement)
    assert statement.losses == (statement.whole_text,)
    assert float(statement.guess_gain) >= encoder.bundle.level("accuracy", "1").guess_gain


def test_the_exact_distribution_of_a_label(encoder: IndexEncoder) -> None:
    for channel, epsilon, labels in (("counts", "4", LABELS), ("accuracy", "1", LABELS[:2])):
        staircase = encoder.bundle.level(channel, epsilon)
        for code, label in enumerate(LABELS):
            found = encoder.distribution(label, channel=channel, epsilon=epsilon)
            assert found.words == labels
            assert sum(map(found.probability, labels)) == 1
            assert [float(found.probability(one)) for one in LABELS] == pytest.approx(staircase.matrix[code].tolist())
    with pytest.raises(OptionError, match="no code"):
        encoder.distribution(SECRET)


def test_what_is_no_text_is_refused(encoder: IndexEncoder) -> None:
    for wrong in (None, b"bytes", 3):
        for call in (encoder.encode, encoder.secret_code):
            with pytest.raises(InputError, match="not a string"):
                call(wrong)  # type: ignore[operator, arg-type]
    with pytest.raises(InputError, match="one string came"):
        encoder.encode_batch("the market")
    with pytest.raises(InputError, match="text 2 of 2"):
        encoder.encode_batch(["a", 3])  # type: ignore[list-item]
    done: list[int] = []
    assert len(encoder.encode_batch(["a", "b"], progress=done.append)) == 2
    assert done == [1, 2]


# --- the server ----------------------------------------------------------------------------------------------------


def line(server: IndexServer, index: int = 0, epsilon: str = "4", channel: str = "counts") -> str:
    return f"{index}\t{server.bundle.identity[:12]}\t{epsilon}\t{channel}"


def test_what_devices_release_is_received(encoder: IndexEncoder, bundle: Path) -> None:
    server = IndexServer.load(bundle)
    for text in (*ODD, "market"):
        for channel, epsilon in (("counts", "1"), ("counts", "4"), ("accuracy", "1")):
            release = encoder.encode(text, channel=channel, epsilon=epsilon)
            received = server.receive(release.line, 1)
            assert received.index == release.index
            assert received.staircase is server.bundle.level(channel, epsilon)
            decision = server.classify(received)
            assert decision.label == LABELS[release.index]
            assert sum(decision.scores.values()) == pytest.approx(1, abs=1e-5)
    assert server.classify(server.receive(line(server, 1), 1)).scores["sport"] == pytest.approx(0.8)
    assert server.classify(server.receive(line(server, 1, "1"), 1)).scores["sport"] == 1  # the bundle does not say


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no released index"),
        (SECRET, "no released index"),
        ("0\tID\t4", "no released index"),
        ("0\tID\t4\tcounts\tmore", "no released index"),
        ("-1\tID\t4\tcounts", "no released index"),
        ("²\tID\t4\tcounts", "no released index"),
        ("0" * 60 + "\tID\t4\tcounts", "no released index"),
        ("0\t000000000000\t4\tcounts", "another bundle"),
        ("0\tID\t2\tcounts", "does not have"),
        ("0\tID\t4\taccuracy", "does not have"),
        ("0\tID\t4\t" + SECRET, "does not have"),
        ("3\tID\t4\tcounts", "never releases"),
        ("2\tID\t1\taccuracy", "never releases"),
    ],
)
def test_what_is_no_released_line(bundle: Path, text: str, message: str) -> None:
    server = IndexServer.load(bundle)
    with pytest.raises(ReleaseError, match=message) as raised:
        server.receive(text.replace("ID", server.bundle.identity[:12]), 7)
    assert str(raised.value).startswith("line 7: ")
    assert "Zorblax" not in str(raised.value)


def test_a_channel_that_cannot_tell_all_codes_is_refused_for_counts(bundle: Path) -> None:
    server = IndexServer.load(bundle)
    found = server.counts([server.receive(line(server, 0, "1", "accuracy"), 1)])
    assert found.decided.counts == found.of_labels.counts == ()
    assert "channel accuracy at epsilon 1 cannot tell all codes" in str(found.decided.refused)
    assert "cannot be inverted for channel accuracy at epsilon 1" in str(found.of_labels.refused)
    with pytest.raises(ReleaseError, match="nothing to count"):
        server.counts([])


def test_counts_are_unbiased_and_their_variance_too(bundle: Path) -> None:
    """Exact: the mean of the estimates over every outcome of two texts, weighted by its probability."""
    server = IndexServer.load(bundle)
    staircase = server.bundle.level("counts", "1")
    matrix, weights = staircase.matrix, correction(staircase)
    np.testing.assert_allclose(matrix @ weights, np.eye(3), atol=1e-12)
    codes = (0, 2)
    mean, second, variance = np.zeros(3), np.zeros(3), np.zeros(3)
    for one in range(3):
        for other in range(3):
            share = matrix[codes[0], one] * matrix[codes[1], other]
            estimate = weights[one] + weights[other]
            mean += share * estimate
            second += share * estimate**2
            variance += share * (weights[one] ** 2 + weights[other] ** 2 - estimate)
            lines = [server.receive(line(server, index, "1"), 1) for index in (one, other)]
            assert [found.count for found in server.counts(lines).decided.counts] == pytest.approx(estimate.tolist())
    np.testing.assert_allclose(mean, [1, 0, 1], atol=1e-12)
    np.testing.assert_allclose(variance, second - mean**2, atol=1e-9)


def test_counts_of_two_levels_add_up(bundle: Path) -> None:
    server = IndexServer.load(bundle)
    first, second = (server.receive(line(server, 0, epsilon), 1) for epsilon in ("1", "4"))
    for kind in ("decided", "of_labels"):
        together, *apart = (
            [count.count for count in getattr(server.counts(lines), kind).counts]
            for lines in ([first, second], [first], [second])
        )
        assert together == pytest.approx(np.sum(apart, axis=0).tolist())


# --- the commands --------------------------------------------------------------------------------------------------


@pytest.fixture
def run(here: Callable) -> Callable[..., tuple[int, str, str]]:
    """Runs ``textveil``; gives exit code, standard output and standard error."""

    def start(*arguments: object) -> tuple[int, str, str]:
        ran = here(*map(str, arguments))
        return ran.code, ran.out.decode(), ran.err.decode()

    return start


def test_from_texts_to_labels_and_counts(run: Callable, bundle: Path, tmp_path: Path) -> None:
    texts, released = tmp_path / "texts.txt", tmp_path / "released.txt"
    texts.write_text(f"the market\n\n{SECRET}\n" + "goal " * 40 + "\n", "utf-8")
    code, out, err = run("encode", "-b", bundle, texts, "-o", released)
    assert (code, out) == (0, "")
    assert "4 documents; one of 3 indices, channel counts: epsilon 4 for any two texts" in err
    assert "for this device only: 1 longer than the model takes" in err
    lines = released.read_text().splitlines()
    assert len(lines) == 4
    assert all(len(one.encode()) <= 60 for one in lines)
    code, out, _ = run("classify", bundle, released)
    assert code == 0
    assert [row.split("\t")[0] for row in out.splitlines()] == [LABELS[int(one[0])] for one in lines]


def released_lines(tmp_path: Path, bundle: Path, *arrived: int, channel: str = "counts", epsilon: str = "4") -> Path:
    """A file of lines in which the index ``i`` arrived ``arrived[i]`` times."""
    server = IndexServer.load(bundle)
    rows = [line(server, index, epsilon, channel) for index, times in enumerate(arrived) for _ in range(times)]
    (tmp_path / "lines.txt").write_text("\n".join(rows) + "\n", "utf-8")
    return tmp_path / "lines.txt"


def test_counts_are_a_table_that_says_what_it_means(run: Callable, bundle: Path, tmp_path: Path) -> None:
    file = released_lines(tmp_path, bundle, 200, 500, 300)
    code, out, err = run("classify", "-b", bundle, file, "--counts")
    assert code == 0
    assert out.splitlines() == [
        "label     decided as        texts of this label",
        "business  193 (183 to 202)  207 (122 to 291)",
        "sport     509 (499 to 520)  473 (370 to 576)",
        "health    298 (288 to 308)  320 (221 to 420)",
    ]
    told = err.splitlines()
    assert told[0].startswith("textveil: 1,000 texts. In brackets: two standard errors on each side")
    assert told[1].endswith("mistakes included; the range covers the noise")
    assert told[2].endswith("covers the noise, the model's mistakes and the limited number of held-out texts (62)")
    assert len(told) == 3
    code, out, err = run("classify", "-b", bundle, file, "--counts", "--json")
    rows = [json.loads(row) for row in out.splitlines()]
    assert [row["label"] for row in rows] == list(LABELS)
    assert err == ""
    for kind in ("decided_as", "texts_of_label"):
        assert sum(row[kind]["count"] for row in rows) == pytest.approx(1000)
        for row in rows:
            reach = 2 * row[kind]["standard_error"]
            assert row[kind]["interval"] == pytest.approx([row[kind]["count"] - reach, row[kind]["count"] + reach])


def test_what_cannot_be_counted_is_said_and_has_no_number(run: Callable, tmp_path: Path) -> None:
    """No held-out texts; none of one label; two labels that are decided alike; ranges wider than all texts."""
    contents = {
        "the bundle does not say what its model decided on held-out texts": None,
        "a label has no held-out text": [[20, 1, 0], [0, 41, 0], [0, 0, 0]],
        "the decisions on held-out texts cannot be inverted": [[20, 1, 0], [20, 1, 0], [0, 0, 20]],
    }
    for number, (message, decisions) in enumerate(contents.items()):

        def files(files: dict[str, bytes], decisions: Any = decisions) -> None:
            files.pop("held-out.json")
            if decisions:
                files["held-out.json"] = held_out_of(decisions=decisions)

        bundle = write_index(tmp_path / str(number), files=files)
        code, out, err = run("classify", "-b", bundle, released_lines(tmp_path, bundle, 50, 50, 50), "--counts")
        assert code == 0
        assert out.splitlines()[0] == "label     decided as"
        assert err.splitlines()[-1].startswith(f"textveil: texts of this label: no numbers: {message}")
        code, out, _ = run("classify", "-b", bundle, tmp_path / "lines.txt", "--counts", "--json")
        assert [json.loads(row)["texts_of_label"] for row in out.splitlines()] == [None] * 3
    bundle = write_index(tmp_path / "bundle")
    file = released_lines(tmp_path, bundle, 1, 0, 0, epsilon="1")
    code, out, err = run("classify", "-b", bundle, file, "--counts")
    assert [row.split()[1:] for row in out.splitlines()[1:]] == [["-", "-"]] * 3
    for name in ("decided as", "texts of this label"):
        assert f"textveil: {name}: - where the range is wider than from 0 to 1, or outside of that: " in err
    file = released_lines(tmp_path, bundle, 5, 5, channel="accuracy", epsilon="1")
    code, out, err = run("classify", "-b", bundle, file, "--counts")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "release: channel accuracy at epsilon 1 cannot tell all codes" in err


def test_codes_that_are_not_labels_have_a_table_of_their_own(run: Callable, tmp_path: Path) -> None:
    def manifest(told: dict[str, Any]) -> None:
        told["release"]["kind"], told["labels"] = "codebook", ["0", "1", "2"]

    of_two = held_out_of(labels=["yes", "no"], texts=200, decisions=[[60, 30, 10], [5, 25, 70]])
    bundle = write_index(
        tmp_path / "bundle", manifest=manifest, files=lambda files: files.update({"held-out.json": of_two})
    )
    file = released_lines(tmp_path, bundle, 300, 300, 400)
    code, out, _ = run("classify", "-b", bundle, file, "--counts")
    codes, labels = (block.splitlines() for block in out.split("\n\n"))
    assert (code, codes[0], labels[0]) == (0, "code  decided as", "label  texts of this label")
    assert [row.split()[0] for row in (*codes[1:], *labels[1:])] == ["0", "1", "2", "yes", "no"]
    rows = [json.loads(row) for row in run("classify", "-b", bundle, file, "--counts", "--json")[1].splitlines()]
    assert [next(iter(row)) for row in rows] == ["code"] * 3 + ["label"] * 2
    assert sum(row["texts_of_label"]["count"] for row in rows[3:]) == pytest.approx(1000)


def test_both_ends_name_the_bundle_alike(run: Callable, bundle: Path, tmp_path: Path) -> None:
    released = tmp_path / "released.txt"
    assert run("encode", "--bundle", bundle, "--text", "goal", "-o", released)[0] == 0
    told = [run("classify", *arguments) for arguments in (("--bundle", bundle, released), (bundle, released))]
    assert told[0] == told[1]
    assert told[0][0] == 0
    code, _, err = run("classify", "-b", bundle, released, released)
    assert (code, "option: classify reads one file" in err) == (1, True)


def test_the_default_bundle(run: Callable, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the code in a checkout, with the identity that the code names, and nowhere else."""
    from textveil.bundle import defaults

    place = tmp_path / "runtime" / "src" / "textveil" / "bundle" / "defaults.py"
    monkeypatch.setattr(defaults, "__file__", str(place))
    with pytest.raises(BundleNotFound, match=r"give the folder of a bundle \(--bundle; .*artifacts/ag-static"):
        IndexEncoder.load()
    target = tmp_path / "artifacts" / defaults.DEFAULT_ENCODER
    target.parent.mkdir()
    target.symlink_to(bundle)
    with pytest.raises(IdentityMismatch):
        IndexEncoder.load()
    monkeypatch.setattr("textveil.vector.index_encoder.DEFAULT_ENCODER_ID", IndexEncoder.load(bundle).bundle.identity)
    assert IndexEncoder.load().bundle.path == target
    released = tmp_path / "released.txt"
    assert run("encode", "--text", "goal", "-o", released)[0] == 0
    assert run("classify", released)[1].split("\t")[0] in LABELS


def test_the_whole_statement_and_json(run: Callable, bundle: Path) -> None:
    code, out, err = run("encode", "-b", bundle, "--statement", "-e", "1", "--channel", "accuracy", "--text", SECRET)
    assert code == 0
    assert out.endswith("\t1\taccuracy\n")
    assert "Not protected:" in err
    assert "Zorblax" not in err
    code, out, _ = run("encode", "-b", bundle, "--json", "--text", "goal")
    found = json.loads(out)
    assert found["statement"]["epsilon_whole_text"] == 4
    assert found["line"].startswith(str(found["index"]))


def test_info_and_verify(run: Callable, bundle: Path) -> None:
    code, out, _ = run("info", "-b", bundle)
    assert code == 0
    assert "a text becomes one of 3 indices" in out
    assert len([row for row in out.splitlines() if row.startswith(("counts", "accuracy"))]) == 3
    code, out, _ = run("info", "-b", bundle, "--json")
    assert [level["counts"] for level in json.loads(out)["levels"]] == [True, True, False]
    assert run("verify", bundle)[0] == 0
    assert run("verify", bundle, "--pairs", "3")[0] == 1


@pytest.mark.parametrize(
    "wrong",
    [("--word-dropout", "0.1"), ("--channel", SECRET), ("-e", "9"), ("--expect-id", "0" * 64)],
)
def test_options_that_do_not_fit_are_errors(run: Callable, bundle: Path, wrong: tuple[str, str]) -> None:
    code, out, err = run("encode", "-b", bundle, "--text", "goal", *wrong)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "Zorblax" not in err


def test_counts_and_channels_are_for_indices(run: Callable, tiny_encoder: Path) -> None:
    for arguments in (
        ("encode", "-b", tiny_encoder, "--channel", "counts", "--text", "x"),
        ("classify", tiny_encoder, "--counts"),
    ):
        code, _, err = run(*arguments)
        assert code == 1
        assert OptionError.code in err
