"""``textveil gateway`` checks its options and its upstream, and prints what it does."""

import json
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from forked import run_forked
from gateways import ANTHROPIC, CHAT, KEY, RESPONSES, asked, gateway, text_of
from textveil import Ledger
from upstreams import Upstream, upstream

SECRET = "Zqxwvina"
TEXT = f"I am {SECRET} Novak."
UP = ("--upstream", "https://upstream.example")

WRONG: list[tuple[list[str], int, str]] = [
    ([], 2, "textveil: usage: "),
    ([*UP, "--host", "0.0.0.0"], 1, "textveil: service: other devices can reach this --host: use --token-file"),
    ([*UP, "--keep", SECRET], 1, "textveil: option: no such entity type: choose among account"),
    ([*UP, "--randomize", "/dev/null"], 1, "textveil: option: "),
    ([*UP, "--tool-guesses", "4", "3"], 1, "textveil: option: --tool-guesses takes two whole numbers"),
    ([*UP, "--protect", "words", "--epsilon", "7"], 1, "textveil: unknown-epsilon: "),
    ([*UP, "--ledger", "l"], 1, "textveil: option: --ledger needs --protect words or --protect all"),
    ([*UP, "--protect", "words", "--ledger", "l", "--replay-cache"], 1, "textveil: option: --replay-cache "),
    ([*UP, "--budget", "3"], 1, "textveil: option: --budget needs --ledger FILE"),
    (
        [*UP, "--mappings", "."],
        1,
        "textveil: option: --mappings and --mappings-key must be used together: pass both, or omit both (see",
    ),
    (
        [*UP, "--mappings", "none", "--mappings-key", "k"],
        1,
        "textveil: option: --mappings: the folder does not exist: create it first",
    ),
    (["--upstream", "ftp://a"], 1, "textveil: service: the upstream must be an address such as https://"),
    (["--upstream", "https://key@a.example"], 1, "textveil: service: the upstream must be an address such as https://"),
    (["--upstream", "https://a.example:x"], 1, "textveil: service: the upstream must be an address such as https://"),
    (
        ["--upstream", "https://a.example/v1?x=1"],
        1,
        "textveil: service: the upstream's address must be ASCII, without a query",
    ),
    (["--upstream", "http://a.example"], 1, "textveil: service: an upstream with http must be on this device"),
    (["--upstream", "http://192.168.1.2:80"], 1, "textveil: service: an upstream with http must be on this device"),
    (
        ["--upstream", "https://a.example", "--upstream-certificates", "none"],
        1,
        "textveil: service: --upstream-certificates: the file",
    ),
    (
        ["--upstream", "http://[::1]:1", "--upstream-certificates", "none"],
        1,
        "textveil: service: --upstream-certificates needs",
    ),
]


