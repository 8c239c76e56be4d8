"""``textveil sanitize``: lines of text in, sanitized lines out."""

from textveil_cli.rewriting.arguments import SanitizeArguments


def sanitize(arguments: SanitizeArguments) -> None:
    """Replace names or randomize words of a text.

    \b
    textveil sanitize --protect names --text "Please refund Anna Novak."
    textveil sanitize --protect names tickets.csv --column note -o sent.csv

    By default (--protect words) function words, punctuation, case and the types of names are kept: textveil preview
    shows them. Randomized words are unrelated to the originals: use --protect names if a language model or a person
    acts on the text.

    Each line of plain text is a document. For CSV, TSV, JSON lines and Parquet select columns or keys; the others are
    copied. Inputs may be folders and compressed files (.gz, .zst).

    The privacy statement on standard error is about one word, against a reader who knows all others; the text as a
    whole is not protected. Each further release of the same text weakens the guarantee.
    """
    arguments = arguments.resolve_format()
    arguments.check_options()
    options, sanitizer = arguments.text_options.make_options(), arguments.bundle.load_sanitizer()
    sanitizer.terms(**options)  # checks the options before the first access to a file
    arguments.text_options.report_list_entries(sanitizer, options, arguments.output.quiet)
    if arguments.is_over_files:
        from textveil_cli.rewriting.tables import sanitize_tables

        sanitize_tables(arguments, sanitizer, options)
    else:
        from textveil_cli.rewriting.plain_text import sanitize_plain_text

        sanitize_plain_text(arguments, sanitizer, options)
