"""``textveil sanitize``: lines of text in, sanitized lines out."""

from textveil_cli.rewriting.arguments import SanitizeArguments


def sanitize(arguments: SanitizeArguments) -> None:
    """Rewrite a text with words drawn at random.

    \b
    textveil sanitize --protect names --text "Please refund Anna Novak."
    textveil sanitize --protect names tickets.csv --column note -o sent.csv

    Drawn words are other words: where a language model or a colleague acts on the text, take --protect names. Function
    words, punctuation, case and kinds of names stay visible: textveil preview shows them. Each line is a document of
    plain text. Of CSV, TSV, JSON lines and Parquet, say which columns or keys to rewrite: the others are copied. Files
    may also be folders, and packed as .gz or .zst. The privacy statement, on standard error, is about one word, for
    someone who knows every other word; the text as a whole is not protected. Sanitizing again weakens the promise.
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
