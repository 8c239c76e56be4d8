"""``textveil encode``: convert each line of text to a noisy vector or a randomized class label."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import typer
from textveil.errors import OptionError
from textveil.release import ReleaseStatement
from textveil.vector import Encoder, LabelStatement, TextLabelEncoder, load_encoder

from textveil_cli.encoder_run import EncoderRun, encode_inputs
from textveil_cli.files import check_output_ending
from textveil_cli.options import (
    EncoderOptions,
    InputOptions,
    LedgerOptions,
    OutputOptions,
    ReceiptOptions,
    TableOptions,
    refuse_overwriting,
)


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """Options for encoding texts: epsilon, word dropout, the table that randomizes labels, and sentences as output."""

    heading: ClassVar[str] = "Release"
    epsilon: Annotated[
        str | None,
        typer.Option(
            "--epsilon",
            "-e",
            help="Epsilon per text, one of those that the command textveil info lists; default: that of the bundle.",
        ),
    ] = None
    word_dropout: Annotated[
        str,
        typer.Option(
            help="Probability that each word is removed before encoding, in [0, 1). Lowers the epsilon per "
            "word; the epsilon per text stays."
        ),
    ] = "0"
    randomizer: Annotated[
        Literal["counts", "accuracy"] | None,
        typer.Option(help="Randomizer of a bundle that releases a class label; the bundle's default if left out."),
    ] = None

    as_text: Annotated[
        bool,
        typer.Option(
            "--as-text",
            help="Print a public sentence of the bundle instead of the class label (see the command textveil info).",
        ),
    ] = False

    def open_encoder(
        self, bundle: EncoderOptions
    ) -> tuple[Encoder | TextLabelEncoder, dict[str, Any], ReleaseStatement]:
        """Open a bundle (folder with the model and its settings), and prepare its encoder for these options.

        Returns:
            The encoder, the keyword arguments of ``encode``, and the privacy statement.

        Raises:
            OptionError: An option for vectors was given with a bundle for class labels, or the reverse.
            BundleError: The bundle cannot be used.
        """
        folder, expected_bundle = bundle.bundle, bundle.expected.expected_bundle
        encoder = (
            TextLabelEncoder.load(**expected_bundle) if folder is None else load_encoder(folder, **expected_bundle)
        )
        if isinstance(encoder, TextLabelEncoder):
            if self.word_dropout != "0":
                raise OptionError("--word-dropout needs a bundle that releases vectors: omit it for class labels")
            options = {"epsilon": self.epsilon, "randomizer": self.randomizer, "as_text": self.as_text}
            return encoder, options, encoder.statement(**options)
        if self.randomizer is not None or self.as_text:
            raise OptionError("--randomizer and --as-text need a bundle that releases a class label")
        statement = encoder.statement(epsilon=self.epsilon, word_dropout=self.word_dropout)
        return encoder, {"epsilon": self.epsilon, "word_dropout": self.word_dropout}, statement


def encode(
    inputs: InputOptions,
    bundle: EncoderOptions,
    release: ReleaseOptions,
    table: TableOptions,
    output: OutputOptions,
    ledger: LedgerOptions,
    receipt: ReceiptOptions,
) -> None:
    """Encode each text as a randomized class label or a noisy vector.

    Each line of text, or each row of a table, is a document and becomes one output line. For a class label, the line
    has the label, the first digits of the bundle's content hash, epsilon and randomizer. For a vector, it has the
    numbers separated by tabs. The privacy statement is written to standard error, with the number of truncated texts;
    this number is private. Each run samples anew: encoding a text twice makes two releases, whose epsilons add up.

    With --as-text, each line is a public sentence of the bundle instead of the class label, and the first output line
    states this. The sentence is not a paraphrase of the text.
    """
    paths = inputs.paths
    table = table.resolve_format(paths)
    selection = table.make_selection()
    if inputs.text is not None and selection.columns:
        raise OptionError("--text cannot be combined with a table, --column or --key")
    encoder, options, statement = release.open_encoder(bundle)  # before the first access to a file
    refuse_overwriting(paths, ledger, receipt, encoder.bundle.path, ("--output", output.output))
    formats = ("jsonl", "json") if output.as_json else ("lines",) if release.as_text else ("tsv", "lines")
    check_output_ending(output.output, formats)
    receipt_file, run_ledger = receipt.open_receipt(lambda tokens: statement), ledger.open_ledger()
    heading = statement.sentence_description if isinstance(statement, LabelStatement) and release.as_text else ""
    encoding = EncoderRun(
        encoder=encoder, options=options, receipt=receipt_file, run_ledger=run_ledger, heading=heading
    )
    statement_text = str(statement) if output.statement else statement.summary()
    encode_inputs(
        encoding,
        inputs,
        selection,
        output,
        statement_text=statement_text,
        refuses_tables=table.format is None,
        one_request=ledger.replay_cache,
    )
    if run_ledger is not None:
        run_ledger.print_summary(output.quiet)
