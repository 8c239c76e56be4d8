"""Under a key equal names get equal surrogates in all documents: a keyed function of the string alone."""

import hashlib
import hmac
from itertools import product
from pathlib import Path

from textveil import Sanitizer
from textveil.text.names.entity_types import MentionPart
from textveil.text.names.plan import NamesPlanFactory
from textveil.text.segmentation import TITLE

KEY = bytes(range(16))


def number_of(part: MentionPart, size: int) -> int:
    """Return the index of the surrogate for a string, as docs/proofs/names.md defines it."""
    said = "\0".join((part.entity_type, part.layout, part.folded)).encode()
    return int.from_bytes(hmac.new(KEY, said, hashlib.sha256).digest()[:16], "big") % size


def test_a_member_is_a_keyed_function_of_its_string(names: Path) -> None:
    """All surrogates of a type occur; nothing is sampled, and nothing is restored."""
    plan = NamesPlanFactory(Sanitizer.load(names).bundle).make_plan({"consistent": "corpus", "key": KEY})
    texts = [f"he met Z{''.join(letters)} there" for letters in product("bdfgklmnprt", repeat=3)]
    found = [(read, restorer) for (read,), _, restorer, *_ in plan.rewriter.rewrite([[text] for text in texts])]
    met, sizes = set(), set()
    for text, (rewritten, restorer) in zip(texts, found, strict=True):
        (read,) = plan.make_reader().read_texts([text])
        ((part,),) = [entry.parts for entry in read.elements if not isinstance(entry, str)]
        size = plan.surrogates.get_size(part.entity_type, part.layout)
        member = number_of(part, size)
        assert (
            rewritten == f"he met {plan.surrogates.spell_surrogate(part.entity_type, part.layout, member, TITLE)} there"
        )
        assert restorer is None
        met.add(member)
        sizes.add(size)
    assert {0, max(sizes) - 1} <= met
