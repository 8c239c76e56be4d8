"""Define the networks of device and server.

On the device, an encoder computes a vector for each token, mean pooling averages these vectors, and a head maps the
mean (the *pooled vector*) to a bounded vector. The server has a classifier of noisy vectors.
"""

import torch
from torch import Tensor, nn

from textveil_training.dpnr.training_noise import bound_vectors
from textveil_training.engine.encoders import pool_mean


class RepresentationHead(nn.Module):
    """Network that maps the mean output of an encoder (pooled vector) to a vector of k coordinates.

    The network computes ``out(tanh(hidden(pooled)))``, or ``out(pooled)`` without hidden units; ``out`` and ``hidden``
    are linear. The length of the result is not yet bounded.

    Args:
        width: Width of the pooled vector.
        hidden: Number of units of the hidden layer; 0 for a linear head.
        dimension: Number of coordinates of the representation, k.
    """

    def __init__(self, width: int, hidden: int, dimension: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, hidden) if hidden else None
        self.out = nn.Linear(hidden or width, dimension)

    def forward(self, pooled: Tensor) -> Tensor:
        """Compute vectors ``(..., k)``, not yet bounded, from mean encoder outputs ``(..., width)``."""
        return self.out(pooled if self.hidden is None else torch.tanh(self.hidden(pooled)))


class RepresentationClassifier(nn.Module):
    """The server's classifier of noisy vectors: one hidden ReLU layer, or a linear map.

    Args:
        width: Number of inputs: k + 1 (the vector and the logarithm of epsilon), or without noise the width of the
            pooled vector.
        hidden: Number of units of the hidden layer; 0 for a linear classifier.
        classes: Number of labels.
    """

    def __init__(self, width: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, hidden) if hidden else None
        self.out = nn.Linear(hidden or width, classes)

    def forward(self, vectors: Tensor, log_epsilon: Tensor | None) -> Tensor:
        """Compute logits of shape ``(..., classes)``.

        Args:
            vectors: Noisy vectors, shape ``(..., k)``.
            log_epsilon: Natural logarithm of the epsilon per text, shape ``(..., 1)``; ``None`` without noise.
        """
        if log_epsilon is not None:
            vectors = torch.cat([vectors, log_epsilon.expand(*vectors.shape[:-1], 1)], -1)
        return self.out(vectors if self.hidden is None else torch.relu(self.hidden(vectors)))


class RepresentationModel(nn.Module):
    """PyTorch module with all three networks: encoder, head and classifier.

    The head computes a bounded vector from the mean of the encoder's outputs.

    Args:
        extractor: A BERT-like encoder of transformers.
        mode: ``none``, ``l1``, ``l2`` or ``box``.
        dimension: Number of coordinates of the vector, k; 0 with mode ``none``, whose representation is the pooled
            vector.
        head_hidden: Number of units of the head's hidden layer.
        classifier_hidden: Number of units of the classifier's hidden layer.
        classes: Number of labels.
        dropout: Dropout probability of the pooled vector in training.
    """

    def __init__(
        self,
        extractor: nn.Module,
        *,
        mode: str,
        dimension: int,
        head_hidden: int,
        classifier_hidden: int,
        classes: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.extractor = extractor
        self.mode = mode
        width = int(extractor.config.hidden_size)  # type: ignore[union-attr]
        self.head = None if mode == "none" else RepresentationHead(width, head_hidden, dimension)
        self.classifier = RepresentationClassifier(
            width if mode == "none" else dimension + 1, classifier_hidden, classes
        )
        self.dropout = nn.Dropout(dropout)

    def pool_texts(self, ids: Tensor, mask: Tensor, precision: str = "float32") -> Tensor:
        """Compute the mean of the encoder's output vectors over the tokens of each text, ``(texts, width)``.

        Args:
            ids: WordPiece ids, shape ``(texts, tokens)``.
            mask: 1 for a WordPiece, 0 for padding, same shape.
            precision: ``float32`` or ``bfloat16``.
        """
        return pool_mean(self.extractor, ids, mask, precision)

    def represent(self, pooled: Tensor) -> Tensor:
        """Compute bounded vectors without noise, shape ``(texts, k)``, from mean encoder outputs.

        The outputs ``pooled`` have the shape ``(texts, width)``.
        """
        return bound_vectors(self.compute_unbounded(pooled), self.mode)

    def compute_unbounded(self, pooled: Tensor) -> Tensor:
        """Compute vectors from mean encoder outputs by dropout and head (linear layers); do not limit their norm."""
        pooled = self.dropout(pooled)
        return pooled if self.head is None else self.head(pooled)
