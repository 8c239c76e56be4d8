"""A bundle beyond the cap of what is opened unasked is written all the same, and opened only by whoever asks."""

import pytest
import small_bundles
from textveil.bundle import TextBundle, open_bundle
from textveil.errors import BundleTooLarge
from textveil_export.text import write


def test_a_bundle_beyond_the_cap_is_written_and_opened(tmp_path, monkeypatch):
    built = small_bundles.contents(small_bundles.scattered(30, 4, 1), k=8, exponents=("6",))
    opened = []

    def remembered(path, *wanted, max_bytes=10):
        opened.append(max_bytes)
        return open_bundle(path, *wanted, max_bytes=max_bytes)

    monkeypatch.setattr(write, "open_bundle", remembered)
    monkeypatch.setattr(write, "MAX_BUNDLE_BYTES", 10)
    bundle = write.write_bundle(built, tmp_path / "b")
    size = sum(file.stat().st_size for file in bundle.path.iterdir())
    assert opened == [size, size]
    with pytest.raises(BundleTooLarge):
        open_bundle(bundle.path, TextBundle, max_bytes=10)
