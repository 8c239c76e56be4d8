"""What was meant by an option that there is not: what users of other tools type, then what is spelled like it."""

from collections.abc import Iterable
from difflib import SequenceMatcher

_KINDS = "kind kinds city cities date dates email emails name number numbers person persons"
#: What is typed for an option of ours, with a value where that is meant; where a command has several, all may be meant.
_OTHER_NAMES = {
    "--epsilon": "level levels strength privacy nats",
    "--protect names": "names",
    "--protect words": "words",
    "--protect all": "all everything",
    "--protect": "rung mode visible show hide",
    "--style tag": "tags mask redact placeholder placeholders",
    "--style": "surrogates",
    "--keep": _KINDS,
    "--tag": _KINDS,
    "--drop": _KINDS,
    "--mechanism": "method algorithm",
    "--allow": "allow-list allowlist whitelist",
    "--deny": "blacklist block deny-list denylist stop-words stopwords",
    "--column": "col cols field fields text-column",
    "--key": "field fields",
    "--label": "target",
    "--delimiter": "sep separator",
    "--encoding": "charset",
    "--output": "dir folder out-file output-dir output-folder outdir outfile save to",
    "--quiet": "no-statement silent",
    "--workers": "j jobs parallel processes threads w",
    "--resume": "continue",
    "--skip-empty": "ignore-empty skip",
    "--quarantine": "errors ignore ignore-errors skip skip-empty skip-errors",
    "--bundle": "dict dictionary model vocabulary",
    "--mapping": "map",
    "--keep-mapping": "map save-mapping",
    "--budget": "limit",
    "--upstream": "url base-url",
    "--version": "v",
}
#: What is typed for what is not an option of ours: a name of what the command must have, then what is typed.
_SENTENCES = {
    "files f file i in input path": "files stand after the command, without an option",
    "--output force overwrite": "an output file is replaced without it",
    "--output in-place inplace": "nothing is rewritten in its place: -o names another file",
    "--csv format type": "the ending of a file says its format, or --csv, --tsv, --jsonl, --parquet or --plain",
    "--epsilon random-state seed": "draws are random, and none can be repeated",
    "--epsilon dry-run preview": "textveil preview shows what would stay visible",
    "--protect epsilon eps level levels nats": "nothing is drawn here, so there is no level",
    "--protect as-text": "textveil encode has it",
    "--bundle lang language locale": "only English is built in, and --bundle names another",
    "--help o out outfile output": "what is printed goes to a file with > FILE",
    "--help version": "textveil --version shows it",
}
_LEVELS = " A level is named by its nats: textveil levels lists them"


def meant(typed: str, options: Iterable[str]) -> str:
    """Returns what is said beside an unknown option: a question, a sentence or nothing.

    Args:
        typed: The option; nothing of it is in the answer.
        options: Those of the command.
    """
    name, all_names = typed.lstrip("-").lower(), {*options}
    known = sorted(each for each in all_names if each.startswith("--"))
    found = [each for each, names in _OTHER_NAMES.items() if name in names.split() and each.split()[0] in known]
    if not found:
        for (needed, *names), said in ((words.split(), said) for words, said in _SENTENCES.items()):
            if name in names and needed in all_names:
                return f": {said}"
        found = _alike(name, known)
    if not found:
        return ""
    also = _LEVELS if found == ["--epsilon"] and name.startswith("level") else ""
    return f": did you mean {', '.join(found[:-1])}{' or ' * (len(found) > 1)}{found[-1]}?{also}"


def _alike(name: str, known: list[str]) -> list[str]:
    """Those that begin as it does, it begins with, or that are spelled like it; click compares the dashes too."""
    begun = [each for each in known if (len(name) > 2 and each[2:].startswith(name)) or name.startswith(f"{each[2:]}-")]
    if begun:
        return begun
    alike = {each: SequenceMatcher(None, name, each[2:]).ratio() for each in known}
    least = max(0.7, max(alike.values(), default=0) - 0.05)
    return [each for each, ratio in alike.items() if ratio >= least]
