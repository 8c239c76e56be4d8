"""An unknown option of a conversation is an error that names the intended one."""

import pytest
from textveil import Conversation, OptionError


def test_a_misspelled_option_has_a_suggestion() -> None:
    for name, said in (
        ("fact", "unknown option: did you mean facts?"),
        ("restore_place", "unknown option: did you mean restore_places?"),
        ("pass_trough", "unknown option: did you mean pass_through?"),
    ):
        with pytest.raises(OptionError) as refused:
            Conversation(**{name: "useful"})  # type: ignore[arg-type]
        assert str(refused.value) == said
    for name in ("epsilon", "zzz"):
        with pytest.raises(OptionError, match=r"^a conversation supports only "):
            Conversation(**{name: 8})  # type: ignore[arg-type]
