"""The error classes of the server form one tree."""

import inspect
import pickle

from textveil.errors import TextveilError
from textveil_training import errors
from textveil_training.errors import DataError, FileLocation, InvalidUtf8, WrongColumnCount, make_printable

CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, DataError)]


def test_every_error_is_a_named_error_of_textveil_with_a_code_of_its_own() -> None:
    assert all(issubclass(kind, TextveilError) for kind in CLASSES)
    codes = [kind.code for kind in CLASSES]
    assert len(set(codes)) == len(codes)
    assert all(code == "data" or code.startswith("data-") for code in codes)


def test_the_message_is_the_place_and_the_reason() -> None:
    error = WrongColumnCount("the row has 1 columns instead of 2", FileLocation("dev.tsv", 7))
    assert str(error) == "dev.tsv, line 7: the row has 1 columns instead of 2"
    assert str(DataError("no", FileLocation("dev.tsv"))) == "dev.tsv: no"
    assert str(DataError("no")) == "no"


def test_errors_survive_a_process_boundary() -> None:
    error = InvalidUtf8("not UTF-8", FileLocation("dev.tsv", 7), byte=512)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.location, copy.byte) == (InvalidUtf8, str(error), error.location, 512)


def test_printable_keeps_a_message_on_one_line_and_off_the_terminals_controls() -> None:
    assert make_printable("a\nb\x1b[31m\u2028\udc80é") == "a\ufffdb\ufffd[31m\ufffd\ufffdé"
