"""Keys of JSON objects stay if they are words of published APIs; keys that name persons are replaced."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import textveil.conversation
from textveil import Conversation, Sanitizer
from textveil.conversation.field_names import FieldNames, load_field_words

#: Keys of well-known APIs and files whose words no list of common words has.
SCHEMA_KEYS = (
    "cached_tokens stargazers_count livenessProbe eslintConfig livemode ETag arn i18n sha256Checksum s3_bucket k8s "
    "x509Cert ipv4Address Dockerfile terminationGracePeriodSeconds grace_period rbac webhookUrl oauth2_token "
    "last_30_days thumb_64_url GracePeriod Max-Forwards Retry-After iban grant_type maxItems dev_mode"
).split()
#: Objects whose keys are persons, though most of these names are common words or words of fields.
MAPS = (
    ("Grace", "Mark", "Hope", "Bill"),
    ("grace", "mark", "hope", "bill"),
    ("Grace", "Max", "Page"),
    ("anna", "max", "page"),
    ("Zsolt", "Baker", "Price"),
    ("Anna", "Baker", "Hunter"),
    ("Max",),
    ("Max", "Sid"),
    ("Park", "Stone"),
    ("GRACE",),
)


@pytest.fixture(scope="module")
def fields() -> FieldNames:
    lists = Sanitizer.load().names_plan(protect="names").lists
    return FieldNames(lists.common_words, lists.members_by_type["given"], lists.members_by_type["family"])


def send(keys: tuple[str, ...], text: str = "ok", **options: Any) -> tuple[str, list[str]]:
    """Return the sent form of a text and of the keys of a tool's result."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "c", "content": json.dumps(dict.fromkeys(keys, True))}
    messages = [{"role": "user", "content": text}, {"role": "assistant", "tool_calls": [call]}, result]
    sent = Conversation(Sanitizer.load(), **options).outgoing(messages)
    return sent[0]["content"], [*json.loads(sent[2]["content"])]


def test_words_of_published_schemas_stay(fields: FieldNames) -> None:
    assert [key for key in SCHEMA_KEYS if not fields.is_field(key)] == []
    assert send(tuple(SCHEMA_KEYS))[1] == SCHEMA_KEYS


@pytest.mark.parametrize("keys", MAPS, ids=" ".join)
def test_keys_of_a_map_from_persons_are_values(fields: FieldNames, keys: tuple[str, ...]) -> None:
    assert fields.find_fields(keys) == frozenset()
    assert any(not set(send(keys)[1]) & set(keys) for _ in range(5))  # a name may come out for itself


def test_words_of_fields_beside_names(fields: FieldNames) -> None:
    assert fields.find_fields(["min", "max", "price"]) == {"min", "max", "price"}
    assert fields.find_fields(["Lat", "Lon"]) == {"Lat", "Lon"}
    assert fields.find_fields(["Anna", "total", "Hope"]) == {"total"}
    assert fields.find_fields(["id", "name", "max", "anna"]) == {"id", "name", "max"}


@pytest.mark.parametrize("key", ["Notes for Mark", "Mark_orders", "user_grace_page", "Grace-Hope", "Grace2", "f.page"])
def test_names_in_longer_keys(fields: FieldNames, key: str) -> None:
    assert not fields.is_field(key)


def test_a_key_is_written_as_the_same_name_in_a_text() -> None:
    text, keys = send(("Grace", "Hope"), "I met Grace.")
    assert text == f"I met {keys[0]}."
    assert keys[1] not in ("Hope", keys[0])


def test_a_key_that_a_text_keeps_shows_no_equality() -> None:
    """A model may write such a word anywhere without its being counted as a guess."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    conversation = Conversation(Sanitizer.load(), tool_guesses=(500, 500), style="surrogate", facts="none")
    assert Sanitizer.load().preview("Shan", facts="none") == [("Shan", "kept")]
    found: dict[str, set[str]] = {"Shan": set(), "Grace": set()}
    for number in range(40):
        rows = [{"Shan": number}, {"Grace": number}]
        result = {"role": "tool", "tool_call_id": "c", "content": json.dumps(rows)}
        sent = conversation.outgoing([{"role": "assistant", "tool_calls": [call]}, result])
        keys = [next(iter(row)) for row in json.loads(sent[1]["content"])]
        found["Shan"].add(keys[0])
        found["Grace"].add(keys[1])
    assert len(found["Grace"]) == 1
    assert len(found["Shan"]) > 10  # 40 draws of some hundred names


def test_options_decide_about_keys() -> None:
    assert send(("Grace", "Hope"), keep=["person"])[1] == ["Grace", "Hope"]
    assert send(("Grace", "total"), allow=["Grace"])[1] == ["Grace", "total"]
    assert send(("livemode",), deny=["livemode"])[1] != ["livemode"]
    assert send(("Grace",), pass_through=["keys"])[1] == ["Grace"]


def test_the_list_has_no_names_but_those_chosen_by_hand() -> None:
    words, kinds = load_field_words(), Sanitizer.load().names_plan(protect="names").lists.members_by_type
    root = Path(textveil.conversation.__file__).parents[4]
    by_hand = {*(root / "artifacts/field-words/by_hand.txt").read_text("ascii").split()}
    found = {word for word in words if word in kinds["given"] or word in kinds["family"]}
    assert found - by_hand <= {"fields", "max", "page", "price", "repo"}
    listed = Path(textveil.conversation.__file__).with_name("field-words.txt").read_text("ascii").splitlines()
    assert f": {len(listed):,} words" in (root / "artifacts/field-words/README.md").read_text("utf-8")
    left_out = re.search(
        r'LEFT_OUT = re.compile\("(.*)"\)', (root / "artifacts/field-words/build.py").read_text("utf-8")
    )
    assert left_out is not None
    assert [word for word in words if re.fullmatch(left_out[1], word)] == []
    assert listed == sorted(words)
    assert all(word.isalnum() and word == word.lower() and len(word) > 1 for word in listed)
