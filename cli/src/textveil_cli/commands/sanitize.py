"""``textveil sanitize``: lines of text in, sanitized lines out."""

from textveil_cli.rewriting.asked import Asked


def sanitize(asked: Asked) -> None:
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
    asked = asked.settled()
    asked.check()
    options, sanitizer = asked.how.options(), asked.bundle.sanitizer()
    sanitizer.terms(**options)  # checks the options before the first access to a file
    asked.how.say_of_allowed(sanitizer, options, asked.output.quiet)
    if asked.is_over_files:
        from textveil_cli.rewriting.tables import sanitize_tables

        sanitize_tables(asked, sanitizer, options)
    else:
        from textveil_cli.rewriting.plain import sanitize_plain

        sanitize_plain(asked, sanitizer, options)
