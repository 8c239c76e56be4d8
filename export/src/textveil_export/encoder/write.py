"""Write an encoder bundle (folder with a model) atomically, and only if the code of devices can open it."""

from pathlib import Path

from textveil.bundle import VectorBundle, layout
from textveil.vector import Encoder

from textveil_export.bundle_files import add_bundle_file, format_json, stage_bundle_folder
from textveil_export.encoder.build import MAX_BYTES, EncoderContents
from textveil_export.encoder.card import format_encoder_card
from textveil_export.encoder.device_cost import measure_memory
from textveil_export.errors import SizeError


def write_encoder_bundle(
    contents: EncoderContents, folder: Path, *, reproduce: str = "", force: bool = False
) -> Encoder:
    """Write an encoder bundle (folder with a model) to a hidden folder, measure and check it, and rename it.

    Args:
        contents: The bundle in memory.
        folder: Target folder. Its parent must exist.
        reproduce: Command that builds this bundle, for the model card.
        force: Whether to replace an existing bundle.

    Returns:
        The encoder, loaded from the target.

    Raises:
        WriteError: The target exists, or the disk is full or not writable. The target is unchanged.
        SizeError: The files together exceed ``MAX_BYTES``. The target is unchanged.
        BundleError, EncoderUnavailable, EncoderFailed: The device's reader refuses the bundle. The target is unchanged.

    Example:
        >>> import tempfile
        >>> from textveil_export.encoder import EncoderBuildSettings, build_encoder
        >>> settings = EncoderBuildSettings(name="my-encoder", data=Path("texts.tsv"), sample=50)
        >>> with tempfile.TemporaryDirectory() as scratch:
        ...     contents = build_encoder(Path("checkpoint"), settings, Path(scratch))
        >>> encoder = write_encoder_bundle(contents, Path("my-encoder"))
        >>> len(encoder.encode("goal of the match").vector)
        3
    """
    with stage_bundle_folder(folder, force=force) as partial:
        entries = {name: add_bundle_file(partial, name, data) for name, data in contents.files.items()}
        manifest = {
            "format": layout.FORMAT,
            "format_version": layout.FORMAT_VERSION,
            "bundle_type": VectorBundle.KIND,
            **contents.manifest,
            "release": contents.release,
        }
        unmeasured = add_bundle_file(partial, layout.MANIFEST, format_json({**manifest, "files": entries}).encode())
        device = measure_memory(partial, str(unmeasured["sha256"]))
        (partial / layout.MANIFEST).unlink()
        manifest["measurements"] = {**contents.manifest["measurements"], "device": device}
        sizes = {name: int(str(entry["bytes"])) for name, entry in entries.items()}
        card = format_encoder_card(contents.release, manifest, sizes, reproduce)
        entries[layout.CARD] = add_bundle_file(partial, layout.CARD, card.encode())
        content_hash = str(
            add_bundle_file(partial, layout.MANIFEST, format_json({**manifest, "files": entries}).encode())["sha256"]
        )
        _check_size(partial)
        Encoder.load(partial, expect_id=content_hash)
    return Encoder.load(folder, expect_id=content_hash)


def _check_size(folder: Path) -> None:
    """Raise ``SizeError`` if the files of a bundle (data folder) together exceed ``MAX_BYTES``."""
    total = sum(path.stat().st_size for path in folder.iterdir())
    if total > MAX_BYTES:
        raise SizeError(f"the bundle has {total / 1e6:.1f} MB (at most {MAX_BYTES / 1e6:.0f} MB): lower --keep-pieces")
