"""What a caller demands of a bundle before it is used, declared once: whatever opens a bundle takes ``**pins``."""

from typing import TypedDict

#: Most bytes of all files of a bundle together, where the caller names no other number.
MAX_BUNDLE_BYTES = 256_000_000


class Pins(TypedDict, total=False):
    """What a bundle must be, or it is refused. What is left out is not demanded.

    Keys:
        expect_id: The identity it must have (``textveil info`` prints it).
        maker: Public key of the maker who must have signed it, 64 hexadecimal digits. Checking it needs the extra
            ``crypto``.
        max_bytes: Most bytes of all its files together; ``MAX_BUNDLE_BYTES`` if left out.
    """

    expect_id: str | None
    maker: str | None
    max_bytes: int