def test_help_names_the_mode_that_is_the_default(tmp_path: Path) -> None:
    said = " ".join(run_forked(["gateway", "--help"], cwd=tmp_path).stdout.decode().split())
    assert "names (the gateway's default) keeps common words" in said
    assert "words (the built-in bundle's default)" not in said


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG)
def test_wrong_usage_is_one_line(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    done = run_forked(["gateway", *arguments], cwd=tmp_path)
    said = done.stderr.decode()
    assert done.returncode == code
    assert said.startswith(message)
    assert said.count("\n") == 1
    assert SECRET not in said


@pytest.mark.slow
def test_a_dry_run_shows_what_would_be_sent_and_sends_nothing(up: Upstream, tmp_path: Path) -> None:
    before = len(up.asked)
    with gateway(tmp_path, up.url, "--dry-run") as server:
        status, said, _ = server.ask("POST", CHAT, asked(CHAT, TEXT, user="Novak"), KEY)
        listed, _, _ = server.ask("GET", "/v1/models", None, KEY)
        server.stop()
    assert (status, said["error"]["code"], listed) == (422, "dry-run", 422)
    (shown,) = [line for line in server.said.splitlines() if line.startswith(CHAT)]
    body = json.loads(shown.removeprefix(CHAT))
    assert (set(body), body["model"]) == ({"model", "messages", "user"}, "echo")
    assert SECRET not in shown
    assert "the-clients-key" not in server.said
    assert len(up.asked) == before


@pytest.mark.slow
@pytest.mark.parametrize("level", ["none", "plain", "useful", "public"])
def test_it_prints_what_it_keeps_when_it_starts(up: Upstream, tmp_path: Path, level: str) -> None:
    with gateway(tmp_path, up.url, "--facts", level, "--style", "tag") as server:
        line = next(line for line in server.said.splitlines() if "mode names" in line)
        status, reply, _ = server.ask("POST", CHAT, asked(CHAT, f"{TEXT} I have 5 dogs."), KEY)
    assert line.startswith(f"textveil: mode names, style tag, facts {level}. Kept: common words from a public list")
    assert ("medical terms" in line) == (level != "none")
    assert status == 200
    assert text_of(CHAT, reply).endswith("I have 5 dogs.")


def test_by_default_it_writes_tags_and_keeps_useful_facts(up: Upstream, tmp_path: Path) -> None:
    with gateway(tmp_path, up.url) as server:
        line = next(line for line in server.said.splitlines() if "mode names" in line)
        status, reply, _ = server.ask("POST", CHAT, asked(CHAT, f"{TEXT} We use Python since 2019."), KEY)
    assert line.startswith("textveil: mode names, style tag, facts useful. Kept: common words from a public list")
    assert "languages, ages below 90" in line
    sent = up.last["messages"][0]["content"]
    assert sent.endswith(" We use Python since 2019.")
    assert "[person 1]" in sent
    assert (status, text_of(CHAT, reply)) == (200, f"{TEXT} We use Python since 2019.")


@pytest.mark.slow
def test_it_prints_what_the_mode_words_keeps(up: Upstream, tmp_path: Path) -> None:
    with gateway(tmp_path, up.url, "--protect", "words", "--epsilon", "8") as server:
        assert "textveil: mode words, epsilon 8 per word. Kept: function words, " in server.said


SYSTEM = f"You work for {SECRET} Novak in 12 towns."


@pytest.mark.slow
@pytest.mark.parametrize("path", [CHAT, ANTHROPIC, RESPONSES])
def test_the_first_changed_system_prompt_is_reported_once_and_without_its_words(
    up: Upstream, tmp_path: Path, path: str
) -> None:
    name = {ANTHROPIC: "system", RESPONSES: "instructions"}.get(path)
    role = "system" if name else "developer"

    def ask(system: str) -> str:
        messages = [{"role": "user", "content": TEXT}]
        body = (
            asked(path, messages, **{name: system})
            if name
            else asked(path, [{"role": "developer", "content": [{"type": "text", "text": system}]}, *messages])
        )
        return server.ask("POST", path, body, KEY)[2]["x-textveil-request"]

    with gateway(tmp_path, up.url, "--facts", "none") as server:
        ask("Be kind.")
        changed = ask(SYSTEM)
        ask(SYSTEM)
        assert server.stop() == 0
    lines = [line for line in server.said.splitlines() if "system prompt" in line]
    assert lines == [
        f"textveil: request {changed}: the system prompt changed in 2 places, which --dry-run prints; --pass-through "
        f"{role} sends it unchanged (reported once)"
    ]
    assert SECRET not in server.said
    again = tmp_path / "again"
    again.mkdir()
    with gateway(again, up.url, "--facts", "none", "--pass-through", role) as server:
        ask(SYSTEM)
        assert server.stop() == 0
    assert "system prompt" not in server.said


@pytest.mark.slow
def test_a_dry_run_shows_each_change_beside_the_original(up: Upstream, tmp_path: Path) -> None:
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Be kind."}]
    with gateway(tmp_path, up.url, "--dry-run", "--facts", "none") as server:
        server.ask("POST", CHAT, asked(CHAT, messages, user="Novak"), KEY)
        server.stop()
    shown = [line for line in server.said.splitlines() if " -> " in line]
    assert shown[0].startswith(f"messages.0.content: '{SECRET} Novak' -> '[person 1]'")
    assert shown[1] == "messages.0.content: '12' -> '[number 1]'"
    assert shown[2].startswith("user: 'Novak' -> ")
    assert len(shown) == 3


def test_what_it_logs(up: Upstream, tmp_path: Path) -> None:
    with gateway(tmp_path, up.url) as server:
        identity = server.ask("POST", CHAT, asked(CHAT, TEXT), KEY)[2]["x-textveil-request"]
        server.ask("POST", CHAT, asked(CHAT, TEXT, zqxwvina="a"), KEY)
        server.ask("GET", "/v1/models/zqxwvina")
        assert server.stop() == 0
        *_, first, second, third = server.said.splitlines()
    counts = "restored=1 not_restored_words=0 ambiguous=0 tools=0 skipped=0"
    assert first == f"textveil: request {identity}: {CHAT} 200 {counts}"
    assert second.startswith("textveil: request ")
    assert second.endswith(f": {CHAT} input 422")
    assert third.endswith(": /v1/models 200")
    assert "zqxwvina" not in server.said


@pytest.mark.slow
def test_it_logs_what_it_refuses_and_nothing_that_a_client_chose(up: Upstream, tmp_path: Path) -> None:
    with gateway(tmp_path, up.url) as server:
        server.ask("GET", "/zqxwvina/novak")
        server.ask("DELETE", CHAT)
        server.ask("POST", CHAT, asked(CHAT, TEXT), {**KEY, "Origin": "https://zqxwvina.example"})
        assert server.stop() == 0
        assert [line.removeprefix("textveil: refused") for line in server.said.splitlines()[2:]] == [
            ": unknown path or method 404",
            ": unknown path or method 405",
            " before it was read: origin 403",
        ]


@pytest.mark.slow
def test_it_logs_that_few_words_of_a_request_were_kept(up: Upstream, tmp_path: Path) -> None:
    finnish = "Kirjoita lyhyt kirje vuokranantajalleni rikkinäisestä lämmityksestä asunnossani ensi viikolla. " * 2
    with gateway(tmp_path, up.url) as server:
        for text in (finnish, TEXT):
            server.ask("POST", CHAT, asked(CHAT, text), KEY)
        assert server.stop() == 0
        *_, first, second = server.said.splitlines()
    assert re.search(r" 200 .* kept_share=0\.[0-4]\d* \(it may not be English\)$", first)
    assert "kept_share" not in second
    assert "kirje" not in server.said


def test_it_logs_once_which_option_reads_another_language(up: Upstream, tmp_path: Path) -> None:
    german = "Bitte schicken Sie mir einen neuen Stuhl und das Geld auf mein Konto, weil er kaputt bei uns war."
    with gateway(tmp_path, up.url) as server:
        for text in (TEXT, german, f"{german} Danke!"):
            body = asked(CHAT, text)
            body["messages"].insert(0, {"role": "system", "content": "You are a friendly assistant of our shop. " * 9})
            server.ask("POST", CHAT, body, KEY)
        assert server.stop() == 0
    (hint,) = (line for line in server.said.splitlines() if "--language" in line)
    assert re.fullmatch(
        r"textveil: request \w+: \d+ % of the words were replaced or belong to other languages: "
        r"the text may not be English \(--language, such as de, for another one\) \(reported once\)",
        hint,
    )
    assert sum(" foreign_words=" in line for line in server.said.splitlines()) == 2
    assert "LanguageWarning" not in server.said
    assert "Stuhl" not in server.said


@pytest.mark.slow
def test_options_of_the_rung(up: Upstream, tmp_path: Path) -> None:
    with gateway(tmp_path, up.url, "--style", "tag", "--drop", "email") as server:
        reply = server.ask("POST", CHAT, asked(CHAT, f"{TEXT} Write to a@b.org."), KEY)[1]
    assert up.last["messages"][0]["content"] == "I am [person 1]. Write to ."
    assert text_of(CHAT, reply) == f"{TEXT} Write to ."


@pytest.mark.slow
def test_words_are_charged_once(up: Upstream, tmp_path: Path) -> None:
    """In a mode with an epsilon each text is one document; a text sent again costs nothing, and nothing is restored."""
    options = ("--protect", "words", "--ledger", tmp_path / "ledger", "--budget", "150")
    long = {"role": "user", "content": "terrible weather brought heavy rain " * 20}
    with gateway(tmp_path, up.url, *options) as server:
        messages: list[Any] = [{"role": "user", "content": "The weather was terrible."}]
        reply = server.ask("POST", CHAT, asked(CHAT, messages), KEY)[1]
        sent = up.last["messages"][0]
        assert text_of(CHAT, reply) == sent["content"]
        spent = Ledger(tmp_path / "ledger").get_account("default").displayed_epsilon
        messages += [reply["choices"][0]["message"]]
        assert server.ask("POST", CHAT, asked(CHAT, messages), KEY)[0] == 200
        assert up.last["messages"] == [sent, {**messages[1], "refusal": None}]
        assert Ledger(tmp_path / "ledger").get_account("default").displayed_epsilon == spent != "0"
        before = len(up.asked)
        status, said, _ = server.ask("POST", CHAT, asked(CHAT, [*messages, long]), KEY)
        assert (status, said["error"]["code"], len(up.asked)) == (403, "budget", before)
        assert server.stop() == 0
    assert "ledger: 1 document spent epsilon" in server.said


@pytest.mark.slow
def test_the_certificate_of_the_upstream_is_checked(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    made, key = certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, key)
    with upstream(context) as running:
        for place, options in (("untrusted", ()), ("trusted", ("--upstream-certificates", made))):
            (tmp_path / place).mkdir()
            with gateway(tmp_path / place, running.url, *options) as asking:
                status, said, _ = asking.ask("POST", CHAT, asked(CHAT, TEXT), KEY)
            if options:
                assert (status, text_of(CHAT, said)) == (200, TEXT)
            else:
                assert (status, said["error"]["message"]) == (
                    502,
                    "the upstream has a certificate that is not trusted: trust it with --upstream-certificates",
                )
                assert running.asked == []


@pytest.mark.slow
def test_a_token_has_a_header_of_its_own(up: Upstream, certificate: tuple[Path, Path], tmp_path: Path) -> None:
    made, key = certificate
    token = tmp_path / "token"
    options = ("--token-file", token, "--tls-certificate", made, "--tls-key", key)
    with gateway(tmp_path, up.url, *options) as server:
        context = ssl.create_default_context(cafile=made)

        def ask(**headers: str) -> int:
            sent = {"Content-Type": "application/json", **{name.replace("_", "-"): v for name, v in headers.items()}}
            content = json.dumps(asked(ANTHROPIC, TEXT)).encode()
            request = urllib.request.Request(f"https://127.0.0.1:{server.port}{ANTHROPIC}", content, sent)
            try:
                with urllib.request.urlopen(request, context=context, timeout=30) as reply:
                    return reply.status
            except urllib.error.HTTPError as error:
                return error.code

        said = token.read_text().strip()
        assert ask(X_Textveil_Token=said, Authorization="Bearer the-clients-key") == 200
        assert up.asked[-1][1]["authorization"] == "Bearer the-clients-key"
        assert "x-textveil-token" not in up.asked[-1][1]
        assert ask(Authorization=f"Bearer {said}") == ask() == ask(X_Textveil_Token=f"Bearer {said}") == 401


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["starlette", "uvicorn", "httpcore2"])
def test_without_its_extra_it_says_what_to_install(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['textveil', 'gateway', '--upstream', 'https://a.b']"
    )
    code += "; from textveil_cli.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "pip install 'textveil-cli[gateway]'" in done.stderr
