"""Suggestions for an unknown option.

If the option belongs to another tool, the suggestion is the corresponding option of this program; otherwise it is an
option with a similar name.
"""

from collections.abc import Iterable
from difflib import SequenceMatcher

#: Names that users of other tools type for each option. If a key contains several options, the suggestion names those
#: that the command has.
_OTHER_NAMES = {
    "--epsilon": "eps level levels strength privacy nats",
    "--protect names": "names",
    "--protect words": "words",
    "--protect all": "all everything",
    "--protect": "mode visible show hide",
    "--style tag": "tags mask redact placeholder placeholders",
    "--keep, --tag, --drop": "kind kinds types city cities date dates email emails name number numbers person persons",
    "--mechanism": "method algorithm",
    "--allow": "allow-list allowlist whitelist",
    "--pattern": "patterns regex regexp custom entity ruler recognizer",
    "--known": "people persons names-file known-names contacts",
    "--deny": "blacklist deny-list denylist stop-words stopwords",
    "--column": "col cols text-column",
    "--column, --key": "field fields",
    "--delimiter": "sep separator",
    "--output": "dir folder out out-file output-dir output-folder outdir outfile save to",
    "--quiet": "no-statement silent",
    "--workers": "j jobs parallel processes threads w",
    "--resume": "continue",
    "--skip-empty, --rejected-rows": "errors ignore ignore-errors quarantine skip skip-empty skip-errors",
    "--max-field-bytes": "max-field",
    "--drop-column": "without-column",
    "--drop-other-columns": "only-columns",
    "--randomize": "draw",
    "--randomizer": "channel",
    "--replay-cache": "memo cache",
    "--replay-cache-key": "memo-key",
    "--privacy-unit": "scope",
    "--privacy-unit-column": "scope-column",
    "--privacy-unit-per-request": "scope-per-request",
    "--signer": "maker",
    "--encoder-signer": "encoder-maker",
    "--expire-hours": "keep-hours",
    "--bundle": "dict dictionary encoder model vocabulary",
    "--mapping, --save-mapping": "keep-mapping map save-mapping",
    "--budget": "limit",
}
#: Explanations for options that no command has. A key has an option that the command must have, then the typed names.
_EXPLANATIONS = {
    "files f file i in input path": "pass files as arguments, without an option",
    "--output force overwrite": "output files are always replaced",
    "--output in-place inplace": "files are never rewritten in place: name another file with -o",
    "--csv format type": "the format follows from the file's ending; else set --csv, --tsv, --jsonl, --parquet or "
    "--plain",
    "--epsilon random-state seed": "sampling has no seed and cannot be repeated",
    "--epsilon dry-run preview": "textveil preview shows which words are kept",
    "--protect epsilon eps level levels nats": "this command samples nothing, so it has no epsilon",
    "--label column columns text-column": "--text names the column of the texts, --label that of the labels",
    "--language lang locale": "only English is built in; --language needs a pack",
    "--help o out outfile output": "redirect the output with > FILE",
    "--help version": "use textveil --version",
}
_EPSILON_HINT = " Use an epsilon that textveil levels lists"


def suggest_option(typed: str, options: Iterable[str]) -> str:
    """Return a suggestion for an unknown option, as a question or a sentence; "" if there is none.

    Args:
        typed: The unknown option. The suggestion contains no part of it, since it may be private text.
        options: The options of the command.
    """
    name, existing = typed.lstrip("-").lower(), {*options}
    alias_groups = [each for each, names in _OTHER_NAMES.items() if name in names.split()]
    suggested = [option for each in alias_groups for option in each.split(", ") if option.split()[0] in existing]
    if not suggested:
        for (needed, *names), said in ((words.split(), said) for words, said in _EXPLANATIONS.items()):
            if name in names and needed in existing:
                return f": {said}"
        suggested = _find_similar_options(name, sorted(option for option in existing if option.startswith("--")))
    if not suggested:
        return ""
    hint = _EPSILON_HINT if suggested == ["--epsilon"] and name.startswith("level") else ""
    return f": did you mean {', '.join(suggested[:-1])}{' or ' * (len(suggested) > 1)}{suggested[-1]}?{hint}"


def _find_similar_options(name: str, options: list[str]) -> list[str]:
    """Return the options that begin like ``name``; if there are none, the options with a similar spelling.

    The suggestions of click itself are not used, since click also compares the leading dashes.
    """
    with_same_start = [
        each for each in options if (len(name) > 2 and each[2:].startswith(name)) or name.startswith(f"{each[2:]}-")
    ]
    if with_same_start:
        return with_same_start
    similarities = {each: SequenceMatcher(None, name, each[2:]).ratio() for each in options}
    threshold = max(0.7, max(similarities.values(), default=0) - 0.05)
    return [each for each, ratio in similarities.items() if ratio >= threshold]
