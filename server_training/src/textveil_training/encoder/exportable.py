"""Check before training whether an encoder can be exported for devices."""

import json
from pathlib import Path

from textveil_export.encoder import find_export_obstacle

from textveil_training.engine.encoders import locate_encoder
from textveil_training.errors import CheckpointError


def check_exportable(source: str) -> None:
    """Raise an error if the type of an encoder cannot be exported to a bundle (folder with a model for devices).

    The function ignores a source without a readable configuration; loading such an encoder raises another error.

    Args:
        source: ``minilm``, a folder, or the id of a model on Hugging Face.

    Raises:
        CheckpointError: Models of this type cannot be exported, or the default encoder is not installed.
    """
    from transformers.utils.hub import cached_file

    location = locate_encoder(source)
    try:
        path = cached_file(location, "config.json", local_files_only=Path(location).is_dir())
        config = json.loads(Path(str(path)).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return
    if isinstance(config, dict) and (obstacle := find_export_obstacle(config)) is not None:
        raise CheckpointError(f"config.json of the encoder: {obstacle}")
