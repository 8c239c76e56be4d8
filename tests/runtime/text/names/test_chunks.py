"""Chunks: what is read the short way, as most are, has the tokens that it has the long way."""

from itertools import product

from textveil import Sanitizer
from textveil.text.names.chunks import Chunks
from textveil.text.names.lexicon import Lexicon
from textveil.text.names.tokens import GAP

WORDS = (
    "the Nurse ANNA I o'clock don't Anna's it's O'Neil 's Jürgen ﬁne nurse\u2019s quot D o_O x-ray 5kg 70 a1".split()
)


def test_a_chunk_of_one_word_is_read_as_any_other() -> None:
    chunks = Chunks(Lexicon(Sanitizer.load().bundle.require_names(), allowed=["anna"], denied=["nurse"]))
    read = 0
    for lead, word, tail in product(
        ["", '"', "((", "'", ":", "'("], [*WORDS, "a" * 1001], ["", ".", "',", ";", '")!', "…", ":)"]
    ):
        chunk = f"{lead}{word}{tail}"
        found = chunks.word(chunk)
        if found is not None:
            before, tokens, after = found
            long_way = tuple(chunks._parts(chunk))
            assert tuple(tokens) == tuple(token for token in long_way if token.cls != GAP), chunk
            assert (before, after) == (lead, tail)
            assert "".join(token.text for token in long_way) == chunk
            assert [token.text for token in (long_way[0], long_way[-1]) if token.cls == GAP] == [
                *filter(None, (lead, tail))
            ]
            read += 1
    assert read > 100
