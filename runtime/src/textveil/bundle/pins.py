"""What a caller demands of a bundle before it is used: its identity, its maker, and how large it may be.

Whatever opens a bundle takes these three, and hands them to ``Bundle``, ``open_index`` or ``open_encoder``. These
refuse a bundle that does not fit.
"""

from typing import Protocol, TypedDict


class Pins(TypedDict, total=False):
    """What a bundle must be, or it is refused. What is left out is not demanded.

    Attributes:
        expect_id: The identity it must have.
        maker: Public key of the maker who must have signed it, 64 hexadecimal digits.
        max_bytes: Most bytes of all its files together.
    """

    expect_id: str | None
    maker: str | None
    max_bytes: int


class Pinnable(Protocol):
    """A bundle that was opened."""

    def require_identity(self, expected: str) -> None:
        """Raises ``IdentityMismatch`` unless it has that identity."""
        ...

    def require_maker(self, key: str) -> None:
        """Raises ``NotTheMaker`` unless the owner of that key signed it."""
        ...


def pin(bundle: Pinnable, expect_id: str | None, maker: str | None) -> None:
    """Checks the identity and the maker that a caller named; ``None`` names none."""
    if expect_id is not None:
        bundle.require_identity(expect_id)
    if maker is not None:
        bundle.require_maker(maker)
