"""Names that are equal in all documents under a key: a member is a keyed function of its string and of nothing else."""

import hashlib
import hmac
from itertools import product
from pathlib import Path

from textveil import Sanitizer
from textveil.text.names.kinds import Part
from textveil.text.names.plan import NamesPlans
from textveil.text.segmentation import TITLE

KEY = bytes(range(16))


def number_of(part: Part, size: int) -> int:
    """The member for a string, as docs/proofs/names.md defines it."""
    said = "\0".join((part.kind, part.layout, part.folded)).encode()
    return int.from_bytes(hmac.new(KEY, said, hashlib.sha256).digest()[:16], "big") % size


def test_a_member_is_a_keyed_function_of_its_string(names: Path) -> None:
    """From the first member of a kind to the last one; nothing is drawn, and nothing is restored."""
    plan = NamesPlans(Sanitizer.load(names).bundle).plan({"consistent": "corpus", "key": KEY})
    texts = [f"he met Z{''.join(letters)} there" for letters in product("bdfgklmnprt", repeat=3)]
    found = [(read, restorer) for (read,), _, restorer, *_ in plan.rewriter().rewrite([[text] for text in texts])]
    met, sizes = set(), set()
    for text, (rewritten, restorer) in zip(texts, found, strict=True):
        (read,) = plan.reader().read([text])
        ((part,),) = [entry.parts for entry in read.entries if not isinstance(entry, str)]
        size = plan.surrogates.size(part.kind, part.layout)
        member = number_of(part, size)
        assert rewritten == f"he met {plan.surrogates.spelled(part.kind, part.layout, member, TITLE)} there"
        assert restorer is None
        met.add(member)
        sizes.add(size)
    assert {0, max(sizes) - 1} <= met
