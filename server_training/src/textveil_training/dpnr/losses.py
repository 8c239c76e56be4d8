"""Build the training stages for each kind of recipe: losses, optimizers, and the metric that selects the epoch.

| kind | stages |
|---|---|
| ``clean`` | ``tuned``: encoder and classifier minimize the cross entropy |
| ``adversarial`` | ``adversarial``: encoder and classifier, in alternation with an attacker (Coavoux et al. 2018) |
| ``dpnr`` | ``placed``: on stored features the head learns to map every text to a chosen vector of its class |
|          | ``head``: on stored features head and classifier learn under noise |
|          | ``tuned``: encoder, head and classifier learn under noise |
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from textveil_training.dpnr.classification_data import ClassifiedSplit
from textveil_training.dpnr.networks import RepresentationClassifier, RepresentationModel
from textveil_training.dpnr.recipe import RepresentationRecipe
from textveil_training.dpnr.training_noise import TrainingNoise, bound_vectors
from textveil_training.engine.loop import derive_seed
from textveil_training.engine.stage import OptimizerUpdate, TrainingStage, make_adamw
from textveil_training.engine.tokens import EncoderTokenizer, TextPieces, compute_vectors, make_length_batches

_MEASURED_AT_ONCE = 64


class EncodedSplit:
    """A split of the data whose texts the encoder processes anew in each training step.

    Args:
        model: The networks.
        tokenizer: Tokenizer of the encoder's vocabulary.
        split: Split with labels and attributes.
        words: Texts of the split as WordPieces.
        recipe: Recipe with batch size, precision and word dropout.
        device: Device of the networks.
    """

    def __init__(
        self,
        model: RepresentationModel,
        tokenizer: EncoderTokenizer,
        split: ClassifiedSplit,
        words: list[TextPieces],
        recipe: RepresentationRecipe,
        device: torch.device,
    ) -> None:
        self._model, self._tokenizer, self._words, self._device = model, tokenizer, words, device
        self._dropout = float(recipe.representation.word_dropout)
        self._size, self._precision = recipe.training.batch_size, recipe.training.precision
        self.labels, self.attributes = split.labels.to(device), split.attributes.to(device)

    def batches(self, generator: torch.Generator) -> list[Tensor]:
        """Divide the texts into batches of similar length in random order; a batch has the indices of its texts."""
        return make_length_batches(self._words, self._size, generator)

    def pool_batch(self, batch: Tensor) -> Tensor:
        """Compute the encoder's mean output vectors for a batch, with word dropout, ``(batch, width)``."""
        ids, mask = self._tokenizer.make_batch([self._words[index] for index in batch.tolist()], self._dropout)
        return self._model.pool_texts(ids.to(self._device), mask.to(self._device), self._precision)

    def pool_all(self) -> Tensor:
        """Compute the encoder's mean output vectors for the split, with word dropout, ``(texts, width)``."""
        return compute_vectors(self._words, _MEASURED_AT_ONCE, self.pool_batch)


class StoredSplit:
    """A split of the data whose pooled vectors (mean encoder outputs) are stored, so training needs no encoder.

    Args:
        features: Pooled vectors, shape ``(copies, n, width)``. The copies have different words removed; whenever a text
            is used, one of its copies is chosen at random.
        split: Split with labels and attributes.
        recipe: Recipe with the batch size.
        device: Device of the networks.
    """

    def __init__(
        self, features: Tensor, split: ClassifiedSplit, recipe: RepresentationRecipe, device: torch.device
    ) -> None:
        self._features = features.to(device)
        self._size = recipe.training.batch_size
        self.labels, self.attributes = split.labels.to(device), split.attributes.to(device)

    def batches(self, generator: torch.Generator) -> list[Tensor]:
        """Divide the texts into batches in random order; a batch has the indices of its texts."""
        return list(torch.randperm(len(self.labels), generator=generator).split(self._size))

    def pool_batch(self, batch: Tensor) -> Tensor:
        """Return the stored vectors for a batch of texts, ``(batch, width)``."""
        return self._features[torch.randint(len(self._features), batch.shape), batch]

    def pool_all(self) -> Tensor:
        """Return one stored vector for each text, ``(texts, width)``."""
        return self._features[0]


class AttributeAdversary(nn.Module):
    """Network of a simulated attacker: two hidden layers, and one logit for each private attribute."""

    def __init__(self, width: int, hidden: int, attributes: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, attributes)
        )

    def forward(self, pooled: Tensor) -> Tensor:
        """Compute logits of shape ``(n, attributes)`` from the encoder's mean outputs of shape ``(n, width)``."""
        return self.layers(pooled)


class StageBuilder:
    """Builder of the training stages of a recipe (file of training settings).

    Args:
        model: The networks, on their device.
        recipe: The recipe.
        noise: Training noise for the recipe's epsilons; ``None`` for a model without noise.
    """

    def __init__(self, model: RepresentationModel, recipe: RepresentationRecipe, noise: TrainingNoise | None) -> None:
        self._model, self._recipe, self._noise = model, recipe, noise

    def build_tuned(self, train: EncodedSplit, dev: EncodedSplit, num_epochs: int) -> TrainingStage:
        """Build the training stage for encoder, head (which computes the vector of a text) and classifier together.

        Args:
            train: Training texts.
            dev: Texts on which each epoch is measured.
            num_epochs: Number of epochs.
        """
        return self._build_stage(
            "tuned",
            {"model": self._model},
            num_epochs,
            train,
            [OptimizerUpdate(self._make_optimizer(encoder=True), lambda batch: self.compute_loss(train, batch))],
            dev,
        )

    def build_head(self, train: StoredSplit, dev: StoredSplit, num_epochs: int) -> TrainingStage:
        """Build the training stage for head (which computes the vector of a text) and classifier on stored features.

        Args:
            train: Stored output vectors of the encoder for the training texts.
            dev: Stored features on which each epoch is measured.
            num_epochs: Number of epochs.
        """
        return self._build_stage(
            "head",
            self._list_upper_modules(),
            num_epochs,
            train,
            [OptimizerUpdate(self._make_optimizer(encoder=False), lambda batch: self.compute_loss(train, batch))],
            dev,
        )

    def build_placed(
        self, train: StoredSplit, dev: StoredSplit, clean: RepresentationClassifier, codes: Tensor, num_epochs: int
    ) -> TrainingStage:
        """Build the training stage in which the head learns to map every text to a chosen vector of its class.

        The chosen vector is the *code* of the class (``code_search``). The loss is the sum of two terms. The first is
        the squared distance ``|f(x) - c(yhat(x))|^2``: ``f(x)`` is the head's vector of text ``x``, ``yhat(x)`` the
        class of the text, and ``c`` the code of this class. The second is the cross entropy of the classifier under
        noise. Only the first term trains the head: from a random start, the cross entropy would first move all classes
        together.

        Mode ``box`` scales each vector so that its coordinates fill 0 to 1. The smallest and the largest coordinate are
        then constant and have no gradient, so ``f(x)`` is the vector before this scaling.

        Args:
            train: Training split.
            dev: Split whose accuracy selects the best epoch.
            clean: Classifier that decides ``yhat`` from the same encoder outputs, without noise.
            codes: Codes of the classes, shape ``(classes, k)``.
            num_epochs: Number of epochs.
        """

        def loss(batch: Tensor) -> Tensor:
            self._model.train()
            pooled = train.pool_batch(batch)
            with torch.no_grad():
                wanted = codes[clean(pooled, None).argmax(-1)]
            raw = self._model.compute_unbounded(pooled)
            vectors = bound_vectors(raw, self._model.mode)
            away = ((raw if self._model.mode == "box" else vectors) - wanted).square().sum(-1).mean()
            return away + self._compute_classifier_loss(vectors.detach(), train.labels[batch], "cross-entropy")

        return self._build_stage(
            "placed",
            self._list_upper_modules(),
            num_epochs,
            train,
            [OptimizerUpdate(self._make_optimizer(encoder=False), loss)],
            dev,
        )

    def build_adversarial(self, train: EncodedSplit, dev: EncodedSplit, num_epochs: int) -> TrainingStage:
        """Build the stage that trains, in turn, an attacker, and the encoder and classifier against this attacker.

        Let ``r(x)`` be the vector of text ``x``, ``y`` the class of the text, and ``z`` its private attributes;
        ``weight`` is a setting of the recipe. The attacker minimizes ``-log p(z | r(x))``. Encoder and classifier
        minimize ``-log p(y | r(x)) - weight log p(not z | r(x))`` (Coavoux, Narayan and Cohen 2018, section 3.1): the
        encoder learns to make the attacker predict the *opposite* of each attribute. Unlike the negative loss of the
        attacker, this objective has a lower bound.

        Args:
            train: Training texts, with private attributes.
            dev: Texts on which each epoch is measured.
            num_epochs: Number of epochs.
        """
        part = self._recipe.adversary
        if part is None:
            raise ValueError("the recipe has no adversary")
        width = int(self._model.extractor.config.hidden_size)  # type: ignore[union-attr]
        adversary = AttributeAdversary(width, part.hidden, train.attributes.shape[1]).to(train.labels.device)
        optimizer = torch.optim.AdamW(adversary.parameters(), lr=part.learning_rate, weight_decay=0.0)

        def attack(batch: Tensor) -> Tensor:
            self._model.train()
            with torch.no_grad():
                pooled = self._model.represent(train.pool_batch(batch))
            return functional.binary_cross_entropy_with_logits(adversary(pooled), train.attributes[batch])

        def defend(batch: Tensor) -> Tensor:
            self._model.train()
            vectors = self._model.represent(train.pool_batch(batch))
            hidden = functional.binary_cross_entropy_with_logits(adversary(vectors), 1 - train.attributes[batch])
            return self._compute_classifier_loss(vectors, train.labels[batch], "cross-entropy") + part.weight * hidden

        updates = [OptimizerUpdate(self._make_optimizer(encoder=True), defend), OptimizerUpdate(optimizer, attack)]
        modules: dict[str, nn.Module] = {"model": self._model, "adversary": adversary}
        return self._build_stage("adversarial", modules, num_epochs, train, updates, dev)

    def compute_loss(self, data: "EncodedSplit | StoredSplit", batch: Tensor) -> Tensor:
        """Compute the loss of a batch, with new random noise.

        Args:
            data: Split of the batch.
            batch: Indices of the texts in the batch.
        """
        self._model.train()
        vectors = self._model.represent(data.pool_batch(batch))
        return self._compute_classifier_loss(vectors, data.labels[batch], self._recipe.training.loss)

    def _compute_classifier_loss(self, vectors: Tensor, labels: Tensor, loss: str) -> Tensor:
        training = self._recipe.training
        log_epsilon = None
        if self._noise is not None:
            vectors, log_epsilon = self._noise.add_at_random_epsilons(vectors, training.noise_draws)
            labels = labels.expand(training.noise_draws, -1)
        logits = self._model.classifier(vectors, log_epsilon).flatten(0, -2)
        labels = labels.reshape(-1)
        if loss == "expected-error":
            return 1 - logits.softmax(-1).gather(1, labels[:, None]).mean()
        return functional.cross_entropy(logits, labels, label_smoothing=training.label_smoothing)

    def _list_upper_modules(self) -> dict[str, nn.Module]:
        upper: dict[str, nn.Module] = {"classifier": self._model.classifier}
        return upper if self._model.head is None else upper | {"head": self._model.head}

    def _build_stage(
        self,
        name: str,
        modules: dict[str, nn.Module],
        num_epochs: int,
        train: "EncodedSplit | StoredSplit",
        updates: list[OptimizerUpdate],
        dev: "EncodedSplit | StoredSplit",
    ) -> TrainingStage:
        training = self._recipe.training

        def measure() -> dict[str, float]:
            return self.measure_accuracies(dev, training.dev_draws)

        return TrainingStage(
            name=name,
            modules=modules,
            num_epochs=num_epochs,
            batches=train.batches,
            updates=updates,
            measure=measure,
            warmup=training.warmup,
            clip_norm=training.clip_norm,
        )

    def measure_accuracies(self, data: "EncodedSplit | StoredSplit", draws: int) -> dict[str, float]:
        """Measure the accuracy with simulated noise at each of the model's epsilons.

        Args:
            data: Split to measure.
            draws: Number of noise vectors per text.

        Returns:
            Accuracies with the names ``dev_EPSILON`` for each epsilon, and ``dev``, their mean; without noise only
            ``dev``.
        """
        self._model.eval()
        with torch.inference_mode():
            vectors = self._model.represent(data.pool_all())
            if self._noise is None:
                right = self._model.classifier(vectors, None).argmax(-1) == data.labels
                return {"dev": right.double().mean().item()}
            by_epsilon = {}
            for level in self._noise.epsilons:
                generator = torch.Generator(vectors.device).manual_seed(derive_seed("measure", level))
                noisy, log_epsilon = self._noise.add_at_epsilon(vectors, level, draws, generator)
                right = self._model.classifier(noisy, log_epsilon).argmax(-1) == data.labels
                by_epsilon[f"dev_{level:g}"] = right.double().mean().item()
        return {"dev": sum(by_epsilon.values()) / len(by_epsilon)} | by_epsilon

    def _make_optimizer(self, *, encoder: bool) -> torch.optim.Optimizer:
        training = self._recipe.training

        def learning_rate(name: str) -> float | None:
            if not name.startswith("extractor."):
                return training.head_learning_rate
            return training.learning_rate * training.layer_decay ** self._count_layers_above(name) if encoder else None

        return make_adamw(self._model, learning_rate, training.weight_decay, fused=False)

    def _count_layers_above(self, name: str) -> int:
        """Count the encoder layers above a parameter, which determine its learning rate."""
        layers = int(self._model.extractor.config.num_hidden_layers)  # type: ignore[union-attr]
        _, found, number = name.partition(".layer.")
        return layers - 1 - int(number.split(".")[0]) if found else layers
